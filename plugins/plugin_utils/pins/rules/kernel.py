# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The kernel against the driver's module, and against the distribution whose it should be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.driver_kernels import NEWEST_KERNEL
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.pins import ARCHITECTURES
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.candidates import at_least, other_drivers
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.knowledge import breakages, distributions, drivers
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.knowledge.breakages import Breakage, Numbers
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.model import NOTE, REFUSAL, WARNING, Change, Found, by_confidence, rule
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.version import number
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.view import PinSet

PLACE = "kernel.version"
DRIVER = "nvidia_driver.version"
# Vanilla kernels with a distribution's patches: what is said of upstream's numbers holds for them.
VANILLA = ("debian", "ubuntu", "amazon")
# A driver often builds on one or two series beyond the newest that it names.
BEYOND = 3


def _series(numbers: Numbers) -> str:
    return ".".join(str(part) for part in numbers[:2])


# Debian's package of 550.163.01 from this revision on is patched for newer kernels (packages.debian.org, nvidia-kernel-dkms).
_DEBIAN_PATCHED = re.compile(r"^550\.163\.01-([4-9]|\d{2})")


def _patched(pins: PinSet) -> bool:
    """Whether somebody else answers for the build: prebuilt modules, a distribution's own patched package."""
    ubuntus = pins.distribution == "ubuntu" and pins.distributions_driver and "-0ubuntu" in pins.driver.text
    return pins.prebuilt or ubuntus or pins.driver.is_range or bool(_DEBIAN_PATCHED.match(pins.driver.text))


def _other_kernels(pins: PinSet, below: Numbers) -> tuple[Change, ...]:
    """The distribution's own kernel where it is older than what breaks."""
    known = pins.known_release
    return tuple({PLACE: one} for one in own_kernels(pins)) if known and known.oldest < below else ()


def own_kernels(pins: PinSet) -> tuple[str, ...]:
    """The distribution's kernel of this release and architecture, as a range where its build number moves."""
    return (named(pins.known_release, pins.arch),) if pins.known_release else ()


def named(release: distributions.Release, arch: str) -> str:
    """The name of a release's kernel on an architecture."""
    return release.kernel.format(deb=ARCHITECTURES[arch], rpm=arch)


def _to_own_kernel(pins: PinSet) -> tuple[Change, ...]:
    """The distribution's kernel; of a release that is not known, the newest known release with its kernel."""
    if pins.known_release:
        return tuple({PLACE: one} for one in own_kernels(pins))
    known = [(release, row) for (distribution, release), row in distributions.RELEASES.items() if distribution == pins.family]
    return tuple({"os.release": release, PLACE: named(row, pins.arch)} for release, row in reversed(known))


@rule(
    "kernel_builds_driver",
    severity=REFUSAL,
    why="DKMS builds the module on the node against the kernel that is there. A kernel interface that changed makes the build fail, "
    "and the node has no GPU after the reboot.",
    fix="Take the first driver with the fix, or an older kernel. A distribution's own patched package and prebuilt modules are not concerned.",
    source="public reports; the rows name theirs",
)
def kernel_builds_driver(pins: PinSet) -> Iterator[Found]:
    """The driver's module builds on the kernel"""
    if _patched(pins):
        return
    broken = next((row for row in breakages.BREAKAGES if _breaks(pins, row)), None)
    if broken is None:
        return
    fixed = broken.fixed[pins.branch]
    known = f"fixed in {fixed}" if fixed else f"no release of branch {pins.branch} has a fix"
    reason = f"driver {pins.driver} on kernel {pins.kernel} ({pins.modules}, dkms): from Linux {_series(broken.kernel)} on {broken.words}; {known}"
    changes = (*other_drivers(pins, at_least(fixed or f"{pins.branch + 1}.0")), *_other_kernels(pins, broken.kernel))
    severity = WARNING if pins.distributions_driver else by_confidence(broken.confidence)
    yield Found(reason, DRIVER, broken.source, severity, changes)


