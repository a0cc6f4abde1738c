# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which Linux version a driver release knows of.

NEWEST_KERNEL: the highest Linux version named in kernel-open/conftest.sh of each tag of NVIDIA/open-gpu-kernel-modules up to 2026-03, and what later
release notes and public reports say (marked). It is a proxy: a driver often builds on one or two versions beyond. So it explains a build that
failed and never condemns one that did not. Distribution kernels with an old number (RHEL, SLES) carry newer interfaces. Collected 2026-11-30.
"""

from __future__ import annotations

import re

NEWEST_KERNEL: dict[str, str] = {
    "340.108": "5.4",  # the last releases of dead branches: by their date
    "390.157": "6.1",
    "418.226.00": "5.13",
    "450.248.02": "6.3",
    "460.106.00": "5.15",
    "470.223.02": "6.6",  # nixpkgs nvidia-x11: fails on 6.6.15 and 6.7.3
    "470.239.06": "6.11",  # void-linux/void-packages #53759: fails on 6.12
    "515.105.01": "6.2",
    "525.116.04": "6.4",  # NVIDIA/open-gpu-kernel-modules #501
    "525.147.05": "6.5",
    "530.41.03": "6.3",  # NVIDIA/open-gpu-kernel-modules #501: fails on 6.4
    "535.154.05": "6.7",
    "535.183.01": "6.8",
    "535.230.02": "6.12",
    "535.247.01": "6.14",
    "535.261.03": "6.15",
    "535.288.01": "6.18",
    "545.29.06": "6.6",
    "550.54.14": "6.7",
    "550.90.07": "6.8",
    "550.120": "6.12",
    "550.144.03": "6.13",
    "550.163.01": "6.15",
    "555.58.02": "6.8",
    "560.35.03": "6.8",
    "565.77": "6.12",
    "570.86.16": "6.13",
    "570.124.06": "6.14",
    "570.148.08": "6.15",
    "575.57.08": "6.15",
    "580.65.06": "6.15",
    "580.82.07": "6.17",  # NVIDIA/open-gpu-kernel-modules #1143
    "580.119.02": "6.18",
    "580.126.09": "6.19",
    "580.142": "7.0",
    "580.159.04": "7.1",  # release notes
    "590.44.01": "6.18",
    "595.45.04": "6.19",
}

# The first releases without the symbol that the kernel gives to GPL modules only.
GPL_ONLY_FIXES: dict[str, tuple[str, ...]] = {
    "__rcu_read_lock": ("470.239.06", "535.161.07", "550.54.14"),  # nixpkgs nvidia-x11
    "__rcu_read_unlock": ("470.239.06", "535.161.07", "550.54.14"),
    "rcu_read_unlock_strict": ("535.183.06", "550.54.14"),  # NVIDIA/gpu-operator #729
}


def number(text: str) -> tuple[int, ...]:
    """The leading numbers of a version: `6.8.10-300.fc40` -> (6, 8, 10)."""
    match = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in match.group().split(".")) if match else ()


_KNOWN = sorted((number(driver), number(kernel)) for driver, kernel in NEWEST_KERNEL.items())


def newest_kernel(driver: str) -> tuple[int, ...] | None:
    """The newest Linux (major, minor) that a driver release knows of, at most; None where its branch is not in the table."""
    wanted = number(driver)
    branch = [(version, kernel) for version, kernel in _KNOWN if version[:1] == wanted[:1]]
    older = [kernel for version, kernel in branch if version <= wanted]
    return older[-1] if older else branch[0][1] if branch else None


def drivers_for(kernel: str) -> tuple[str, ...]:
    """For each branch from 535 on, its first release that knows of a kernel."""
    first: dict[int, str] = {}
    for driver in sorted(NEWEST_KERNEL, key=number):
        if number(driver)[0] >= 535 and number(NEWEST_KERNEL[driver]) >= number(kernel)[:2]:
            first.setdefault(number(driver)[0], driver)
    return tuple(first.values())
