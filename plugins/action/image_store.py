# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Action twin of the module image_store: the store lies on the controller, so all work is done here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.goldnode.gpu.plugins.plugin_utils.image_store import ImageStore, StoreError

ARGUMENTS = {
    "state": {"type": "str", "choices": ["present", "read", "listed"], "required": True},
    "state_dir": {"type": "path", "required": True},
    "path": {"type": "path"},
    "digest": {"type": "str"},
    "key": {"type": "str"},
    "manifest": {"type": "path"},
    "build": {"type": "dict"},
}


class ActionModule(ActionBase):
    """Runs on the controller and never connects to the host of its task."""

    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        _, arguments = self.validate_argument_spec(
            ARGUMENTS,
            required_if=[("state", "present", ["path"]), ("state", "read", ["digest", "key"], True)],
            required_by={"build": ["key", "manifest"]},
            mutually_exclusive=[("digest", "key")] if self._task.args.get("state") == "read" else [],
        )
        store = ImageStore(Path(arguments["state_dir"]))
        try:
            return _STATES[arguments["state"]](store, arguments)
        except (StoreError, FileNotFoundError) as error:
            raise AnsibleActionFail(str(error)) from error


def _present(store: ImageStore, arguments: dict[str, Any]) -> dict[str, Any]:
    before = set(store.list())
    digest = store.put(Path(arguments["path"]))
    if arguments["build"] is None:
        return {"changed": digest not in before, "digest": digest, "path": str(store.path(digest))}
    manifest_digest = store.put(Path(arguments["manifest"]))
    store.record(arguments["key"], {**arguments["build"], "image_digest": digest, "manifest_digest": manifest_digest})
    return {"changed": True, **_found(store, store.record_of(digest))}


def _read(store: ImageStore, arguments: dict[str, Any]) -> dict[str, Any]:
    if arguments["digest"] is not None:
        return {"changed": False, "digest": arguments["digest"], "path": str(store.path(arguments["digest"]))}
    record = store.built(arguments["key"])
    return {"changed": False, "record": None} if record is None else {"changed": False, **_found(store, record)}


def _listed(store: ImageStore, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"changed": False, "digests": store.list()}


def _found(store: ImageStore, record: dict[str, Any]) -> dict[str, Any]:
    return {
        "record": record,
        "digest": record["image_digest"],
        "path": str(store.path(record["image_digest"])),
        "manifest_path": str(store.path(record["manifest_digest"])),
    }


_STATES = {"present": _present, "read": _read, "listed": _listed}
