# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Writes the result of a validation."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any, ClassVar

from ansible_collections.goldnode.gpu.plugins.plugin_utils.report_action import Given, Report, ReportAction
from ansible_collections.goldnode.gpu.plugins.plugin_utils.reports import node_result, validation, write_validation


class ActionModule(ReportAction):
    """See the documentation of the module of the same name."""

    ARGUMENTS: ClassVar[dict[str, Any]] = {
        "pool": {"type": "str", "required": True},
        "nodes": {"type": "list", "elements": "str", "required": True},
        "register": {"type": "str", "required": True},
        "started_at": {"type": "str", "required": True},
    }

    def report(self, given: Given, place: Path, variables: Given) -> Report:
        hostvars = variables["hostvars"]
        # Read here, not through a template: a fleet's bundles would be copied for nothing.
        nodes = {name: node_result(hostvars[name].get(given["register"])) for name in given["nodes"]}
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        result = validation(given["pool"], nodes, given["started_at"], now)
        return result, write_validation(result, place)
