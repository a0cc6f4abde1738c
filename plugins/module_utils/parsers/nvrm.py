# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the NVIDIA kernel module says in the kernel log -> facts. Pure.

The module breaks its sentences over lines that each begin with `NVRM:`, behind whatever dmesg, journald or syslog put in front; `sentences` undoes that.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.nvidia import VERSION

# "[  12.3] ", "Mon Mar 6 21:34:31 2023] ", "Dec  2 11:49:53 host kernel: [  885.2] ", "2025-05-27T09:12:27.95 host kernel: "
_PREFIX = re.compile(r"^(?:\S.*?\bkernel: ?)?\s*(?:\[[^\]]*\]\s*)?(?:NVRM:\s*)?")

_MISMATCHES = (
    rf"API mismatch: the client (?:'[^']*' \(pid \d+\) )?has the version (?P<library>{VERSION}), but this kernel module has the version (?P<module>{VERSION})",
    rf"API mismatch: the NVIDIA kernel module has version (?P<module>{VERSION}), but this NVIDIA driver component has version (?P<library>{VERSION})",
)


class AdapterFailure(NamedTuple):
    """`RmInitAdapter failed!`: the GPU's PCI address (None: not told), and the status in the middle of the code."""

    device: str | None
    status: int | None
    code: str


class Mismatch(NamedTuple):
    """Versions of a user space and of the loaded module that refused each other."""

    library: str
    module: str


def sentences(text: str) -> str:
    """The log without its prefixes and line breaks."""
    return " ".join(part for part in (_PREFIX.sub("", line).strip() for line in text.splitlines()) if part)


def mismatch(words: str) -> Mismatch | None:
    """The last API mismatch of the log's sentences."""
    found = [match for pattern in _MISMATCHES for match in re.finditer(pattern, words)]
    return Mismatch(found[-1].group("library"), found[-1].group("module")) if found else None


def loaded(words: str) -> tuple[str, str] | None:
    """Version and kind of the module that was loaded last: `NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  550.163.01`."""
    found = re.findall(rf"loading NVIDIA UNIX (Open )?\S*\s?Kernel Module(?: for \S+)?\s+{VERSION}", words)
    return (found[-1][1], "open" if found[-1][0] else "proprietary") if found else None


def adapter_failures(words: str) -> tuple[AdapterFailure, ...]:
    """Each GPU that the module could not initialise."""
    found = {}
    for device, code in re.findall(r"(?:GPU (\S+?): )?RmInitAdapter failed! \(([0-9a-fx:]+)\)", words):
        parts = code.split(":")
        found[device] = AdapterFailure(device.lower() or None, int(parts[1], 16) if len(parts) > 1 and parts[1].startswith("0x") else None, code)
    return tuple(found.values())
