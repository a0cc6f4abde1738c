# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Action twin of plugins/modules/lab_inventory.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import inventory, keys
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.action import STATE_DIR, LabAction, Params


class ActionModule(LabAction):
    ARGUMENTS: ClassVar[Params] = {
        **STATE_DIR,
        "source": {"type": "path", "required": True},
        "pools": {"type": "list", "elements": "str", "default": []},
        "versions": {"type": "dict", "required": True},
        "base_image": {"type": "path", "required": True},
        "canary_image": {"type": "str", "required": True},
    }

    def apply(self, params: Params) -> dict[str, Any]:
        lab, source = self.lab(params), Path(params["source"])
        hosts = inventory.with_pools(inventory.read_yaml(source / "hosts.yml"), inventory.read_yaml(source / inventory.PROFILES), params["pools"])
        known = {"docker": inventory.engine_pins(params["versions"]), "canary_image": {"reference": params["canary_image"]}}
        contents = inventory.files(lab, source, hosts, keys.ensure_repository_key(lab), params["base_image"], known)
        changed = inventory.write(lab, contents)
        return {"changed": changed, "path": str(inventory.inventory_dir(lab) / "hosts.yml")}
