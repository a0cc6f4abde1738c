# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a lab needs of this machine, asked before anything is touched."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import cgroups
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.commands import LabError, missing_programs

FREE_BYTES = 6 * 10**9
PROGRAMS = (
    *("apt-ftparchive", "apt-get", "chroot", "docker-registry", "dpkg-deb", "dpkg-scanpackages", "gpg", "gpgconf", "ip", "losetup"),
    *("mmdebstrap", "mount", "nsenter", "openssl", "ssh", "ssh-keygen", "systemd-nspawn", "tar", "zstd"),
)
NVIDIA_MODULE = Path("/sys/module/nvidia")


def check_root() -> None:
    if os.geteuid() != 0:
        raise LabError("the lab starts machines and networks, so it needs root; this is a plain user. Run it with sudo.")


def check_space(path: Path, free: int) -> None:
    if free < FREE_BYTES:
        raise LabError(f"the lab needs {FREE_BYTES / 1e9:.0f} GB free at {path}; there are {free / 1e9:.1f} GB. Make room, then run this again.")


def existing_parent(path: Path) -> Path:
    return path if path.exists() else existing_parent(path.parent)


def check(state_home: Path) -> None:
    """Everything at once that can be known beforehand."""
    check_root()
    missing = missing_programs(PROGRAMS)
    if missing:
        raise LabError(f"programs are missing: {', '.join(missing)}. Install them with: make setup")
    parent = existing_parent(state_home)
    check_space(parent, shutil.disk_usage(parent).free)
    cgroups.hierarchies(cgroups.MOUNTINFO.read_text())
    if NVIDIA_MODULE.exists():
        raise LabError("this machine has a real NVIDIA driver loaded; the lab's simulated device nodes use the same major 195. Use a machine without one.")
