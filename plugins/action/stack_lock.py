# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Action twin of the module stack_lock: pins, repositories and locks are read on the controller."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.difference import summary
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import read_lock, render
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.pools import inventory_of, pool_problems
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.resolve import PoolFiles, resolve_pool
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.files import admitted, read_waivers
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.model import WARNING

ARGUMENTS = {
    "state": {"type": "str", "choices": ["present", "read"], "required": True},
    "pool": {"type": "str"},
    "inventory": {"type": "path"},
    "path": {"type": "path"},
}


class ActionModule(ActionBase):
    """Runs on the controller and never connects to the host of its task."""

    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        _, arguments = self.validate_argument_spec(ARGUMENTS, required_if=[("state", "present", ["pool"]), ("state", "read", ["path"])])
        try:
            if arguments["state"] == "read":
                return {"changed": False, "path": arguments["path"], "lock": read_lock(Path(arguments["path"]))}
            return self._present(arguments, task_vars or {})
        except LockError as error:
            raise AnsibleActionFail(str(error)) from None
        except OSError as error:
            raise AnsibleActionFail(
                f"{error.filename or 'a file'}: {error.strerror}; the lock that was there is as it was: mend the place, and lock again"
            ) from None

    def _present(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        # formatted, since core's tagged text cannot be written as YAML
        files = PoolFiles(f"{arguments['pool']}", Path(arguments["inventory"] or inventory_of(task_vars, arguments["pool"])))
        wrong = pool_problems(task_vars["groups"], files.pool)
        if wrong:
            raise LockError(f"inventory {files.inventory}: {'; '.join(wrong)}.")
        lock = resolve_pool(files)
        report = admitted(lock["pins"], read_waivers(files.waivers), datetime.now(timezone.utc).date(), f"pins.yml of pool {files.pool} ({files.pins})")
        warnings = [f"{one.severity:<17}  {one.reason}" for one in report.of(WARNING)]
        before, after = files.lock.read_text(encoding="utf-8", errors="replace") if files.lock.is_file() else "", render(lock)
        former = _former(files.lock)
        changed = before != after
        if changed and not self._task.check_mode:
            write_text(files.lock, after)
        diff = {"before_header": str(files.lock), "after_header": str(files.lock), "before": before, "after": after}
        return {"changed": changed, "path": str(files.lock), "lock": lock, "summary": [*summary(lock, former), *warnings], "diff": diff}


def _former(path: Path) -> dict[str, Any] | None:
    # a damaged lock is no reason not to write a good one
    try:
        return read_lock(path)
    except LockError:
        return None
