# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The container toolkit's releases, and what they need of engine, driver and host; faults and vulnerabilities are in module_utils.

Sources, collected 2026-11-30: NVIDIA/cloud-native-docs container-toolkit release notes and NVIDIA/nvidia-container-toolkit CHANGELOG.md (2026-08-21).
"""

from __future__ import annotations

from typing import NamedTuple

NOTES = "NVIDIA Container Toolkit release notes"

KNOWN = (
    "1.8.0",
    "1.9.0",
    "1.10.0",
    "1.11.0",
    "1.12.0",
    "1.12.1",
    "1.13.0",
    "1.13.5",
    "1.14.0",
    "1.14.1",
    "1.14.3",
    "1.14.4",
    "1.14.5",
    "1.14.6",
    "1.15.0",
    "1.16.0",
    "1.16.1",
    "1.16.2",
    "1.17.0",
    "1.17.1",
    "1.17.2",
    "1.17.3",
    "1.17.4",
    "1.17.5",
    "1.17.6",
    "1.17.7",
    "1.17.8",
    "1.17.9",
    "1.18.0",
    "1.18.1",
    "1.18.2",
    "1.19.0",
    "1.19.1",
    "1.20.0",
)


class KnownBad(NamedTuple):
    """Releases from `since` up to, not including, `fixed` that should not be taken; `note`: only in an uncommon place."""

    since: str
    fixed: str
    words: str
    source: str
    note: bool = False


KNOWN_BAD = (
    KnownBad("1.11.0", "1.12.0", "its split packages leave nvidia-container-runtime missing after an upgrade", "NVIDIA/nvidia-container-toolkit #34, #59"),
    KnownBad("1.14.0", "1.14.1", "it ignores its config.toml", "NVIDIA/nvidia-container-toolkit #108, #381"),
    KnownBad(
        "1.17.0", "1.17.1", "its hook create-symlinks refuses links that are there already, and containers do not start", "NVIDIA/nvidia-container-toolkit #772"
    ),
    KnownBad(
        "1.17.7",
        "1.17.8",
        "it fails where nvidia-container-cli is called directly (enroot, LXC) or the packages are of mixed versions",
        "NVIDIA/nvidia-container-toolkit #1093",
    ),
    KnownBad(
        "1.18.0",
        "1.18.2",
        "NVIDIA_VISIBLE_DEVICES=none gives all GPUs, and the driver's IPC sockets are read-only",
        NOTES + " 1.18.2; NVIDIA/nvidia-container-toolkit pull 1594",
    ),
    KnownBad(
        "1.20.0",
        "1.20.1",
        "its hook update-application-profile fails in containers that mount /etc/nvidia read-only",
        "NVIDIA/nvidia-container-toolkit #2026; awslabs/amazon-eks-ami #2790",
        note=True,
    ),
    KnownBad(
        "1.19.1",
        "1.20.0",
        "a public report has CUDA fail with 999 in its containers; the cause was never stated",
        "NVIDIA/nvidia-container-toolkit #1967",
        note=True,
    ),
)

# The driver's character devices are called `nvidia` since 550, which the toolkit knows since 1.14.6.
DRIVER_550 = (550, "1.14.6")
# containerd's configuration version 3 (2.0 and later) can be written since 1.17.4.
CONTAINERD_2 = ((2, 0), "1.17.4")
# libnvidia-container gives device access under cgroup 2 since 1.8.0.
CGROUP_2_SINCE = "1.8.0"
# CUDA's forward compatibility libraries were not mounted by this release alone.
NO_COMPAT = ((1, 17, 4), (1, 17, 5))
