# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Action twin of plugins/modules/lab_network.py."""

from __future__ import annotations

from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import machines, network
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.action import STATE_DIR, LabAction, Params


class ActionModule(LabAction):
    ARGUMENTS = STATE_DIR

    def apply(self, params: Params) -> dict[str, Any]:
        lab = self.lab(params)
        changed = network.ensure_hub(lab)
        made = [node for node in lab.nodes if network.ensure_node(lab, node)]
        for node in made:
            # A machine that still runs lives in the namespace that was.
            machines.cut_power(lab, node)
        return {"changed": changed or bool(made), "nodes": made}
