# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Action twin of the module pool_claim: the claim lies on the controller and is that of the running ansible-playbook."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pool_claim import ClaimError, take

ARGUMENTS = {"pool": {"type": "str", "required": True}, "state_dir": {"type": "path", "required": True}}


class ActionModule(ActionBase):
    """Runs on the controller and never connects to the host of its task."""

    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        _, arguments = self.validate_argument_spec(ARGUMENTS)
        try:
            # a worker's parent is ansible-playbook, which lives as long as the pool is being worked on
            take(Path(arguments["state_dir"]), arguments["pool"], os.getppid())
        except ClaimError as error:
            raise AnsibleActionFail(str(error)) from error
        return {"changed": False}
