# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the lab's actions share: arguments checked, one sentence on failure, the time that they took.

Controller only. Each action is a thin class over the functions of this package; its documentation is its twin in plugins/modules.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.commands import LabError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.identity import Lab, read_record
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.preflight import check_root

Params = dict[str, Any]


class LabAction(ActionBase):  # type: ignore[misc]
    """An action on the lab whose state is at `state_dir`."""

    _requires_connection = False
    _supports_check_mode = False
    ARGUMENTS: ClassVar[Params] = {}
    REQUIRED_IF: ClassVar[Sequence[tuple[str, str, list[str]]]] = ()

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        _, params = self.validate_argument_spec(argument_spec=self.ARGUMENTS, required_if=list(self.REQUIRED_IF))
        begun = time.monotonic()
        try:
            check_root()
            result = self.apply(params)
        except LabError as error:
            raise AnsibleActionFail(str(error)) from error
        return {**result, "seconds": round(time.monotonic() - begun, 1)}

    def apply(self, params: Params) -> dict[str, Any]:
        """Bring about what the parameters ask for; returns at least `changed`."""
        raise NotImplementedError

    @staticmethod
    def lab(params: Params) -> Lab:
        return read_record(Path(params["state_dir"]))


STATE_DIR = {"state_dir": {"type": "path", "required": True}}
