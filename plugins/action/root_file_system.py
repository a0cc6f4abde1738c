# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Action twin of plugins/modules/root_file_system.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import roots
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.action import STATE_DIR, LabAction, Params
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.identity import Lab


def ensure_template(lab: Lab, params: Params) -> dict[str, Any]:
    packages = [Path(path) for path in params["packages"]]
    key = roots.template_key(params["name"], packages)
    changed = roots.ensure_template(lab, key, Path(params["archive"]), packages)
    if params["export"]:
        changed = roots.export(lab, key) or changed
    return {"changed": changed, "template": key, "path": str(roots.template(lab, key)), "exported": str(roots.exported(lab, key))}


def ensure_present(lab: Lab, params: Params) -> dict[str, Any]:
    changed = roots.ensure_root(lab, params["name"], params["template"])
    return {"changed": changed, "path": str(roots.roots_dir(lab) / params["name"])}


def ensure_absent(lab: Lab, params: Params) -> dict[str, Any]:
    path = roots.roots_dir(lab) / params["name"]
    return {"changed": roots.remove(path), "path": str(path)}


STATES = {"template": ensure_template, "present": ensure_present, "absent": ensure_absent}


class ActionModule(LabAction):
    ARGUMENTS: ClassVar[Params] = {
        **STATE_DIR,
        "state": {"type": "str", "choices": list(STATES), "default": "present"},
        "name": {"type": "str", "required": True},
        "archive": {"type": "path"},
        "packages": {"type": "list", "elements": "path", "default": []},
        "template": {"type": "str"},
        "export": {"type": "bool", "default": False},
    }
    REQUIRED_IF = (("state", "template", ["archive"]), ("state", "present", ["template"]))

    def apply(self, params: Params) -> dict[str, Any]:
        lab = self.lab(params)
        method = roots.ensure_store(lab)
        return {**STATES[params["state"]](lab, params), "method": method}
