# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Partitions the GPUs of a node into a pinned MIG layout, by nvidia-smi.

Standard library alone: the module mig_layout imports it, and goldnode-mig.service runs its copy on the node at boot as `mig_layout.py LAYOUT`.

A layout is `all-disabled` (MIG mode off), `all-enabled` (on, no instances), `all-<profile>` or `<profile>` (as many as fit on each GPU), `all-balanced`
(as nvidia-mig-parted means it: on a GPU of seven slices 3g, 2g and two 1g, on one of four 2g and two 1g), or a list for each GPU (`3g.40gb,2g.20gb,1g.10gb`).

What outlives what (docs.nvidia.com/datacenter/tesla/mig-user-guide, getting started with MIG): instances never outlive a reboot. The mode does on A100
and A30, which keep it in their InfoROM and change it by a GPU reset; H100 and later forget it when the driver is unloaded and change it without a reset.
So the unit does the same on all at each boot: mode, then instances.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Callable, NamedTuple

Smi = Callable[..., str]

DISABLED, ENABLED = "Disabled", "Enabled"
PROFILE = re.compile(r"\d+g\.\d+gb(?:[+-][a-z.]+)*")
# Slices of the instances of all-balanced, by the most 1g instances that a GPU takes (nvidia-mig-parted, examples/config.yaml).
BALANCED = {7: (3, 2, 1, 1), 4: (2, 1, 1)}


class MigError(Exception):
    """Why a layout is not there, in one sentence."""


class Gpu(NamedTuple):
    """One GPU; `mode` and `pending` are Enabled, Disabled, or [N/A] where it has no MIG. `profiles`: of the MIG devices that it has."""

    number: str
    mode: str
    pending: str
    profiles: tuple[str, ...]


def is_layout(layout: str) -> bool:
    """Whether a text is a layout."""
    return layout in ("all-disabled", "all-enabled", "all-balanced") or bool(profiles_in(layout))


def profiles_in(layout: str) -> tuple[str, ...]:
    """The profiles that a layout names; nvidia-mig-parted writes `.me` for the driver's `+me`. Empty where it names none or another word."""
    names = [re.sub(r"(?<=gb)\.", "+", word.strip()) for word in re.sub("^all-", "", layout).split(",")]
    return tuple(names) if all(PROFILE.fullmatch(name) for name in names) else ()


def mode_of(layout: str) -> str:
    """The MIG mode that a layout needs."""
    return DISABLED if layout == "all-disabled" else ENABLED


def wanted(layout: str, capacity: Mapping[str, int]) -> tuple[str, ...]:
    """The instances that a layout means on a GPU, the largest first, since a small one can take a large one's only place.

    `capacity`: how many instances of each profile the empty GPU takes. MigError where the GPU has no such profile.
    """
    if layout in ("all-disabled", "all-enabled"):
        return ()
    names = balanced(capacity) if layout == "all-balanced" else profiles_in(layout)
    strange = sorted(set(names) - set(capacity)) or ([] if names else [layout])
    if strange:
        raise MigError("the GPU has no MIG profile {}, it has {}; pin mig.profile to one of these".format(", ".join(strange), ", ".join(capacity) or "none"))
    if len(names) == 1:
        names *= capacity[names[0]]
    return tuple(sorted(names, key=lambda name: (-size_of(name), name)))


def balanced(capacity: Mapping[str, int]) -> tuple[str, ...]:
    """The instances of all-balanced; of several profiles with so many slices the first without attributes, which has the least memory."""
    plain = sorted((name for name in capacity if re.fullmatch(r"\d+g\.\d+gb", name)), key=lambda name: (size_of(name), memory_of(name)))
    first = {size_of(name): name for name in reversed(plain)}
    sizes = BALANCED.get(capacity.get(first.get(1, ""), 0), ())
    return tuple(first[size] for size in sizes if size in first)


def size_of(profile: str) -> int:
    """`3g.40gb` -> 3 slices."""
    return int(profile.partition("g")[0])


def memory_of(profile: str) -> int:
    """`3g.40gb` -> 40 GB."""
    return int(re.split(r"[.g]+", profile)[1])


def capacities(text: str) -> dict[str, int]:
    """`nvidia-smi mig -lgip` of one GPU -> how many instances of each profile it takes when it is empty."""
    return {name: int(total) for name, total in re.findall(r"^\|\s+\d+\s+MIG (\S+)\s+\d+\s+\d+/(\d+)", text, re.M)}


