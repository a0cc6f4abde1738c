# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Judges a pin set, writes the report and shows it on the terminal, as it is: through debug its columns would be folded."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import is_same
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.files import check_file, result, write_report

ARGUMENT_SPEC = {
    "pins_file": {"type": "path", "required": True},
    "report": {"type": "path", "required": True},
    "today": {"type": "str", "required": True},
}


class ActionModule(ActionBase):
    """See the documentation of the module of the same name."""

    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        _result, given = self.validate_argument_spec(ARGUMENT_SPEC)
        try:
            today = date.fromisoformat(given["today"])
        except ValueError:
            raise AnsibleActionFail(f"today is {given['today']}; expected a day, YYYY-MM-DD") from None
        judged = Path(given["pins_file"])
        if any(is_same(place, Path(given["report"])) for place in (judged, judged.with_name("waivers.yml"))):
            raise AnsibleActionFail(f"report is {given['report']}, which is what is judged; give another place by -e report=<json>")
        found = result(check_file(judged, today), given["pins_file"], today)
        try:
            lines = write_report(found, Path(given["report"]))
        except OSError as error:
            raise AnsibleActionFail(f"the report cannot be written: {error}; give another place by -e report=<json>") from error
        self._display.display("\n" + "\n".join(lines) + "\n")
        return {"changed": False, "outcome": found["outcome"], "lines": lines, "result": found}
