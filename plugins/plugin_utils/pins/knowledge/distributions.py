# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Distributions: releases, what their kernels are called, their control groups, their prebuilt modules.

Sources, collected 2026-11-30: Debian and Ubuntu archive metadata; Debian and Ubuntu release pages (ends of life); Red Hat and SUSE life cycle pages;
docs.aws.amazon.com (al2023: cgroupv2); Red Hat documentation, RHEL 10, mounting cgroups-v1; release notes of systemd 256 and 258; runc
docs/cgroup-v2.md; NVIDIA driver installation guide 620. `kernels` has the lowest and the highest upstream series that a release's own archive
offers, backports and hardware enablement included; None: no upper end is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

Numbers = tuple[int, ...]
RHEL_FAMILY = frozenset({"rhel", "rocky", "almalinux"})
CGROUP_SOURCE = "runc docs/cgroup-v2.md; release notes of systemd 256 and 258; documentation of the distribution"


class Release(NamedTuple):
    """One release. `cgroups`: version -> "default", "possible" (by a kernel parameter) or absent (not there)."""

    oldest: Numbers
    newest: Numbers | None
    cgroups: Mapping[int, str]
    kernel: str
    ends: date | None = None
    managed: bool = True


DEFAULT, POSSIBLE = "default", "possible"
_BOTH_2 = {2: DEFAULT, 1: POSSIBLE}
_BOTH_1 = {1: DEFAULT, 2: POSSIBLE}
_EITHER = {1: DEFAULT, 2: DEFAULT}
_ONLY_2 = {2: DEFAULT}
_ONLY_1 = {1: DEFAULT}

# (distribution, release) -> what is known; the rebuilds of RHEL are under rhel, by their major release, SLES by its major release.
RELEASES = {
    ("debian", "11"): Release((5, 10), (6, 1), _BOTH_2, "5.10.0-*-{deb}", date(2026, 8, 31)),
    ("debian", "12"): Release((6, 1), (6, 12), _BOTH_2, "6.1.0-*-{deb}"),
    ("debian", "13"): Release((6, 12), None, _BOTH_2, "6.12.*+deb13-{deb}"),
    ("ubuntu", "20.04"): Release((5, 4), (5, 15), _BOTH_1, "5.15.0-*-generic", date(2025, 5, 31)),
    ("ubuntu", "22.04"): Release((5, 15), (6, 8), _BOTH_2, "5.15.0-*-generic"),
    ("ubuntu", "24.04"): Release((6, 8), (7, 0), _BOTH_2, "6.8.0-*-generic"),
    ("ubuntu", "26.04"): Release((7, 0), None, _ONLY_2, "7.0.0-*-generic"),
    ("rhel", "8"): Release((4, 18), (4, 18), _BOTH_1, "4.18.0-*.el8*.{rpm}", managed=False),
    ("rhel", "9"): Release((5, 14), (5, 14), _BOTH_2, "5.14.0-*.el9*.{rpm}"),
    ("rhel", "10"): Release((6, 12), (6, 12), _BOTH_2, "6.12.0-*.el10*.{rpm}"),
    ("sles", "15"): Release((5, 3), (6, 4), _EITHER, "6.4.0-*-default", managed=False),
    ("sles", "16"): Release((6, 12), None, _ONLY_2, "6.12.0-*-default"),
    ("amazon", "2"): Release((4, 14), (5, 15), _ONLY_1, "5.10.*.amzn2.{rpm}", date(2026, 6, 30), managed=False),
    ("amazon", "2023"): Release((6, 1), None, _BOTH_2, "6.12.*.amzn2023.{rpm}"),
}
# Service packs of SLES 15 end one by one (suse.com/lifecycle): general support.
POINT_ENDS = {
    ("sles", "15.4"): date(2023, 12, 31),
    ("sles", "15.5"): date(2024, 12, 31),
    ("sles", "15.6"): date(2025, 12, 31),
    ("sles", "15.7"): date(2031, 7, 31),
}
# What kernel releases look like, for a sentence.
KERNEL_WORDS = {
    "debian": "6.12.117+deb13-amd64, 6.1.0-57-cloud-amd64",
    "ubuntu": "6.8.0-101-generic, 6.17.0-1009-aws",
    "rhel": "5.14.0-611.5.1.el9_7.x86_64",
    "sles": "6.4.0-150700.53.3-default",
    "amazon": "6.12.58-82.121.amzn2023.x86_64",
}

# Who offers the kernel module prebuilt, by (distribution): kinds of module.
PREBUILT = {
    "ubuntu": ("open", "proprietary"),
    "rhel": ("open", "proprietary"),
    "sles": ("open", "proprietary"),
}
PREBUILT_SOURCE = "NVIDIA driver installation guide 620; packages.ubuntu.com, linux-modules-nvidia-*; Debian archive metadata, 2026-11-30"
# Branches for which Ubuntu's archive builds modules; the others of it are transitional to the next branch, or NVIDIA's repository's alone.
UBUNTU_PREBUILT = frozenset({470, 535, 570, 580, 595})
UBUNTU_TRANSITIONAL = {550: 580, 565: 580, 590: 595}
# Flavours of Ubuntu's kernel for which the archive has prebuilt modules.
UBUNTU_FLAVOURS = frozenset(
    [
        "generic",
        "generic-64k",
        "aws",
        "aws-64k",
        "azure",
        "azure-nvidia",
        "azure-fde",
        "gcp",
        "gcp-64k",
        "gke",
        "gkeop",
        "ibm",
        "oracle",
        "oracle-64k",
        "nvidia",
        "nvidia-64k",
        "nvidia-lowlatency",
        "nvidia-lowlatency-64k",
        "lowlatency",
        "lowlatency-64k",
        "oem",
        "intel",
        "nvidia-adv",
        "nvidia-bos",
    ]
)


def family(distribution: str) -> str:
    """Rocky Linux and AlmaLinux are rebuilds of RHEL."""
    return "rhel" if distribution in RHEL_FAMILY else distribution


def release_of(distribution: str, release: str) -> Release | None:
    """What is known of a release."""
    return RELEASES.get((family(distribution), archive(distribution, release)))


def archive(distribution: str, release: str) -> str:
    """The release as its archive names it, without point releases: `13.2` -> 13, `24.04.3` -> 24.04."""
    return ".".join(release.split(".")[: 2 if distribution == "ubuntu" else 1])
