# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the roles configure on a node, by digest: in an image's manifest, and as a record on the node that later edits are seen against."""

from __future__ import annotations

import hashlib
from pathlib import Path

RECORD = "/etc/goldnode/configuration.json"
RECORD_SCHEMA = "goldnode.configuration/v1"
# A file that a pool does not have is simply not listed.
CONFIGURATION = (
    "etc/apt/preferences.d/*",
    "etc/apt/sources.list.d/*",
    "etc/containerd/conf.d/*.toml",
    "etc/containerd/config.toml",
    "etc/containers/containers.conf.d/*.conf",
    "etc/default/grub.d/*",
    "etc/docker/daemon.json",
    "etc/modprobe.d/*",
    "etc/modules-load.d/*",
    "etc/nvidia-container-runtime/config.toml",
    "usr/lib/goldnode/*.py",
)


def digests(root: Path, patterns: tuple[str, ...] = CONFIGURATION) -> dict[str, str]:
    """Absolute path below `root` -> `sha256:<hex>` of every plain file that a pattern matches, by path."""
    files = sorted(path for pattern in patterns for path in root.glob(pattern) if path.is_file() and not path.is_symlink())
    return {f"/{path.relative_to(root)}": "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
