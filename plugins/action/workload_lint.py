# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Lints Compose files and Kubernetes manifests, writes the result and shows it on the terminal, as it is: through debug its columns would be folded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.goldnode.gpu.plugins.plugin_utils.workload.lint import lint, write_result

ARGUMENT_SPEC = {
    "path": {"type": "path", "required": True},
    "report_dir": {"type": "path", "required": True},
}


class ActionModule(ActionBase):
    """See the documentation of the module of the same name."""

    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        _result, given = self.validate_argument_spec(ARGUMENT_SPEC)
        place = Path(given["path"])
        if not place.exists():
            raise AnsibleActionFail(f"{place} is not there; give a Compose file, a manifest or a directory of them: -e workload=<path>")
        result = lint(place)
        try:
            lines = write_result(result, Path(given["report_dir"]))
        except OSError as error:
            raise AnsibleActionFail(f"the report cannot be written: {error}; give another place by -e goldnode_report_dir=<path>") from error
        self._display.display("\n" + "\n".join(lines) + "\n")
        return {"changed": False, "outcome": result["outcome"], "lines": lines, "result": result}
