# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""NVIDIA's kernel modules by name, and what a failed build says. Pure."""

from __future__ import annotations

import re

# NVIDIA's own file name first, then Debian's (nvidia-graphics-drivers of bookworm to sid).
FILE_NAMES = ("nvidia", "nvidia-current", "nvidia-current-open")
# What decides in a make.log of DKMS, the most telling first: the compiler, make, DKMS itself.
_DECIDING = (r"\berror:", r"\*\*\*.*(?:Error|Stop)", r"^(?:Error!|ERROR)")


def loaded_names(modules: str) -> list[str]:
    """NVIDIA's modules in /proc/modules, in an order in which they can be removed: the newest, which needs the others, is first there."""
    names = [line.split()[0] for line in modules.splitlines() if line.strip()]
    return [name for name in names if name == "nvidia" or name.startswith("nvidia_")]


def deciding_line(log: str) -> str:
    """The line of a build log that says why there is no module: the first error of the most telling kind."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    for pattern in _DECIDING:
        found = next((line for line in lines if re.search(pattern, line)), None)
        if found:
            return found
    return lines[-1] if lines else "the build wrote no log"
