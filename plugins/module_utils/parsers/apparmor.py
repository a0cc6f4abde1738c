# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""AppArmor's denials in a kernel or audit log -> facts. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.linux import key_values

# The driver's nodes and libraries, and the hook that injects them.
_GPU_PATH = re.compile(r"/dev/nvidia|/proc/driver/nvidia|libcuda|libnvidia|nvidia-container")


@dataclass(frozen=True)
class Denial:
    """One `apparmor="DENIED"` line: operation, profile, the name that was denied, and the line."""

    operation: str
    profile: str
    name: str
    line: str

    @property
    def on_gpu(self) -> bool:
        """Whether it kept somebody from the GPU; nvidia_modprobe's own profile denies what nvidia-modprobe does not need."""
        return bool(_GPU_PATH.search(self.name)) and self.profile != "nvidia_modprobe"


def denials(text: str) -> tuple[Denial, ...]:
    """Every denial of a text."""
    lines = [line.strip() for line in text.splitlines() if 'apparmor="DENIED"' in line]
    return tuple(_denial(line) for line in lines)


def _denial(line: str) -> Denial:
    fields = key_values("\n".join(re.findall(r'\b\w+="[^"]*"', line)))
    return Denial(fields.get("operation", ""), fields.get("profile", ""), fields.get("name", ""), line)