def _breaks(pins: PinSet, row: Breakage) -> bool:
    if pins.kernel_numbers[:2] < row.kernel or pins.branch not in row.fixed or row.modules not in ("", pins.modules):
        return False
    fixed = row.fixed[pins.branch]
    return fixed is None or pins.driver.before(fixed)


@rule(
    "kernel_beyond_driver",
    severity=WARNING,
    why="A driver knows the kernels of its time. One that is several series newer has interfaces that the module's source has never seen.",
    fix="Take a later release of the branch, or the distribution's own kernel.",
    source=breakages.PROXY_SOURCE,
)
def kernel_beyond_driver(pins: PinSet) -> Iterator[Found]:
    """The kernel is not much newer than the driver"""
    if _patched(pins) or pins.distributions_driver or pins.family not in VANILLA or list(kernel_builds_driver(pins)):
        return
    newest = bounded_newest(pins.driver.upstream, pins.today)
    if newest and breakages.steps(newest, pins.kernel_numbers) >= BEYOND:
        reason = (
            f"driver {pins.driver} names no kernel beyond {_series(newest)}, and {pins.kernel} is {breakages.steps(newest, pins.kernel_numbers)} series newer"
        )
        yield Found(reason, DRIVER, changes=(*other_drivers(pins, at_least(pins.driver.upstream)), *_other_kernels(pins, pins.kernel_numbers)))


def bounded_newest(driver: str, today: date) -> Numbers | None:
    """The newest kernel that a release names, where something bounds it: a later row of its branch, or the branch's end."""
    branch = number(driver)[:1]
    rows = sorted((number(known), number(kernel)) for known, kernel in NEWEST_KERNEL.items() if number(known)[:1] == branch)
    named = [kernel for known, kernel in rows if known <= number(driver)]
    bounded = any(known > number(driver) for known, _kernel in rows) or not drivers.supported(branch[0], today)
    return named[-1] if named and bounded else None


@rule(
    "kernel_too_old",
    severity=REFUSAL,
    why="The module's source refuses to be built for kernels below its minimum.",
    fix="Take a newer kernel, or a driver branch that still accepts this one.",
    source=breakages.OLDEST_KERNEL_SOURCE,
)
def kernel_is_new_enough(pins: PinSet) -> Iterator[Found]:
    """The kernel is not older than the driver accepts"""
    oldest = next(kernel for branch, kernel in breakages.OLDEST_KERNEL if pins.branch >= branch)
    if pins.kernel_numbers and pins.kernel_numbers[:2] < oldest:
        reason = f"kernel {pins.kernel} is older than {_series(oldest)}, the oldest that driver branch {pins.branch} accepts"
        yield Found(reason, PLACE, changes=_to_own_kernel(pins) + other_drivers(pins, lambda one: number(one)[0] < 555))


# What a distribution's kernel release looks like after its numbers.
_OF = (
    ("amazon", r"\.amzn(?P<release>\d+)"),
    ("rhel", r"\.el(?P<release>\d+)(?:_(?P<minor>\d+))?"),
    ("rhel", r"\.el(?P<release>\d+)uek"),
    ("debian", r"\+deb(?P<release>\d+)(?:u\d+)?-|-[\d*]+-(?:cloud-|rt-)?(?:amd64|arm64)$|\+bpo-"),
    ("sles", r"-(?:\d{6}|\d+)\.[\w.*]+-(?:default|azure|64kb|rt)$|-\*-(?:default|64kb)$"),
    ("ubuntu", r"^\d+\.\d+\.\d+-[\d*]+-[a-z]"),
    ("debian", r"-(?:cloud-|rt-)?(?:amd64|arm64)$"),
)
_ARCHITECTURE = re.compile(r"(?P<x86_64>[-.]x86_64\b|-amd64\b)|(?P<aarch64>[-.]aarch64\b|-arm64\b|[-+]64kb?$)")


