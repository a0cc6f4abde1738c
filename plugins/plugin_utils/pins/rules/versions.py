# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Versions that do not say exactly what a node gets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.pins import versions as pinned_versions
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.candidates import driver_change
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.knowledge import drivers, engines, toolkits
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.model import NOTE, REFUSAL, Change, Found, rule
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.version import version
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.view import PinSet

DOCS = "docs/pins_and_locks.md"
# How many numbers a release of each has: fewer are a line, not a release.
_NUMBERS = {"nvidia_driver": 2, "container_toolkit": 3, "docker": 3, "containerd": 3, "runc": 3, "podman": 3}


@rule(
    "range",
    severity=NOTE,
    why="A range leaves the choice to lock_stack: the same pins give another lock tomorrow. It never reaches a node.",
    fix="Nothing: lock_stack writes the chosen version into the lock. To decide yourself, write one version.",
    source=DOCS,
)
def range_is_for_locking(pins: PinSet) -> Iterator[Found]:
    """A range is there for lock_stack alone"""
    for place, text in pinned_versions(pins.pins):
        if "*" in text:
            yield Found(f'{place} is the range "{text}": lock_stack chooses the version, and no node ever sees the range', place)


@rule(
    "version_exact",
    severity=REFUSAL,
    why="A branch or a line alone (580, 29.9) is no release: it moves, and no package has it as its version.",
    fix="Write the whole version, or say by a range (580.*) that lock_stack shall choose.",
    source=DOCS,
)
def version_is_exact(pins: PinSet) -> Iterator[Found]:
    """A version names one release"""
    for place, text in pinned_versions(pins.pins):
        subject, _dot, key = place.partition(".")
        wanted = _NUMBERS.get(key if key in _NUMBERS else subject, 1)
        if "*" not in text and len(_numbers(text)) < wanted:
            known = {"container_toolkit": toolkits.KNOWN, **engines.KNOWN}.get(key if key in engines.KNOWN else subject, ())
            of_line = tuple({place: one} for one in reversed(known) if one.startswith(f"{text}."))
            drivers_of_line = _releases_of(pins, text) if subject == "nvidia_driver" else ()
            range_of_line = {place: f"{text}.*"} if text[-1:].isdigit() else {place: known[-1] if known else "2*"}
            yield Found(f'{place} is "{text}": a line, not a release', place, changes=(*drivers_of_line, *of_line, range_of_line))


# Whose archive a package version names, and of which release: Docker's own packages, the distributions' revisions.
_BUILT_FOR = (
    ("debian", re.compile(r"~debian\.(\d+)|\+deb(\d+)u\d|~deb(\d+)u\d|~bpo(\d+)\+")),
    ("ubuntu", re.compile(r"~ubuntu\.(\d\d\.\d\d)|ubuntu[\d.]*?[~.](\d\d\.\d\d)\b|-ubuntu(\d\d\.\d\d)u\d")),
    ("rhel", re.compile(r"\.el(\d+)")),
    ("amazon", re.compile(r"\.amzn(\d+)")),
)


@rule(
    "package_of_release",
    severity=REFUSAL,
    why="A package version that names a distribution and a release is in the archive of that release alone.",
    fix="Write the version as the pool's own archive has it, or the upstream version.",
    source="package version formats of the distributions and of download.docker.com",
)
def package_is_of_the_release(pins: PinSet) -> Iterator[Found]:
    """A package version is one of the pool's distribution and release"""
    for place, text in pinned_versions(pins.pins):
        built = next(((name, next(filter(None, found.groups()))) for name, pattern in _BUILT_FOR if (found := pattern.search(text))), None)
        if built and not place.startswith(("kernel", "extra_modules")) and built != (pins.family, pins.archive_release):
            reason = f"{place} is {text}, a package of {built[0]} {built[1]}, and the pool is {pins.system}"
            yield Found(reason, place, changes=({place: version(text).upstream},))


def _releases_of(pins: PinSet, line: str) -> tuple[Change, ...]:
    """The releases of a driver branch, the newest first."""
    return tuple(driver_change(pins, one) for one in reversed(tuple(drivers.releases())) if one.startswith(f"{line}."))


def _numbers(text: str) -> list[str]:
    return [part for part in text.rpartition(":")[2].split("-")[0].split(".") if part]
