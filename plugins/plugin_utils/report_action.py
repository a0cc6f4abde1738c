# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the actions that leave a report share: arguments checked, one sentence on failure, the page shown as it is (through debug its columns would fold)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.goldnode.gpu.plugins.plugin_utils.bundles import UnreadableError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError

Given = Mapping[str, Any]
# The result as result.json holds it, and the page's lines.
Report = tuple[Mapping[str, Any], Sequence[str]]


class ReportAction(ActionBase):  # type: ignore[misc]
    """An action that reads, writes nothing but its report, and so does the same in check mode. It never connects to the host of its task."""

    _supports_check_mode = True
    _requires_connection = False
    ARGUMENTS: ClassVar[dict[str, Any]] = {}
    # required_together and the like, as validate_argument_spec takes them
    CONDITIONS: ClassVar[dict[str, Any]] = {}
    WITH_RESULT: ClassVar[bool] = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        report_dir = {"report_dir": {"type": "path", "required": True}}
        _, given = self.validate_argument_spec({**report_dir, **self.ARGUMENTS}, **self.CONDITIONS)
        odd = [name for name, value in given.items() if isinstance(value, str) and "\0" in value]
        if odd:
            raise AnsibleActionFail(f"{' and '.join(odd)} holds a NUL, which no path and no name can")
        try:
            result, lines = self.report(given, Path(given["report_dir"]), task_vars or {})
        except (LockError, UnreadableError) as error:
            raise AnsibleActionFail(str(error)) from None
        except OSError as error:
            said = f"{error.filename or 'a file'} cannot be read or written: {error.strerror or error}"
            raise AnsibleActionFail(f"{said}. Give another path (-e goldnode_report_dir=<path> for the report), or space") from error
        self._display.display("\n" + "\n".join(lines) + "\n")
        answer = {"changed": False, "outcome": result["outcome"], "lines": list(lines)}
        return {**answer, "result": result} if self.WITH_RESULT else answer

    def report(self, given: Given, place: Path, variables: Given) -> Report:
        """Does the work and leaves the report in `place`."""
        raise NotImplementedError
