# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Writes the result of a validation and shows it on the terminal, as it is: through debug its columns would be folded."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.goldnode.gpu.plugins.plugin_utils.reports import node_result, validation, write_validation

ARGUMENT_SPEC = {
    "pool": {"type": "str", "required": True},
    "nodes": {"type": "list", "elements": "str", "required": True},
    "register": {"type": "str", "required": True},
    "report_dir": {"type": "path", "required": True},
    "started_at": {"type": "str", "required": True},
}


class ActionModule(ActionBase):
    """See the documentation of the module of the same name."""

    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        _result, given = self.validate_argument_spec(ARGUMENT_SPEC)
        hostvars = (task_vars or {})["hostvars"]
        # Read here, not through a template: a fleet's bundles would be copied for nothing.
        nodes = {name: node_result(hostvars[name].get(given["register"])) for name in given["nodes"]}
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        result = validation(given["pool"], nodes, given["started_at"], now)
        lines = write_validation(result, Path(given["report_dir"]))
        self._display.display("\n" + "\n".join(lines) + "\n")
        return {"changed": False, "outcome": result["outcome"], "lines": lines, "result": result}
