# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Action twin of the module stack_expiry: repositories and locks are read on the controller."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import read_lock
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.expiry import standings, write_result
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.pools import inventory_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.resolve import PoolFiles, read_offers

ARGUMENTS = {
    "pool": {"type": "str", "required": True},
    "lock_file": {"type": "path"},
    "report_dir": {"type": "path", "required": True},
}


class ActionModule(ActionBase):
    """Runs on the controller and never connects to the host of its task."""

    _requires_connection = False
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        _, arguments = self.validate_argument_spec(ARGUMENTS)
        files = PoolFiles(f"{arguments['pool']}", inventory_of(task_vars or {}, arguments["pool"]))
        try:
            lock = read_lock(Path(arguments["lock_file"] or files.lock), files.pool)
            found = standings(lock, read_offers(files, lock["pins"]["os"]).packages)
            result, lines = write_result(lock, found, Path(arguments["report_dir"]))
        except LockError as error:
            raise AnsibleActionFail(str(error)) from None
        except OSError as error:
            raise AnsibleActionFail(f"the report cannot be written: {error}; give another place by -e goldnode_report_dir=<path>") from error
        self._display.display("\n" + "\n".join(lines) + "\n")
        return {"changed": False, "outcome": result["outcome"], "lines": lines, "result": result}
