# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Compares nodes' evidence with their locks, writes the result and shows it on the terminal, as it is: through debug its columns would be folded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.goldnode.gpu.plugins.plugin_utils.bundles import UnreadableError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.drift.compare import drift
from ansible_collections.goldnode.gpu.plugins.plugin_utils.drift.fleet import Result, node_part, of_bundles, unseen_part, write_result
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import read_lock

ARGUMENT_SPEC = {
    "nodes": {"type": "list", "elements": "str"},
    "register": {"type": "str"},
    "wanted": {"type": "str"},
    "pool": {"type": "str"},
    "evidence_path": {"type": "path"},
    "lock_file": {"type": "path"},
    "report_dir": {"type": "path", "required": True},
}


class ActionModule(ActionBase):
    """See the documentation of the module of the same name."""

    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        _result, given = self.validate_argument_spec(
            ARGUMENT_SPEC,
            required_together=[("nodes", "register", "wanted", "pool")],
            required_one_of=[("nodes", "evidence_path")],
            mutually_exclusive=[("nodes", "evidence_path")],
            required_by={"evidence_path": ["lock_file"]},
        )
        try:
            if given["evidence_path"]:
                stack = read_lock(Path(given["lock_file"]))
                pool, nodes = stack["pool"], of_bundles(Path(given["evidence_path"]), stack)
            else:
                pool, nodes = given["pool"], {name: _part((task_vars or {})["hostvars"][name], given) for name in given["nodes"]}
            result, lines = write_result(pool, nodes, Path(given["report_dir"]))
        except (LockError, UnreadableError) as error:
            raise AnsibleActionFail(str(error)) from None
        except OSError as error:
            raise AnsibleActionFail(f"the report cannot be written: {error}; give another place by -e goldnode_report_dir=<path>") from error
        self._display.display("\n" + "\n".join(lines) + "\n")
        return {"changed": False, "outcome": result["outcome"], "lines": lines, "result": result}


def _part(variables: Mapping[str, Any], given: Mapping[str, Any]) -> Result:
    """What was registered on a node, against what it should be: {stack, release}."""
    answer = variables.get(given["register"]) or {}
    wanted = variables.get(given["wanted"])
    if not (wanted or {}).get("stack") or "evidence" not in answer:
        return unseen_part(str(answer.get("msg") or "no answer"))
    return node_part(drift(answer["evidence"], wanted["stack"], wanted.get("release")), answer["evidence"].get("release"))
