# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Judges evidence bundles in files, without any node."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from ansible_collections.goldnode.gpu.plugins.plugin_utils.diagnosis import diagnose, write_page
from ansible_collections.goldnode.gpu.plugins.plugin_utils.report_action import Given, Report, ReportAction


class ActionModule(ReportAction):
    """See the documentation of the module of the same name."""

    ARGUMENTS: ClassVar[dict[str, Any]] = {
        "evidence_path": {"type": "path", "required": True},
        "diagnosis_path": {"type": "path", "required": True},
        "started_at": {"type": "str", "required": True},
        "stack": {"type": "dict"},
    }
    # the findings of thousands of bundles are in their files
    WITH_RESULT = False

    def report(self, given: Given, place: Path, variables: Given) -> Report:
        target = Path(given["diagnosis_path"])
        target.mkdir(parents=True, exist_ok=True)
        result = diagnose(Path(given["evidence_path"]), target, given["stack"], given["started_at"])
        return result, write_page(result, target, place)
