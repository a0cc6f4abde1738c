# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Action twin of the module package_mirror: locks, keys and mirrors are the controller's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import read_lock
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.mirror import Mirror, fill, page, plan, refuse_other_folder, signer
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.pools import inventory_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.resolve import PoolFiles

ARGUMENTS = {
    "pool": {"type": "str", "required": True},
    "path": {"type": "path", "required": True},
    "url": {"type": "str"},
    "lock_file": {"type": "path"},
    "signing_key": {"type": "path"},
    "signing_home": {"type": "path"},
    "signing_fingerprint": {"type": "str"},
}
CONDITIONS = {"required_one_of": [("signing_key", "signing_home")], "mutually_exclusive": [("signing_key", "signing_home")]}


class ActionModule(ActionBase):
    """Runs on the controller and never connects to the host of its task."""

    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        _, given = self.validate_argument_spec(ARGUMENTS, **CONDITIONS)
        try:
            return self._mirror(given, task_vars or {})
        except LockError as error:
            raise AnsibleActionFail(str(error)) from None
        except OSError as error:
            said = f"{error.filename or given['path']} cannot be read or written: {error.strerror or error}"
            raise AnsibleActionFail(f"{said}. Settle that and run the same command again; what was fetched stays") from None

    def _mirror(self, given: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        # formatted, since core's tagged text cannot be written as YAML
        files = PoolFiles(f"{given['pool']}", inventory_of(variables, given["pool"]))
        folder = Path(given["path"]).absolute()
        mirror = Mirror(folder, f"{given['url'] or folder.as_uri()}", read_lock(Path(given["lock_file"] or files.lock), files.pool))
        refuse_other_folder(mirror)
        secret, home = (Path(given[name]) if given[name] else None for name in ("signing_key", "signing_home"))
        with signer(secret, home, given["signing_fingerprint"]) as key:
            todo = plan(mirror, key.fingerprint)
            if todo.changes and not self._task.check_mode:
                fill(mirror, todo, key)
        return {
            "changed": todo.changes,
            "path": str(folder),
            "url": mirror.url,
            "lock_digest": mirror.lock["digest"],
            "fingerprint": key.fingerprint,
            "fetched": [f"{one.name} {one.version}" for one in todo.fetch],
            "removed": list(todo.remove),
            "summary": list(page(mirror, todo, done=not self._task.check_mode)),
        }
