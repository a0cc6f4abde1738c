# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Driver branches: their releases, their ends of life, and what distributions maintain themselves.

Sources, collected 2026-11-30: docs.nvidia.com, supported drivers and CUDA toolkit versions, pages 615 and 620 (ends of life of 535, 580, 595, 610,
620); tags of NVIDIA/open-gpu-kernel-modules; redistributables and release notes of data centre drivers; Frogging-Family/nvidia-all #372;
NVIDIA bulletin 5821. A new feature branch has no published end: it ends when the next branch begins. The list of releases is no whole catalogue: a
release that is not in it is said in a note and nothing more.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.version import number

DOCS_620 = "docs.nvidia.com/datacenter/tesla/drivers/620, supported drivers and CUDA toolkit versions, 2026-11"
DOCS_615 = "docs.nvidia.com/datacenter/tesla/drivers/615, supported drivers and CUDA toolkit versions, 2026-09-09"
INSTALL_620 = "docs.nvidia.com/datacenter/tesla/driver-installation-guide/620, 2026-11-09"
REMEMBERED = "NVIDIA data centre driver documentation of the branch; the month was not read again"
BULLETIN_5821 = "NVIDIA product-security bulletin 5821, 2026-05"


class Branch(NamedTuple):
    """A driver branch. `ends`: its last day; None where none is published and no later branch has followed."""

    kind: str
    ends: date | None
    source: str
    releases: tuple[str, ...]


def _releases(text: str) -> tuple[str, ...]:
    return tuple(text.split())


LTS, PRODUCTION, FEATURE = "long-term support", "production", "new feature"

BRANCHES = {
    390: Branch("legacy", date(2022, 12, 31), "NVIDIA UNIX driver page", _releases("390.157")),
    418: Branch(LTS, date(2022, 3, 31), REMEMBERED, _releases("418.39 418.226.00")),
    440: Branch(PRODUCTION, date(2020, 11, 30), REMEMBERED, _releases("440.33.01 440.118.02")),
    450: Branch(
        LTS, date(2023, 7, 31), REMEMBERED, _releases("450.51.05 450.51.06 450.80.02 450.119.03 450.142.00 450.172.01 450.203.03 450.216.04 450.248.02")
    ),
    460: Branch(PRODUCTION, date(2022, 1, 31), REMEMBERED, _releases("460.32.03 460.73.01 460.91.03 460.106.00")),
    470: Branch(
        LTS,
        date(2024, 7, 31),
        REMEMBERED,
        _releases("470.57.02 470.82.01 470.103.01 470.129.06 470.141.03 470.161.03 470.182.03 470.199.02 470.223.02 470.239.06 470.256.02"),
    ),
    495: Branch(FEATURE, date(2022, 1, 31), REMEMBERED, _releases("495.29.05 495.46")),
    510: Branch(PRODUCTION, date(2023, 1, 31), REMEMBERED, _releases("510.39.01 510.47.03 510.73.08 510.85.02 510.108.03")),
    515: Branch(PRODUCTION, date(2023, 5, 31), REMEMBERED, _releases("515.43.04 515.48.07 515.65.01 515.86.01 515.105.01")),
    520: Branch(FEATURE, date(2022, 12, 18), REMEMBERED, _releases("520.56.06 520.61.05 520.61.07")),
    525: Branch(PRODUCTION, date(2023, 12, 31), REMEMBERED, _releases("525.60.13 525.85.12 525.105.17 525.116.04 525.125.06 525.147.05")),
    530: Branch(FEATURE, date(2023, 5, 30), REMEMBERED, _releases("530.30.02 530.41.03")),
    535: Branch(
        LTS,
        date(2026, 6, 30),
        DOCS_615,
        _releases(
            "535.54.03 535.86.05 535.86.10 535.98 535.104.05 535.104.12 535.113.01 535.129.03 535.146.02 535.154.05 535.161.07 535.161.08 535.171.04"
            " 535.183.01 535.183.06 535.216.01 535.216.03 535.230.02 535.247.01 535.261.03 535.274.02 535.288.01 535.309.01"
        ),
    ),
    545: Branch(FEATURE, date(2024, 1, 24), REMEMBERED, _releases("545.23.06 545.23.08 545.29.02 545.29.06")),
    550: Branch(
        PRODUCTION,
        date(2025, 6, 30),
        REMEMBERED,
        _releases(
            "550.40.07 550.54.14 550.54.15 550.67 550.76 550.78 550.90.07 550.90.12 550.100 550.107.02 550.120 550.127.05 550.127.08 550.135 550.142 550.144.03"
            " 550.163.01"
        ),
    ),
    555: Branch(FEATURE, date(2024, 7, 19), REMEMBERED, _releases("555.42.02 555.42.06 555.52.04 555.58 555.58.02")),
    560: Branch(FEATURE, date(2024, 10, 22), REMEMBERED, _releases("560.28.03 560.31.02 560.35.03 560.35.05")),
    565: Branch(FEATURE, date(2025, 1, 27), REMEMBERED, _releases("565.57.01 565.77")),
    570: Branch(
        PRODUCTION,
        date(2026, 2, 28),
        REMEMBERED,
        _releases(
            "570.86.10 570.86.15 570.86.16 570.124.04 570.124.06 570.133.07 570.133.20 570.144 570.148.08 570.153.02 570.158.01 "
            "570.169 570.172.08 570.181 570.190"
            " 570.195.03 570.207 570.211.01"
        ),
    ),
    575: Branch(FEATURE, date(2025, 8, 4), REMEMBERED, _releases("575.51.02 575.51.03 575.57.08 575.64 575.64.03 575.64.05")),
    580: Branch(
        LTS,
        date(2028, 6, 30),
        DOCS_620,
        _releases(
            "580.65.06 580.76.05 580.82.07 580.82.09 580.95.05 580.105.08 580.119.02 580.126.09 580.126.16 580.126.18 580.126.20 580.142 580.159.03 580.159.04"
            " 580.173.02 580.178.04"
        ),
    ),
    590: Branch(
        FEATURE, date(2026, 3, 5), "tags of NVIDIA/open-gpu-kernel-modules; Ubuntu made its packages transitional to 595", _releases("590.44.01 590.48.01")
    ),
    595: Branch(PRODUCTION, date(2027, 3, 31), DOCS_620, _releases("595.45.04 595.58.03 595.71.05 595.84 595.91.07 595.99.02 595.112.07")),
    610: Branch(FEATURE, date(2026, 8, 31), DOCS_615, _releases("610.43.02 610.43.03 610.57.04")),
    615: Branch(FEATURE, date(2026, 11, 4), DOCS_620 + " (it ended when 620 came)", _releases("615.71.09")),
    620: Branch(LTS, date(2029, 9, 30), DOCS_620, _releases("620.70.06")),
}