def gpus(query: str, listing: str) -> list[Gpu]:
    """`--query-gpu=index,mig.mode.current,mig.mode.pending --format=csv,noheader` and `-L` -> the GPUs."""
    found: dict[str, list[str]] = {}
    index = ""
    for line in listing.splitlines():
        head, device = re.match(r"GPU (\d+):", line), re.match(r"\s+MIG (\S+)\s+Device", line)
        if head:
            index = head.group(1)
        elif device:
            found.setdefault(index, []).append(device.group(1))
    rows = [[cell.strip() for cell in line.split(",")] for line in query.splitlines() if line.count(",") == 2]
    return [Gpu(number, mode, pending, tuple(found.get(number, []))) for number, mode, pending in rows]


def look(smi: Smi) -> list[Gpu]:
    """The GPUs as they are now."""
    return gpus(smi("--query-gpu=index,mig.mode.current,mig.mode.pending", "--format=csv,noheader"), smi("-L"))


def missing(smi: Smi, layout: str, gpu: Gpu) -> tuple[str, ...] | None:
    """The instances that a GPU should have, where it has others or another mode; None where it is as it should be."""
    if gpu.mode != mode_of(layout) or gpu.pending != gpu.mode:
        return ()
    if layout == "all-disabled":
        return None
    instances = wanted(layout, capacities(smi("mig", "-lgip", "-i", gpu.number)))
    return None if sorted(instances) == sorted(gpu.profiles) else instances


def differing(smi: Smi, layout: str) -> list[Gpu]:
    """The GPUs that are not as the layout says; MigError where a GPU has no MIG or not that profile."""
    seen = look(smi)
    without = [gpu.number for gpu in seen if gpu.mode not in (ENABLED, DISABLED) and layout != "all-disabled"]
    if without:
        raise MigError("GPU {} of this node has no MIG, mig.profile is {}; take mig out of the pins".format(", ".join(without), layout))
    return [gpu for gpu in seen if gpu.mode in (ENABLED, DISABLED) and missing(smi, layout, gpu) is not None]


def bring(smi: Smi, layout: str) -> None:
    """Brings every differing GPU to the layout, and looks again."""
    for gpu in differing(smi, layout):
        clear(smi, gpu)
        set_mode(smi, gpu, mode_of(layout))
        if mode_of(layout) == ENABLED:
            create(smi, gpu, wanted(layout, capacities(smi("mig", "-lgip", "-i", gpu.number))))
    left = differing(smi, layout)
    if left:
        shown = "; ".join("GPU {}: MIG {}, {}".format(gpu.number, gpu.mode, ", ".join(gpu.profiles) or "no instance") for gpu in left)
        raise MigError(f"after the change nvidia-smi shows {shown}, the layout is {layout}")


def clear(smi: Smi, gpu: Gpu) -> None:
    """Destroys the instances. A GPU instance may be there without a compute instance, which -L does not list, so both are asked for."""
    if gpu.mode == ENABLED:
        for what in ("-dci", "-dgi"):
            try:
                smi("mig", what, "-i", gpu.number)
            except MigError as error:
                if "Not Found" not in str(error):
                    raise


def set_mode(smi: Smi, gpu: Gpu, mode: str) -> None:
    """Changes the mode; where only a reset of the GPU brings it (A100, A30), resets the GPU."""
    if (gpu.mode, gpu.pending) == (mode, mode):
        return
    smi("-i", gpu.number, "-mig", "1" if mode == ENABLED else "0")
    now = next(one for one in look(smi) if one.number == gpu.number)
    if now.mode != mode:
        smi("--gpu-reset", "-i", gpu.number)


def create(smi: Smi, gpu: Gpu, instances: Sequence[str]) -> None:
    if instances:
        smi("mig", "-cgi", ",".join(instances), "-C", "-i", gpu.number)


def nvidia_smi(*arguments: str) -> str:
    """What nvidia-smi prints; MigError with its own words where it fails."""
    done = subprocess.run(["nvidia-smi", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return said(arguments, done.returncode, done.stdout)


def said(arguments: Sequence[str], code: int, text: str) -> str:
    """The text of a call that ended well; MigError with the tool's words of one that did not."""
    if code:
        raise MigError("nvidia-smi {} ended with {}: {}".format(" ".join(arguments), code, " ".join(text.split())))
    return text


if __name__ == "__main__":
    try:
        bring(nvidia_smi, sys.argv[1])
    except (MigError, OSError) as error:
        sys.exit(f"goldnode: MIG layout {sys.argv[1]}: {error}")
