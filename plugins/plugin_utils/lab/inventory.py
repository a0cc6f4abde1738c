# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The lab's inventory: `inventories/lab` copied to `<state>/inventory`, completed with literals (addresses, digests, pins)."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.identity import Lab


def inventory_dir(lab: Lab) -> Path:
    return lab.state / "inventory"


def ssh_config_path(lab: Lab) -> Path:
    return inventory_dir(lab) / "ssh_config"
