# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""CUDA releases against drivers, Linux x86_64.

Sources, collected 2026-11-30: CUDA Toolkit 13.1 and 13.2 release notes, tables 2 and 3; 13.3 release notes; driver redistributables 595.71.05,
615.71.09, 620.70.06; NVIDIA's CUDA Compatibility guide. 13.4 and 13.5: the driver that was released with them, the table's row was not seen.
"""

from __future__ import annotations

import re

# CUDA release -> the driver that it was released with: from it on everything of that release works.
TOOLKIT_DRIVER = {
    (10, 0): "410.48",
    (10, 1): "418.39",
    (10, 2): "440.33",
    (11, 0): "450.51.05",
    (11, 1): "455.23",
    (11, 2): "460.27.03",
    (11, 3): "465.19.01",
    (11, 4): "470.42.01",
    (11, 5): "495.29.05",
    (11, 6): "510.39.01",
    (11, 7): "515.43.04",
    (11, 8): "520.61.05",
    (12, 0): "525.60.13",
    (12, 1): "530.30.02",
    (12, 2): "535.54.03",
    (12, 3): "545.23.06",
    (12, 4): "550.54.14",
    (12, 5): "555.42.02",
    (12, 6): "560.28.03",
    (12, 8): "570.26",
    (12, 9): "575.51.03",
    (13, 0): "580.65.06",
    (13, 1): "590.44.01",
    (13, 2): "595.45.04",
    (13, 3): "610.43.02",
    (13, 4): "615.71.09",
    (13, 5): "620.70.06",
}

# CUDA major -> the oldest driver on which minor-version compatibility holds: binaries run, but no PTX of a newer release (222) and no newer API (36).
MINOR_COMPATIBILITY = {11: "450.80.02", 12: "525.60.13", 13: "580.65.06"}

# Driver branch -> the newest CUDA that it can do, the "CUDA Version" of nvidia-smi.
BRANCH_CUDA = {
    **{int(driver.split(".")[0]): cuda for cuda, driver in TOOLKIT_DRIVER.items()},
    565: (12, 7),
}


def release(text: str) -> tuple[int, int] | None:
    """`12.8`, `cuda12.4.1`, `12040` (cuDriverGetVersion) -> (12, 8)."""
    match = re.search(r"(?<![\d.])(\d{1,2})\.(\d{1,2})(?![\d])", text)
    if match:
        return int(match.group(1)), int(match.group(2))
    number = re.fullmatch(r"\s*(\d{2})0(\d)0\s*", text)
    return (int(number.group(1)), int(number.group(2))) if number else None


def named(cuda: tuple[int, int]) -> str:
    return f"{cuda[0]}.{cuda[1]}"


def cuda_of(driver: str) -> tuple[int, int] | None:
    """The newest CUDA of a driver: that of its branch, or of the newest branch that is older."""
    branch = int(driver.split(".")[0])
    older = [known for known in BRANCH_CUDA if known <= branch]
    return BRANCH_CUDA[max(older)] if older else None


def driver_for(cuda: tuple[int, int]) -> str | None:
    """The driver from which on everything of a CUDA release works."""
    return TOOLKIT_DRIVER.get(cuda)


def oldest_driver(cuda: tuple[int, int]) -> str | None:
    """The oldest driver on which programs of a CUDA release start at all."""
    return MINOR_COMPATIBILITY.get(cuda[0]) or TOOLKIT_DRIVER.get(cuda)


def numbers(driver: str) -> tuple[int, ...]:
    """A driver's version, to compare."""
    return tuple(int(part) for part in re.findall(r"\d+", driver))
