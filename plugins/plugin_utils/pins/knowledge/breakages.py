# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Builds of the driver's kernel module that are known to fail, by kernel.

Sources are in the rows; collected 2026-11-30. Distributions patch their own packages (Debian's 550.163.01-4 builds on 6.17), prebuilt modules are
built elsewhere: the rules leave both alone. Enterprise kernels (RHEL, SLES) have an old number and newer interfaces: what breaks at their number
breaks on them, and more may.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

Numbers = tuple[int, ...]
NEVER = None


class Breakage(NamedTuple):
    """From `kernel` on the driver's module does not build or load. `fixed`: branch -> its first release that does, or NEVER."""

    kernel: Numbers
    fixed: Mapping[int, str | None]
    words: str
    confidence: str
    source: str
    modules: str = ""


def _never(*branches: int) -> dict[int, str | None]:
    return dict.fromkeys(branches, NEVER)


BREAKAGES = (
    Breakage((7, 1), {580: "580.159.04"}, "the module does not build", "high", "void-linux/void-packages #61087; release notes of 580.159.04"),
    Breakage((7, 0), {580: "580.142"}, "the module does not build", "medium", "void-linux/void-packages #60171; Frogging-Family/nvidia-all #379"),
    Breakage(
        (6, 19),
        {580: "580.126.09", **_never(590)},
        "nvidia-uvm does not build (page_free became folio_free)",
        "medium",
        "Frogging-Family/linux-tkg #1186; open-gpu-kernel-modules, commits of January 2026",
    ),
    Breakage(
        (6, 18),
        {580: "580.119.02", 570: "570.211.01", 535: "535.288.01", **_never(545, 550, 555, 560, 565, 575)},
        "nvidia-uvm does not build (get_dev_pagemap changed)",
        "medium",
        "open-gpu-kernel-modules, commit 3e2305160",
    ),
    Breakage(
        (6, 17),
        {580: "580.82.07", 570: "570.195.03", **_never(545, 550, 555, 560, 565, 575)},
        "the module does not build (drm_helper_mode_fill_fb_struct changed)",
        "medium",
        "NVIDIA/open-gpu-kernel-modules #1143; Frogging-Family/nvidia-all #310",
    ),
    Breakage((6, 15), {570: "570.169"}, "the module does not build", "medium", "damentz/liquorix-package #198"),
    Breakage((6, 13), _never(565), "DKMS fails", "low", "pop-os/linux #350"),
    Breakage(
        (6, 12),
        {550: "550.120", **_never(470, 510, 515, 520, 525, 530, 545, 555, 560)},
        "the module does not build (drm_mode_config_funcs has no output_poll_changed)",
        "high",
        "damentz/liquorix-package #185; void-linux/void-packages #53759",
    ),
    Breakage(
        (6, 8),
        {470: "470.239.06", 535: "535.161.07", 550: "550.54.14", **_never(510, 515, 520, 525, 530, 545)},
        "the proprietary module does not link (GPL-only symbol __rcu_read_lock)",
        "medium",
        "nixpkgs nvidia-x11",
        "proprietary",
    ),
    Breakage(
        (6, 4), {525: "525.116.04", **_never(510, 515, 520, 530)}, "the module does not build (drm dumb_destroy)", "high", "NVIDIA/open-gpu-kernel-modules #501"
    ),
    Breakage(
        (6, 3),
        {530: "530.41.03", **_never(510, 515, 520)},
        "the module does not build (vm_flags is read-only)",
        "medium",
        "NVIDIA/open-gpu-kernel-modules #669",
    ),
)

# The oldest kernel that a branch's source accepts: nv-linux.h, #error.
OLDEST_KERNEL: tuple[tuple[int, Numbers], ...] = ((555, (4, 15)), (0, (3, 10)))
OLDEST_KERNEL_SOURCE = "open-gpu-kernel-modules, nv-linux.h"
PROXY_SOURCE = "open-gpu-kernel-modules, conftest.sh at each tag: the newest kernel that a release names; a proxy"

# Upstream's last minor version of each major, to count steps between versions.
_LAST_MINOR = {4: 20, 5: 19, 6: 19}


def steps(older: Numbers, newer: Numbers) -> int:
    """How many kernel series lie between two (major, minor): 6.18 to 7.0 is 2."""
    return _ordinal(newer) - _ordinal(older)


def _ordinal(kernel: Numbers) -> int:
    major, minor = (*kernel, 0, 0)[:2]
    return sum(_LAST_MINOR.get(one, 19) + 1 for one in range(4, major)) + minor
