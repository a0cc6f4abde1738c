# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Action twin of plugins/modules/package_repository.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import repository
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.action import STATE_DIR, LabAction, Params


class ActionModule(LabAction):
    ARGUMENTS: ClassVar[Params] = {
        **STATE_DIR,
        "label": {"type": "str", "required": True},
        "suite": {"type": "str", "default": "trixie"},
        "packages": {"type": "list", "elements": "path", "required": True},
        "kernels": {"type": "list", "elements": "str"},
        "later_revisions": {"type": "list", "elements": "str", "default": []},
    }

    def apply(self, params: Params) -> dict[str, Any]:
        lab = self.lab(params)
        debs = [Path(path) for path in params["packages"]]
        if params["kernels"] is not None:
            debs = repository.with_kernels(debs, params["kernels"])
        debs += repository.later(lab, debs, params["later_revisions"])
        changed = repository.publish(lab, params["label"], params["suite"], debs)
        return {"changed": changed, "packages": sorted(deb.name for deb in debs)}