def kernel_distribution(release: str) -> tuple[str, re.Match[str]] | None:
    """Whose kernel a release name is: `6.8.0-101-generic` -> ubuntu."""
    return next(((name, found) for name, pattern in _OF if (found := re.search(pattern, release))), None)


@rule(
    "kernel_of_distribution",
    severity=REFUSAL,
    why="A kernel comes from the distribution's own archive, with headers and prebuilt modules that fit it. Another distribution's or release's is not there.",
    fix="Write what uname -r prints on a node of this distribution and release.",
    source="archive metadata of the distributions, 2026-11-30",
)
def kernel_is_the_distributions(pins: PinSet) -> Iterator[Found]:
    """The kernel is one of the distribution and release"""
    whose = kernel_distribution(pins.kernel)
    changes = _to_own_kernel(pins)
    if whose is None:
        example = distributions.KERNEL_WORDS[pins.family]
        reason = f"kernel {pins.kernel} is not named like one of {pins.system} (such as {example})"
        looks_whole = bool(re.search(r"[-+]", pins.kernel))
        yield Found(reason, PLACE, severity=WARNING if looks_whole else REFUSAL, changes=changes)
    elif re.search(r"-0\d{5}-generic$", pins.kernel):
        yield Found(
            f"kernel {pins.kernel} is a mainline build: no archive has it, and nothing is signed or prebuilt for it", PLACE, severity=WARNING, changes=changes
        )
    elif whose[0] != pins.family:
        yield Found(f"kernel {pins.kernel} is one of {whose[0]}, and the pool is {pins.system}", PLACE, changes=changes)
    else:
        yield from _other_release(pins, whose[1], changes)


def _other_release(pins: PinSet, found: re.Match[str], changes: tuple[Change, ...]) -> Iterator[Found]:
    named = found.groupdict()
    release = named.get("release")
    major = pins.release.split(".")[0]
    known = pins.known_release
    if release and release != major:
        yield Found(f"kernel {pins.kernel} is one of {pins.family} {release}, and the pool is {pins.system}", PLACE, changes=changes)
    elif known and pins.kernel_numbers[:2] < known.oldest:
        reason = f"kernel {pins.kernel} is older than {_series(known.oldest)}, the oldest that {pins.system} has: it is one of an earlier release"
        yield Found(reason, PLACE, changes=changes)
    elif known and known.newest and pins.kernel_numbers[:2] > known.newest:
        reason = f"kernel {pins.kernel} is newer than {_series(known.newest)}, the newest that is known of {pins.system}"
        yield Found(reason, PLACE, severity=WARNING, changes=changes)
    elif named.get("minor") and "." in pins.release and named["minor"] != pins.release.split(".")[1]:
        yield Found(f"kernel {pins.kernel} is one of {pins.distribution} {major}.{named['minor']}, and the pool is {pins.system}", PLACE, severity=NOTE)


@rule(
    "kernel_architecture",
    severity=REFUSAL,
    why="A kernel of another machine architecture does not boot.",
    fix="Write the kernel of the pool's architecture, or correct os.arch.",
    source="names of kernel releases",
)
def kernel_is_of_architecture(pins: PinSet) -> Iterator[Found]:
    """The kernel is of the pool's architecture"""
    found = _ARCHITECTURE.search(pins.kernel)
    if found and found.lastgroup != pins.arch:
        swapped = for_architecture(pins.kernel, pins.arch)
        changes = ({PLACE: swapped}, {"os.arch": str(found.lastgroup)}, *_to_own_kernel(pins))
        yield Found(f"kernel {pins.kernel} is for {found.lastgroup}, and os.arch is {pins.arch}", PLACE, changes=changes)


def for_architecture(kernel: str, arch: str) -> str:
    """The name of the same kernel on an architecture."""
    others = {"x86_64": {"aarch64": "x86_64", "arm64": "amd64", "-64kb": "-default", "-64k": ""}, "aarch64": {"x86_64": "aarch64", "amd64": "arm64"}}
    for theirs, ours in others[arch].items():
        kernel = kernel.replace(theirs, ours)
    return kernel
