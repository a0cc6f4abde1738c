# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The driver's release and branch by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.candidates import at_least, driver_change, other_drivers
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.knowledge import drivers
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.model import NOTE, WARNING, Found, rule
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.view import PinSet

PLACE = "nvidia_driver.version"
SOON = timedelta(days=180)


@rule(
    "driver_branch_known",
    severity=WARNING,
    why="NVIDIA releases data centre drivers in branches; one that it never had is a slip of the pen, and nothing of it can be judged.",
    fix="Pin a release of a maintained branch.",
    source=drivers.DOCS_620,
)
def branch_is_known(pins: PinSet) -> Iterator[Found]:
    """The driver is of a branch that NVIDIA has released"""
    if pins.branch not in drivers.BRANCHES:
        newer = pins.branch > drivers.NEWEST
        reason = f"no driver branch {pins.branch} is known ({pins.driver}): the newest known is {drivers.NEWEST}"
        maintained = other_drivers(pins, lambda one: drivers.supported(int(one.split(".")[0]), pins.today))
        yield Found(reason, PLACE, severity=NOTE if newer else WARNING, changes=maintained)


@rule(
    "driver_release_known",
    severity=NOTE,
    why="The list of releases here ends on a day; a newer release is no fault, a mistyped one is.",
    fix="Compare with NVIDIA's list of releases.",
    source=drivers.DOCS_620,
)
def release_is_known(pins: PinSet) -> Iterator[Found]:
    """The driver's release is in the list"""
    branch = drivers.BRANCHES.get(pins.branch)
    if branch and not pins.driver.is_range and pins.driver.upstream not in branch.releases:
        yield Found(f"{pins.driver.upstream} is not among the known releases of branch {pins.branch}, whose newest known is {branch.releases[-1]}", PLACE)


@rule(
    "driver_end_of_life",
    severity=WARNING,
    why="A branch after its end gets no fixes, and new kernels break it. What a distribution maintains itself is its own affair.",
    fix="Move to a maintained branch: 580 or 620 (long-term support), 595 (production).",
    source=drivers.DOCS_620,
)
def branch_is_maintained(pins: PinSet) -> Iterator[Found]:
    """The driver's branch is maintained on this day"""
    branch = drivers.BRANCHES.get(pins.branch)
    if branch is None or branch.ends is None:
        return
    if branch.ends >= pins.today:
        if branch.ends - pins.today < SOON:
            yield Found(f"driver branch {pins.branch} ({branch.kind}) is maintained until {branch.ends}", PLACE, branch.source, NOTE)
        return
    own = pins.distributions_driver
    reason = f"driver branch {pins.branch} ({branch.kind}) is past its end of life ({branch.ends}): {pins.driver} gets no more fixes from NVIDIA"
    maintained = other_drivers(pins, lambda one: drivers.supported(int(one.split(".")[0]), pins.today))
    yield Found(f"{reason}; {pins.system} maintains it itself" if own else reason, PLACE, branch.source, NOTE if own else WARNING, maintained)


@rule(
    "driver_security_floor",
    severity=WARNING,
    why="Older releases of the branch have published vulnerabilities that a later one of the same branch fixes.",
    fix="Take the fixed release of the branch or a later one.",
    source=drivers.BULLETIN_5821,
)
def driver_is_fixed(pins: PinSet) -> Iterator[Found]:
    """The driver has the fixes of NVIDIA's newest bulletin for its branch"""
    own = drivers.DISTRIBUTION_FIXED.get((pins.distribution, pins.archive_release, pins.branch))
    fixed = own or drivers.FIXED.get(pins.branch)
    if fixed is None or pins.driver.is_range or not pins.driver.before(fixed):
        return
    unfixed_there = pins.distributions_driver and own is None and pins.distribution == "debian"
    whose = f"{pins.system} has the fix in" if own else "the fix is in"
    reason = f"driver {pins.driver} is below the security floor of its branch: {whose} {fixed} (bulletin 5821)"
    changes = (driver_change(pins, fixed), *other_drivers(pins, at_least(fixed)))
    yield Found(reason, PLACE, severity=NOTE if unfixed_there else WARNING, changes=changes)


@rule(
    "driver_known_fault",
    severity=WARNING,
    why="Some releases have a fault of their own that every node meets.",
    fix="Take a release before the fault or after its fix.",
    source="release notes; the rows name theirs",
)
def driver_is_sound(pins: PinSet) -> Iterator[Found]:
    """The driver's release has no known fault of its own"""
    for first, fixed, words, source in drivers.FAULTY:
        if pins.driver.numbers[:1] == (int(first.split(".")[0]),) and not pins.driver.before(first) and pins.driver.before(fixed):
            yield Found(
                f"driver {pins.driver} is a release with a known fault: {words}; fixed in {fixed}", PLACE, source, changes=other_drivers(pins, at_least(fixed))
            )
