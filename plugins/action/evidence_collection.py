# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Writes the bundles that `node_check` brought from the nodes, by default without the site's identifiers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.goldnode.gpu.plugins.plugin_utils.collection import collect, write_collection

ARGUMENT_SPEC = {
    "nodes": {"type": "list", "elements": "str", "required": True},
    "register": {"type": "str", "required": True},
    "collection_path": {"type": "path", "required": True},
    "report_dir": {"type": "path", "required": True},
    "started_at": {"type": "str", "required": True},
    "keep_identifiers": {"type": "bool", "default": False},
}


class ActionModule(ActionBase):
    """See the documentation of the module of the same name."""

    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        _result, given = self.validate_argument_spec(ARGUMENT_SPEC)
        hostvars = (task_vars or {})["hostvars"]
        target = Path(given["collection_path"])
        # Read here, not through a template: a fleet's bundles would be copied for nothing.
        answers = {name: hostvars[name].get(given["register"]) for name in given["nodes"]}
        addresses = [str(hostvars[name]["ansible_host"]) for name in given["nodes"] if hostvars[name].get("ansible_host")]
        try:
            result = collect(answers, target, addresses, given["keep_identifiers"], given["started_at"])
            lines = write_collection(result, target, Path(given["report_dir"]))
        except OSError as error:
            raise AnsibleActionFail(f"{error.filename} cannot be written: {error.strerror}. Give another path, or space") from error
        self._display.display("\n" + "\n".join(lines) + "\n")
        return {"changed": False, "outcome": result["outcome"], "lines": lines, "result": result}
