# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Lints Compose files and Kubernetes manifests."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail
from ansible_collections.goldnode.gpu.plugins.plugin_utils.report_action import Given, Report, ReportAction
from ansible_collections.goldnode.gpu.plugins.plugin_utils.workload.lint import lint, write_result


class ActionModule(ReportAction):
    """See the documentation of the module of the same name."""

    ARGUMENTS: ClassVar[dict[str, Any]] = {
        "path": {"type": "path", "required": True},
    }

    def report(self, given: Given, place: Path, variables: Given) -> Report:
        workload = Path(given["path"])
        if not workload.exists():
            raise AnsibleActionFail(f"{workload} is not there; give a Compose file, a manifest or a directory of them: -e workload=<path>")
        result = lint(workload)
        return result, write_result(result, place)
