# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Container engines: ends of life, security floors, what fits what.

Sources, collected 2026-11-30: moby tags and release pages to docker-v29.9.0 (2026-10-08); containerd RELEASES.md and advisories; runc CHANGELOG.md;
NVIDIA/cloud-native-docs container-toolkit release notes (2026-08-21); docker packaging changelog; Debian and Ubuntu archive metadata; CVE records.
"""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

Numbers = tuple[int, ...]
ENDOFLIFE = "endoflife.date docker-engine; tags of moby/moby"
CONTAINERD_RELEASES = "containerd RELEASES.md, 2026-08-22"


class End(NamedTuple):
    """The last day of a line."""

    ends: date
    source: str


# component -> line (the leading numbers of its versions) -> its end. A line without a row is maintained.
ENDS: dict[str, dict[Numbers, End]] = {
    "docker": {
        (18,): End(date(2020, 7, 31), ENDOFLIFE),
        (19,): End(date(2021, 8, 31), ENDOFLIFE),
        (20,): End(date(2023, 12, 10), ENDOFLIFE),
        (23,): End(date(2025, 5, 19), ENDOFLIFE),
        (24,): End(date(2024, 6, 8), ENDOFLIFE),
        (26,): End(date(2025, 2, 17), ENDOFLIFE),
        (27,): End(date(2025, 5, 3), ENDOFLIFE),
    },
    "containerd": {
        **{(1, minor): End(date(2022, 3, 3), CONTAINERD_RELEASES) for minor in range(5)},
        (1, 5): End(date(2023, 2, 28), CONTAINERD_RELEASES),
        (1, 6): End(date(2025, 8, 23), CONTAINERD_RELEASES),
        (1, 7): End(date(2026, 9, 30), CONTAINERD_RELEASES),
        (2, 1): End(date(2026, 7, 3), CONTAINERD_RELEASES),
        (2, 2): End(date(2026, 11, 6), CONTAINERD_RELEASES),
    },
}
LINE_LENGTH = {"docker": 1, "containerd": 2, "runc": 2, "podman": 1}


class Floor(NamedTuple):
    """A vulnerability: `fixed` is line -> first release without it. A line that is not named has it if it is older than the newest named one.

    `since`: the first release that has it.
    """

    identifier: str
    fixed: dict[Numbers, str]
    source: str
    since: Numbers = ()


# Newest first: the first that a version has is the one to name.
FLOORS: dict[str, tuple[Floor, ...]] = {
    "docker": (
        Floor("CVE-2026-97032, -78659, -78663, -78669 and -56857 (Go runtime)", {(29,): "29.9.0"}, "moby release docker-v29.9.0", (29,)),
        Floor("CVE-2026-42306 (docker cp)", {(29,): "29.5.1"}, "CVE-2026-42306; moby 29.5.1"),
        Floor("CVE-2026-34040 (authorisation bypass)", {(29,): "29.3.1"}, "CVE-2026-34040; moby 29.3.1"),
        Floor(
            "CVE-2024-41110 (authorisation bypass)",
            {(23,): "23.0.15", (24,): "24.0.10", (25,): "25.0.6", (26,): "26.1.5", (27,): "27.1.1"},
            "CVE-2024-41110; moby 25.0.6",
        ),
        Floor("CVE-2024-21626 (runc)", {(24,): "24.0.9", (25,): "25.0.2"}, "moby 24.0.9"),
    ),
    "containerd": (
        Floor(
            "CVE-2026-53493",
            {(1, 7): "1.7.36", (2, 0): "2.0.13", (2, 2): "2.2.9", (2, 3): "2.3.6", (2, 4): "2.4.1"},
            "CVE-2026-53493",
        ),
        Floor("CVE-2026-53495 (CRI ExecSync)", {(2, 0): "2.0.12", (2, 2): "2.2.8", (2, 3): "2.3.5"}, "CVE-2026-53495; GHSA-7jxh-36q5-gcqv"),
        Floor(
            "CVE-2026-46680 (runAsNonRoot bypass)",
            {(1, 7): "1.7.32", (2, 0): "2.0.9", (2, 1): "2.1.8", (2, 2): "2.2.4", (2, 3): "2.3.1"},
            "GHSA-fqw6-gf59-qr4w",
        ),
    ),
    "runc": (
        Floor("CVE-2026-41579", {(1, 3): "1.3.6", (1, 4): "1.4.3"}, "runc CHANGELOG.md, CVE-2026-41579"),
        Floor("CVE-2025-31133, -52565 and -52881", {(1, 2): "1.2.8", (1, 3): "1.3.3"}, "runc CHANGELOG.md"),
        Floor("CVE-2024-21626", {(1, 1): "1.1.12"}, "runc CHANGELOG.md"),
    ),
    "podman": (Floor("CVE-2026-94603", {(5,): "5.8.8", (6,): "6.1.3"}, "CVE-2026-94603", (4, 4)),),
}
# Lines that somebody goes on patching, whose fixes have no public list: nothing is said of their numbers. Docker 25.0: moby tag v25.0.17, 2026-07-14.
LONG_LINES: dict[str, dict[Numbers, Numbers]] = {"docker": {(25,): (25, 0, 17)}}

# What a distribution's own archive has, (distribution, release) -> component -> upstream versions. All of an engine's must be from there, or none is
# taken for it: docker-ce has the same numbers. Debian: archive metadata; Ubuntu: packages.ubuntu.com, SRU "container stack updates", 2026.
DISTRIBUTION: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {
    ("debian", "12"): {"docker": ("20.10.24",), "containerd": ("1.6.20",), "runc": ("1.1.5",), "podman": ("4.3.1",)},
    ("debian", "13"): {"docker": ("26.1.5",), "containerd": ("1.7.24",), "runc": ("1.1.15",), "podman": ("5.4.2",)},
    ("ubuntu", "22.04"): {"podman": ("3.4.4",)},
    ("ubuntu", "24.04"): {"podman": ("4.9.3",)},
}
# Whose engine is always the distribution's: docker-ce has no packages for Amazon Linux and SLES (x86_64, aarch64); podman comes from distributions alone.
ALWAYS_DISTRIBUTION = frozenset({*((family, part) for family in ("amazon", "sles") for part in ("docker", "containerd", "runc", "podman")), ("rhel", "podman")})
# The distribution's own security fix, as a package version in its own order. bookworm and bookworm-security, read 2026-11-30;
# packages.ubuntu.com, noble and resolute, 2026 (their security archives).
DISTRIBUTION_FIXED = {
    ("debian", "12", "containerd"): "1.6.20~ds1-1+deb12u2",
    ("debian", "12", "runc"): "1.1.5+ds1-1+deb12u1",
    ("debian", "12", "docker"): "20.10.24+dfsg1-1+deb12u1",
    ("ubuntu", "24.04", "docker"): "29.1.3-0ubuntu3~24.04.2",
    ("ubuntu", "24.04", "containerd"): "2.2.1-0ubuntu1~24.04.3",
    ("ubuntu", "26.04", "docker"): "29.1.3-0ubuntu4.1",
}

GPUS_SINCE = "19.03"
# docker-ce's packages ask for containerd.io >= 2.1.5 since 2026-06-12; 29.6.0 is its first release after that day. The bundle of 29.0 has 2.1.5.
DOCKER_CE_CONTAINERD = ("29.6.0", "2.1.5", "docker packaging changelog, 2026-06-12")
DOCKER_29_CONTAINERD = ("29.0.0", "2.1.5", "moby docker-v29.0.0, Dockerfile")
# Docker 29.0 to 29.2 refuse clients below API 1.44.
API_144 = ("29.0.0", "29.3.0", "moby docker-v29.0.0 and docker-v29.3.0, daemon/config (commit f96921e5e5)")
# cgroup 2 needs these.
CGROUP_2_SINCE = {"docker": "20.10", "containerd": "1.4", "runc": "1.0.0"}

# Newest known releases of each line, to choose from.
KNOWN = {
    "docker": (
        "20.10.24",
        "23.0.18",
        "24.0.9",
        "25.0.17",
        "26.1.5",
        "27.5.1",
        "28.5.2",
        "29.3.1",
        "29.5.3",
        "29.9.0",
    ),
    "containerd": ("1.6.39", "1.7.16", "1.7.36", "2.0.13", "2.1.9", "2.2.9", "2.3.6", "2.4.1"),
    "runc": ("1.1.15", "1.2.8", "1.3.6", "1.4.3", "1.5.0", "1.5.1"),
    "podman": ("4.9.3", "5.1.0", "5.4.2", "5.8.8", "6.1.3"),
}
