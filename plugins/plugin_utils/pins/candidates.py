# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Candidates for a nearest valid change, the nearest first; whether one really settles a finding is seen by judging it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.knowledge import drivers
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.model import Change
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.version import number
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.view import PinSet


def driver_change(pins: PinSet, release: str) -> dict[str, str]:
    """Another driver, with the companions that have its version."""
    companions = [subject for subject in ("fabric_manager", "imex") if subject in pins.pins]
    return {"nvidia_driver.version": release, **{f"{subject}.version": release for subject in companions}}


def other_drivers(pins: PinSet, fits: Callable[[str], bool]) -> tuple[Change, ...]:
    """The known drivers that fit, the nearest first: the same branch, then the two newest of each maintained branch, or of any where none is."""
    there = sorted((release for release in drivers.releases() if fits(release)), key=lambda release: _distance(pins, release))
    branches = {branch: list(group) for branch, group in itertools.groupby(there, key=lambda release: number(release)[0])}
    maintained = [branch for branch in branches if drivers.supported(branch, pins.today)]
    chosen = branches.pop(pins.branch, [])
    for branch in maintained or branches:
        chosen += branches.get(branch, [])[:2]
    return tuple(driver_change(pins, release) for release in chosen)


def _distance(pins: PinSet, release: str) -> tuple[int, ...]:
    wanted, here = number(release), pins.driver.numbers
    branch = wanted[0]
    if branch == pins.branch:
        return (0, int(wanted < here), *(abs(one - other) for one, other in zip(wanted[1:], here[1:], strict=False)))
    maintained = drivers.supported(branch, pins.today)
    return (1, int(not maintained), abs(branch - pins.branch), *(-one for one in wanted))


def at_least(release: str) -> Callable[[str], bool]:
    """Whether a driver is not older than a release."""
    return lambda candidate: number(candidate) >= number(release)


def on_branch(low: int, high: int | None) -> Callable[[str], bool]:
    """Whether a driver is of a branch within bounds."""
    return lambda candidate: low <= number(candidate)[0] <= (high or drivers.NEWEST)


def newer(place: str, known: Iterable[str], first: str) -> tuple[Change, ...]:
    """Known releases from `first` on, the oldest first."""
    return tuple({place: one} for one in (first, *(one for one in known if number(one) > number(first))))


def older(place: str, known: Iterable[str], before: str) -> tuple[Change, ...]:
    """Known releases older than `before`, the newest first."""
    return tuple({place: one} for one in sorted(known, key=number, reverse=True) if number(one) < number(before))
