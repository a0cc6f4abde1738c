# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What makes a root this node and no other: names, keys, profile. Written before the first boot, never part of an image."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import keys
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.identity import Lab


def hosts_file(lab: Lab) -> str:
    """Every node knows every other by name; there is no resolver."""
    lines = ["127.0.0.1 localhost", "::1 localhost", f"{lab.hub} hub", *(f"{lab.address(node)} {node}" for node in sorted(lab.nodes))]
    return "".join(f"{line}\n" for line in lines)


def record_profile(lab: Lab, node: str, profile: Mapping[str, Any]) -> bool:
    """The hardware belongs to the node like its host key: it outlives every root."""
    return write_text(_profile_path(lab, node), json.dumps({**profile, "node": node}, indent=2, sort_keys=True) + "\n")


def _profile_path(lab: Lab, node: str) -> Path:
    return lab.node_dir(node) / "profile.yml"


def files(lab: Lab, node: str) -> dict[str, tuple[str, int]]:
    """Path below the root -> (content, mode). The profile is written as JSON, which is YAML too."""
    host_key = keys.host_key(lab, node)
    authorized = keys.user_key(lab).with_name("id_ed25519.pub").read_text()
    return {
        "etc/hostname": (f"{node}\n", 0o644),
        "etc/hosts": (hosts_file(lab), 0o644),
        "etc/resolv.conf": ("", 0o644),
        "etc/machine-id": ("", 0o444),
        "etc/ssh/ssh_host_ed25519_key": (host_key.read_text(), 0o600),
        "etc/ssh/ssh_host_ed25519_key.pub": (host_key.with_name(f"{host_key.name}.pub").read_text(), 0o644),
        "root/.ssh/authorized_keys": (authorized, 0o600),
        "etc/goldnode-lab/profile.yml": (_profile_path(lab, node).read_text(), 0o644),
        f"etc/docker/certs.d/{lab.registry}/ca.crt": (keys.authority(lab).read_text(), 0o644),
    }


def write(lab: Lab, node: str, root: Path) -> None:
    (root / "root/.ssh").mkdir(mode=0o700, parents=True, exist_ok=True)
    for stale in (root / "etc/ssh").glob("ssh_host_*"):
        stale.unlink()
    for path, (content, mode) in files(lab, node).items():
        write_text(root / path, content, mode)
