# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Compares nodes' evidence with their locks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from ansible_collections.goldnode.gpu.plugins.plugin_utils.drift.compare import drift
from ansible_collections.goldnode.gpu.plugins.plugin_utils.drift.fleet import Result, node_part, of_bundles, unseen_part, write_result
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import read_lock
from ansible_collections.goldnode.gpu.plugins.plugin_utils.report_action import Given, Report, ReportAction


class ActionModule(ReportAction):
    """See the documentation of the module of the same name."""

    ARGUMENTS: ClassVar[dict[str, Any]] = {
        "nodes": {"type": "list", "elements": "str"},
        "register": {"type": "str"},
        "wanted": {"type": "str"},
        "pool": {"type": "str"},
        "evidence_path": {"type": "path"},
        "lock_file": {"type": "path"},
    }
    CONDITIONS: ClassVar[dict[str, Any]] = {
        "required_together": [("nodes", "register", "wanted", "pool")],
        "required_one_of": [("nodes", "evidence_path")],
        "mutually_exclusive": [("nodes", "evidence_path")],
        "required_by": {"evidence_path": ["lock_file"]},
    }

    def report(self, given: Given, place: Path, variables: Given) -> Report:
        if given["evidence_path"]:
            stack = read_lock(Path(given["lock_file"]))
            return write_result(stack["pool"], of_bundles(Path(given["evidence_path"]), stack), place)
        return write_result(given["pool"], {name: _part(variables["hostvars"][name], given) for name in given["nodes"]}, place)


def _part(variables: Mapping[str, Any], given: Mapping[str, Any]) -> Result:
    """What was registered on a node, against what it should be: {stack, release}."""
    answer = variables.get(given["register"]) or {}
    wanted = variables.get(given["wanted"])
    if not (wanted or {}).get("stack") or "evidence" not in answer:
        return unseen_part(str(answer.get("msg") or "no answer"))
    return node_part(drift(answer["evidence"], wanted["stack"], wanted.get("release")), answer["evidence"].get("release"))
