# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""MIG: whether the GPU has it, and which profiles."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.candidates import at_least, other_drivers
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.knowledge.products import MIG_GUIDE, NO_MIG, MigGpu, mig_gpus
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.model import NOTE, REFUSAL, WARNING, Found, rule
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.view import Gpu, PinSet

PLACE = "mig.profile"
_PROFILE = re.compile(r"(?:all-)?(?P<name>(?P<slices>\d)g\.(?P<memory>\d+)gb(?P<attributes>(?:\.me|\+me(?:\.all)?|\+gfx|-me|\+me)*))", re.I)
# Layouts of nvidia-mig-parted that fit every GPU with MIG.
_ANY = frozenset({"all-disabled", "all-enabled", "all-balanced"})


def _profile(pins: PinSet) -> re.Match[str] | None:
    return _PROFILE.fullmatch(str(pins.pins["mig"]["profile"]))


def _rows(gpu: Gpu) -> list[MigGpu] | None:
    """Its MIG rows; none for a GPU that has no MIG for sure, None where that is not known."""
    rows = mig_gpus(gpu.words)
    if rows:
        return rows
    older = gpu.capability is not None and gpu.architecture is not None and gpu.architecture.name in NO_MIG
    return [] if older or gpu.is_consumer else None


@rule(
    "mig_gpu",
    severity=REFUSAL,
    why="MIG exists on A30, A100, H100, H200 and later data centre GPUs and some RTX PRO boards; nvidia-smi refuses to enable it elsewhere.",
    fix="Take mig out of the pins.",
    source=MIG_GUIDE,
)
def gpu_has_mig(pins: PinSet) -> Iterator[Found]:
    """MIG is pinned where the GPU has it"""
    known = [_rows(gpu) for gpu in pins.gpus]
    if "mig" in pins.pins and known and all(rows == [] for rows in known) and pins.pins["mig"]["profile"] != "all-disabled":
        names = ", ".join(str(gpu) for gpu in pins.gpus)
        yield Found(f"mig is pinned ({pins.pins['mig']['profile']}), and {names} has no MIG", PLACE, changes=({"mig": None},))


@rule(
    "mig_profile",
    severity=REFUSAL,
    why="A profile's name holds slices and memory of one product: 1g.10gb is of the 80 GB boards, 1g.5gb of those with 40 GB. "
    "nvidia-mig-parted refuses another.",
    fix="Write a profile of the GPU: nvidia-smi mig -lgip lists them.",
    source=MIG_GUIDE,
)
def profile_is_the_gpus(pins: PinSet) -> Iterator[Found]:
    """The MIG profile is one of the GPU"""
    if "mig" not in pins.pins or pins.pins["mig"]["profile"] in _ANY:
        return
    text = str(pins.pins["mig"]["profile"])
    found = _profile(pins)
    for gpu in pins.gpus:
        rows = _rows(gpu)
        if not rows:
            continue
        if found is None:
            yield Found(f"mig.profile {text} is a layout of your own: whether it fits {gpu} was not judged", gpu.place, severity=NOTE)
        elif not _fits(found.group("name"), rows):
            there = [one for row in rows for one in row.profiles]
            reason = f"mig.profile {text} is none of {gpu}, which has {', '.join(dict.fromkeys(there))}"
            severity = WARNING if any(row.confidence == "low" for row in rows) else REFUSAL
            prefix = "all-" if text.startswith("all-") else ""
            changes = tuple({PLACE: prefix + one} for one in sorted(there, key=lambda one: _distance(one, found.groupdict())))
            yield Found(reason, gpu.place, severity=severity, changes=changes)


def _fits(name: str, rows: list[MigGpu]) -> bool:
    """Whether a product has a profile; nvidia-mig-parted writes `.me` for NVIDIA's `+me`."""
    return any(name.lower().replace(".me", "+me") in row.profiles for row in rows)


def _distance(profile: str, wanted: dict[str, str]) -> tuple[int, int]:
    slices, memory = re.findall(r"\d+", profile)[:2]
    return abs(int(slices) - int(wanted["slices"])), abs(int(memory) - int(wanted["memory"]))


@rule(
    "mig_driver",
    severity=REFUSAL,
    why="MIG on a product begins with a driver release; an older one cannot enable it.",
    fix="Take the first driver that has MIG on the product, or a later one.",
    source=MIG_GUIDE,
)
def driver_has_mig(pins: PinSet) -> Iterator[Found]:
    """The driver has MIG on the GPU"""
    if "mig" not in pins.pins:
        return
    for gpu in pins.gpus:
        rows = _rows(gpu) or []
        first = min((row.driver for row in rows), default="")
        if first and pins.driver.before(first):
            severity = WARNING if any(row.confidence == "low" for row in rows) else REFUSAL
            reason = f"MIG on {gpu} needs driver {first} or later, and {pins.driver} is pinned"
            yield Found(reason, gpu.place, severity=severity, changes=(*other_drivers(pins, at_least(first)), {"mig": None}))
