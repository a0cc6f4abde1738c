# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Action twin of plugins/modules/nspawn_machine.py."""

from __future__ import annotations

from typing import Any, ClassVar

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import machines, network, node_files, roots
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.action import STATE_DIR, LabAction, Params
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.identity import Lab


def start(lab: Lab, node: str, params: Params) -> bool:
    """Root, identity, network, then the boot; a node that runs from a root that stays is left alone."""
    root = roots.roots_dir(lab) / node
    if params["profile"] is not None:
        node_files.record_profile(lab, node, params["profile"])
    if params["recreate"]:
        machines.cut_power(lab, node)
        roots.remove(root)
    if machines.running(lab, node):
        return False
    machines.cut_power(lab, node)
    roots.ensure_root(lab, node, params["template"], lambda fresh: node_files.write(lab, node, fresh))
    network.ensure_node(lab, node)
    machines.start(lab, node, root)
    return True


class ActionModule(LabAction):
    ARGUMENTS: ClassVar[Params] = {
        **STATE_DIR,
        "state": {"type": "str", "choices": ["started", "stopped", "absent"], "default": "started"},
        "name": {"type": "str", "required": True},
        "template": {"type": "str"},
        "profile": {"type": "dict"},
        "recreate": {"type": "bool", "default": False},
        "boot_seconds": {"type": "int", "default": 180},
    }

    def apply(self, params: Params) -> dict[str, Any]:
        lab, node = self.lab(params), params["name"]
        lab.address(node)
        if params["state"] == "started":
            changed = start(lab, node, params)
            return {"changed": changed, "system_state": machines.wait_booted(lab, node, params["boot_seconds"])}
        changed = machines.running(lab, node)
        machines.power_off(lab, node)
        if params["state"] == "absent":
            changed = roots.remove(roots.roots_dir(lab) / node) or changed
        return {"changed": changed}
