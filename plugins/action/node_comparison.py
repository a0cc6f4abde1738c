# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Compares two nodes, or the bundles of two."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail
from ansible_collections.goldnode.gpu.plugins.plugin_utils.bundles import UnreadableError, read
from ansible_collections.goldnode.gpu.plugins.plugin_utils.compare import compare, write_comparison
from ansible_collections.goldnode.gpu.plugins.plugin_utils.report_action import Given, Report, ReportAction
from ansible_collections.goldnode.gpu.plugins.plugin_utils.reports import node_result


class ActionModule(ReportAction):
    """See the documentation of the module of the same name."""

    ARGUMENTS: ClassVar[dict[str, Any]] = {
        "good": {"type": "str", "required": True},
        "bad": {"type": "str", "required": True},
        "register": {"type": "str", "required": True},
        "started_at": {"type": "str", "required": True},
    }

    def report(self, given: Given, place: Path, variables: Given) -> Report:
        hostvars = variables["hostvars"]
        if given["good"] not in hostvars and Path(given["good"]).resolve() == Path(given["bad"]).resolve():
            raise AnsibleActionFail(f"{given['good']} and {given['bad']} are one file; give the bundles of two nodes")
        good, bad = (evidence_of(given[side], hostvars, given["register"]) for side in ("good", "bad"))
        result = compare(good, bad, (given["good"], given["bad"]), given["started_at"])
        return result, write_comparison(result, place)


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
