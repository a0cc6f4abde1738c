# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Judges evidence bundles in files, without any node, and shows the page on the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.goldnode.gpu.plugins.plugin_utils.bundles import UnreadableError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.diagnosis import diagnose, write_page

ARGUMENT_SPEC = {
    "evidence_path": {"type": "path", "required": True},
    "diagnosis_path": {"type": "path", "required": True},
    "report_dir": {"type": "path", "required": True},
    "started_at": {"type": "str", "required": True},
    "stack": {"type": "dict"},
}


class ActionModule(ActionBase):
    """See the documentation of the module of the same name."""

    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        _result, given = self.validate_argument_spec(ARGUMENT_SPEC)
        target = Path(given["diagnosis_path"])
        try:
            target.mkdir(parents=True, exist_ok=True)
            result = diagnose(Path(given["evidence_path"]), target, given["stack"], given["started_at"])
            lines = write_page(result, target, Path(given["report_dir"]))
        except UnreadableError as error:
            raise AnsibleActionFail(str(error)) from error
        except ValueError as error:
            raise AnsibleActionFail(f"diagnosis_path or goldnode_report_dir is no path: {error}") from error
        except OSError as error:
            raise AnsibleActionFail(f"{error.filename} cannot be read or written: {error.strerror}. Give other paths, or space") from error
        self._display.display("\n" + "\n".join(lines) + "\n")
        return {"changed": False, "outcome": result["outcome"], "lines": lines}
