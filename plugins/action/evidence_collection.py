# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Writes the bundles that `node_check` brought from the nodes, by default without the site's identifiers."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from ansible_collections.goldnode.gpu.plugins.plugin_utils.collection import collect, write_collection
from ansible_collections.goldnode.gpu.plugins.plugin_utils.report_action import Given, Report, ReportAction


class ActionModule(ReportAction):
    """See the documentation of the module of the same name."""

    ARGUMENTS: ClassVar[dict[str, Any]] = {
        "nodes": {"type": "list", "elements": "str", "required": True},
        "register": {"type": "str", "required": True},
        "collection_path": {"type": "path", "required": True},
        "started_at": {"type": "str", "required": True},
        "keep_identifiers": {"type": "bool", "default": False},
    }

    def report(self, given: Given, place: Path, variables: Given) -> Report:
        hostvars, target = variables["hostvars"], Path(given["collection_path"])
        # Read here, not through a template: a fleet's bundles would be copied for nothing.
        answers = {name: hostvars[name].get(given["register"]) for name in given["nodes"]}
        addresses = [str(hostvars[name]["ansible_host"]) for name in given["nodes"] if hostvars[name].get("ansible_host")]
        result = collect(answers, target, addresses, given["keep_identifiers"], given["started_at"])
        return result, write_collection(result, target, place)
