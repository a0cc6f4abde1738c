# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The distribution: release, control groups, prebuilt modules, what can manage it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.candidates import other_drivers
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.knowledge import distributions
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.model import NOTE, REFUSAL, WARNING, Change, Found, rule
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.rules.kernel import own_kernels
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.view import PinSet

BUILD = "nvidia_driver.build"
RELEASES = "release pages of the distributions, 2026-11-30"


@rule(
    "release_known",
    severity=WARNING,
    why="Of a release that is not known neither kernels nor control groups nor packages are judged, and NVIDIA's repositories have nothing for it.",
    fix="Write a release that NVIDIA supports: Debian 12 or 13; Ubuntu 22.04, 24.04 or 26.04; RHEL and its rebuilds 8 to 10; SLES 15 or 16; Amazon Linux 2023.",
    source=RELEASES,
)
def release_is_known(pins: PinSet) -> Iterator[Found]:
    """The distribution has the release"""
    if pins.known_release is None:
        there = [release for distribution, release in distributions.RELEASES if distribution == pins.family]
        changes = tuple({"os.release": one} for one in reversed(there))
        yield Found(f"no release {pins.release} of {pins.distribution} is known; known are {', '.join(there)}", "os.release", changes=changes)


@rule(
    "release_end_of_life",
    severity=WARNING,
    why="After a release's end nothing on the node gets fixes.",
    fix="Move the pool to a maintained release.",
    source=RELEASES,
)
def release_is_maintained(pins: PinSet) -> Iterator[Found]:
    """The distribution's release is maintained on this day"""
    known = pins.known_release
    ends = distributions.POINT_ENDS.get((pins.family, pins.release)) or (known.ends if known else None)
    if ends and ends < pins.today:
        yield Found(f"{pins.system} is past the end of its public support ({ends})", "os.release", changes=_later_points(pins))


def _later_points(pins: PinSet) -> tuple[Change, ...]:
    points = [point for (family, point), ends in distributions.POINT_ENDS.items() if family == pins.family and ends >= pins.today]
    return tuple({"os.release": point} for point in points)


@rule(
    "cgroup_version",
    severity=REFUSAL,
    why="systemd decides which control groups there are: from 258 on (Ubuntu 26.04, SLES 16) only version 2; since 256 it does not "
    "boot with version 1 without being forced to.",
    fix="Set os.cgroup to what the release has.",
    source=distributions.CGROUP_SOURCE,
)
def cgroup_is_the_releases(pins: PinSet) -> Iterator[Found]:
    """The distribution's release has the cgroup version"""
    known = pins.known_release
    there = known.cgroups.get(pins.cgroup) if known else distributions.DEFAULT
    changes = ({"os.cgroup": 3 - pins.cgroup},)
    if there is None:
        yield Found(f"{pins.system} has no cgroup {pins.cgroup}: it boots with version {3 - pins.cgroup} alone", "os.cgroup", changes=changes)
    elif there == distributions.POSSIBLE:
        out = ", and is on its way out of systemd, Docker and containerd" if pins.cgroup == 1 else ""
        reason = f"{pins.system} boots with cgroup {3 - pins.cgroup}; version {pins.cgroup} needs kernel parameters that no role sets{out}"
        # version 2 is what RHEL 8 documents as fully supported, by systemd.unified_cgroup_hierarchy=1
        yield Found(reason, "os.cgroup", severity=WARNING if pins.cgroup == 1 else NOTE, changes=changes)


@rule(
    "managed_by_ansible",
    severity=NOTE,
    why="ansible-core 2.19 and later need Python 3.8 on the node, which RHEL 8, SLES 15 and Amazon Linux 2 do not have as their own.",
    fix="Nothing for check_pins, diagnosis and the probe; the roles refuse such a node.",
    source="ansible-core support matrix",
)
def system_can_be_managed(pins: PinSet) -> Iterator[Found]:
    """The roles can manage the distribution's release"""
    if pins.known_release and not pins.known_release.managed:
        yield Found(f"{pins.system}: its own Python is too old for ansible-core 2.19; diagnosis works, the roles refuse", "os.release")


@rule(
    "prebuilt_modules",
    severity=REFUSAL,
    why="Prebuilt kernel modules are built by somebody for one kernel and one driver: Canonical for Ubuntu's kernels, NVIDIA for "
    "RHEL's, SUSE for its own. Debian has none.",
    fix="Set nvidia_driver.build to dkms, or take kernel and branch for which modules are built.",
    source=distributions.PREBUILT_SOURCE,
)
def modules_are_prebuilt(pins: PinSet) -> Iterator[Found]:
    """Somebody builds the prebuilt modules"""
    if not pins.prebuilt:
        return
    dkms = ({BUILD: "dkms"},)
    if pins.family not in distributions.PREBUILT:
        severity = REFUSAL if pins.family == "debian" else NOTE
        yield Found(f"nvidia_driver.build is prebuilt, and nobody is known to build modules for {pins.system}", BUILD, severity=severity, changes=dkms)
    elif pins.distribution == "ubuntu":
        yield from _ubuntu_prebuilt(pins)


def _ubuntu_prebuilt(pins: PinSet) -> Iterator[Found]:
    dkms: tuple[Change, ...] = ({BUILD: "dkms"},)
    flavour = re.sub(r"^[\d.]+-[\d*]+-", "", pins.kernel)
    following = distributions.UBUNTU_TRANSITIONAL.get(pins.branch)
    if flavour not in distributions.UBUNTU_FLAVOURS or re.search(r"-0\d{5}-", pins.kernel):
        changes = (*dkms, *({"kernel.version": one} for one in own_kernels(pins)))
        yield Found(f"Ubuntu's archive has no prebuilt modules for kernel {pins.kernel}", BUILD, changes=changes)
    elif following:
        reason = (
            f"Ubuntu's packages of branch {pins.branch} are transitional: they install branch {following}, so that no prebuilt module of {pins.driver} is there"
        )
        changes = other_drivers(pins, lambda one: one.split(".")[0] == str(following))
        yield Found(reason, "nvidia_driver.version", severity=WARNING, changes=changes)
    elif pins.branch not in distributions.UBUNTU_PREBUILT:
        reason = f"Ubuntu's archive was not seen to build modules of branch {pins.branch}; lock_stack will tell"
        yield Found(reason, BUILD, severity=NOTE)
