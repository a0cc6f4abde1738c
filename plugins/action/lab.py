# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Action twin of plugins/modules/lab.py."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import claim, identity, inventory, keys, limits, network, preflight, teardown
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.action import LabAction, Params


def make(lab_id: str, source: Path, pools: list[str]) -> tuple[identity.Lab, list[inventory.Node], bool]:
    """Numbers and keys for all nodes of the inventory; a lab that is there keeps what it has."""
    hosts = inventory.with_pools(inventory.read_yaml(source / "hosts.yml"), inventory.read_yaml(source / inventory.PROFILES), pools)
    nodes = inventory.nodes(hosts)
    state = identity.STATE_HOME / lab_id
    if identity.record_path(state).exists():
        lab = identity.read_record(state)
    else:
        lab = identity.Lab(lab_id, str(identity.free_subnet(lab_id, network.machine_networks())))
    lab = identity.with_nodes(lab, [node.name for node in nodes])
    raised = limits.raise_to(limits.INOTIFY_INSTANCES, limits.LEAST)
    changed = identity.write_record(lab) or raised
    keys.ensure_all(lab)
    return lab, nodes, changed


def described(lab: identity.Lab, nodes: list[inventory.Node]) -> dict[str, Any]:
    listed = [{"name": node.name, "pool": node.pool, "address": lab.address(node.name), "profile": node.profile} for node in nodes]
    places = {
        "authority": str(keys.authority(lab)),
        "inventory": str(inventory.inventory_dir(lab) / "hosts.yml"),
        "ssh_config": str(inventory.ssh_config_path(lab)),
    }
    urls = {"hub": lab.hub, "registry": lab.registry, "repository_uri": lab.repository_uri, "subnet": lab.subnet}
    return {"id": lab.id, "environment": inventory.ENVIRONMENT, "state_dir": str(lab.state), "nodes": listed, **places, **urls}


PLAYBOOKS = {"present": "create_lab", "absent": "destroy_lab"}


class ActionModule(LabAction):
    ARGUMENTS: ClassVar[Params] = {
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        "clone": {"type": "path", "required": True},
        "pools": {"type": "list", "elements": "str", "default": []},
    }

    def apply(self, params: Params) -> dict[str, Any]:
        lab_id = identity.lab_id(Path(params["clone"]), os.environ.get("GOLDNODE_LAB", ""))
        # The playbook's main process is this worker's parent.
        claim.take(lab_id, PLAYBOOKS[params["state"]], os.getppid())
        if params["state"] == "absent":
            return self._remove(lab_id)
        preflight.check(identity.STATE_HOME)
        lab, nodes, changed = make(lab_id, Path(params["clone"]) / "inventories/lab", params["pools"])
        return {"changed": changed, "lab": described(lab, nodes)}

    @staticmethod
    def _remove(lab_id: str) -> dict[str, Any]:
        """Names are enough to find everything, so a half-made lab without a record goes too."""
        changed = teardown.destroy(identity.Lab(lab_id, "0.0.0.0/24"))
        claim.release(lab_id)
        return {"changed": changed, "lab": {"id": lab_id, "state_dir": str(identity.STATE_HOME / lab_id)}}
