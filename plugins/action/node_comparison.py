# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Compares two nodes, or the bundles of two, and shows what differs on the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.goldnode.gpu.plugins.plugin_utils.bundles import UnreadableError, read
from ansible_collections.goldnode.gpu.plugins.plugin_utils.compare import compare, write_comparison
from ansible_collections.goldnode.gpu.plugins.plugin_utils.reports import node_result

ARGUMENT_SPEC = {
    "good": {"type": "str", "required": True},
    "bad": {"type": "str", "required": True},
    "register": {"type": "str", "required": True},
    "report_dir": {"type": "path", "required": True},
    "started_at": {"type": "str", "required": True},
}


class ActionModule(ActionBase):
    """See the documentation of the module of the same name."""

    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        _result, given = self.validate_argument_spec(ARGUMENT_SPEC)
        hostvars = (task_vars or {})["hostvars"]
        if given["good"] not in hostvars and Path(given["good"]).resolve() == Path(given["bad"]).resolve():
            raise AnsibleActionFail(f"{given['good']} and {given['bad']} are one file; give the bundles of two nodes")
        good, bad = (evidence_of(given[side], hostvars, given["register"]) for side in ("good", "bad"))
        result = compare(good, bad, (given["good"], given["bad"]), given["started_at"])
        try:
            lines = write_comparison(result, Path(given["report_dir"]))
        except OSError as error:
            raise AnsibleActionFail(f"{error.filename} cannot be written: {error.strerror}. Give another path, or space") from error
        self._display.display("\n" + "\n".join(lines) + "\n")
        return {"changed": False, "outcome": result["outcome"], "lines": lines, "result": result}


def evidence_of(name: str, hostvars: Mapping[str, Mapping[str, Any]], register: str) -> Mapping[str, Any]:
    """The evidence of a node of the inventory, as `node_check` registered it, or of a bundle in a file; raises with one sentence."""
    if name not in hostvars:
        try:
            return read(Path(name)).evidence
        except UnreadableError as error:
            raise AnsibleActionFail(f"{name} is no node of the inventory and no bundle: {error}") from error
    answer = hostvars[name].get(register) or {}
    if "evidence" not in answer:
        raise AnsibleActionFail(f"{name} cannot be compared: {node_result(answer)['reason']}")
    evidence: Mapping[str, Any] = answer["evidence"]
    return evidence