# The first release with the fixes of the newest bulletin, by branch. Branches without one have none: their end of life says so.
FIXED = {535: "535.309.01", 580: "580.159.03", 595: "595.71.05"}

# What a distribution's own archive has, (distribution, release) -> upstream versions: it maintains these whatever NVIDIA does with the branch. Archive
# metadata of Debian read on 2026-11-30 (bookworm and its security archive, trixie), packages.ubuntu.com (resolute, 2026).
DISTRIBUTION = {
    ("debian", "12"): ("470.256.02", "525.147.05", "535.216.03", "535.261.03", "535.309.01"),
    ("debian", "13"): ("535.274.02", "535.309.01", "550.163.01"),
    ("ubuntu", "26.04"): ("580.126.20", "595.71.05"),
}
# The distribution's own security fix of its driver: an older one of the same branch is behind it.
DISTRIBUTION_FIXED = {("debian", "12", 535): "535.309.01"}

# (first, fixed in): releases with a known fault that no kernel or GPU decides.
FAULTY = (
    (
        "570.124.06",
        "570.172.08",
        "NVML fails in them (a regression)",
        "NVIDIA/cloud-native-docs gpu-operator/troubleshooting.rst, 2026-08-21",
    ),
)
NEWEST = max(BRANCHES)


def releases() -> Iterator[str]:
    """Every known release, the oldest first."""
    for branch in sorted(BRANCHES):
        yield from BRANCHES[branch].releases


def supported(branch: int, today: date) -> bool:
    """Whether NVIDIA still maintains a branch."""
    known = BRANCHES.get(branch)
    return known is not None and (known.ends is None or known.ends >= today)


def older(one: str, other: str) -> bool:
    """Whether a driver version is older than another."""
    return number(one) < number(other)
