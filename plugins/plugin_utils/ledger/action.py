# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the actions on the ledger share: arguments checked, where the ledger is, what time it is, one sentence on failure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.goldnode.gpu.plugins.module_utils import judge as judging
from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.store import Ledger
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import PromotionError

STATE_DIR = "/var/lib/goldnode"
COMMON: dict[str, Any] = {
    "pool": {"type": "str"},
    "environment": {"type": "str"},
    "state_dir": {"type": "path"},
    "report_dir": {"type": "path"},
}

# Ansible's own, what stands beside the body, and what the spool holds anyway.
NOT_REPORTED = frozenset({"changed", "outcome", "message", "screen", "stacks", "expected"})


@dataclass(frozen=True)
class Call:
    """One task: its parameters, the ledger that it is about, and the time at which it began."""

    params: Mapping[str, Any]
    ledger: Ledger
    environment: str
    now: datetime

    @property
    def pool(self) -> str:
        """The pool of the task; every state but `environment` requires one."""
        return str(self.params["pool"])


Handler = Callable[[Call], dict[str, Any]]


class LedgerAction(ActionBase):  # type: ignore[misc]
    """An action whose `state` names one of its HANDLERS. It opens the ledger itself, in its own process."""

    _requires_connection = False
    ARGUMENTS: ClassVar[dict[str, Any]] = {}
    REQUIRED_IF: ClassVar[list[tuple[str, str, list[str]]]] = []
    HANDLERS: ClassVar[dict[str, Handler]] = {}
    READING: ClassVar[frozenset[str]] = frozenset()

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Checks the arguments and runs the state's handler. A state that writes is left out in check mode."""
        variables = task_vars or {}
        self._supports_check_mode = self._task.args.get("state") in self.READING
        super().run(tmp, variables)
        state = {"type": "str", "choices": list(self.HANDLERS), "required": True}
        _, checked = self.validate_argument_spec({"state": state, **COMMON, **self.ARGUMENTS}, required_if=self.REQUIRED_IF)
        # core's tagged values become plain ones: what the ledger holds and digests is JSON
        params = json.loads(json.dumps(checked))
        try:
            result = self.HANDLERS[params["state"]](self._call(params, variables))
        except PromotionError as error:
            self._report(params, {"outcome": "fail", "message": str(error)})
            raise AnsibleActionFail(str(error)) from error
        self._report(params, result)
        return result

    def _call(self, params: Mapping[str, Any], variables: Mapping[str, Any]) -> Call:
        ledger = Ledger(Path(self._setting(params, variables, "state_dir") or STATE_DIR))
        return Call(params, ledger, self._environment(params, variables), datetime.now(timezone.utc))

    def _report(self, params: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        """Writes what has an outcome to result.json, and shows what has a screen as it is: through debug its columns would be folded."""
        if params["report_dir"] and "outcome" in result:
            subject = type(self).__module__.rpartition(".")[2]
            head = {"schema": f"goldnode.{subject}/v1", "pool": params["pool"]}
            said = {name: result[name] for name in ("outcome", "message") if name in result}
            body = {name: value for name, value in result.items() if name not in NOT_REPORTED}
            self._write(Path(params["report_dir"]) / "result.json", json.dumps({**head, **said, subject: body}, indent=2) + "\n")
        if "screen" in result:
            self._display.display("\n" + "\n".join(result["screen"]) + "\n")

    @staticmethod
    def _write(path: Path, text: str) -> None:
        try:
            write_text(path, text)
        except OSError as error:
            raise AnsibleActionFail(
                f"{path} could not be written: {error.strerror}; what was decided stands in the ledger all the same. Make room or give another "
                "goldnode_report_dir, and run the playbook again"
            ) from error

    def _environment(self, params: Mapping[str, Any], variables: Mapping[str, Any]) -> str:
        name = self._setting(params, variables, "environment")
        if not name:
            raise PromotionError(
                "goldnode_environment is not set; give the inventory by -i …/hosts.yml, and name the environment in its group_vars/all, "
                "for example goldnode_environment: prod"
            )
        return name

    def _setting(self, params: Mapping[str, Any], variables: Mapping[str, Any], name: str) -> str | None:
        given = params[name] or self._templar.template(variables.get(f"goldnode_{name}"))
        return str(given) if given else None


def judge(evidence: Mapping[str, Any], stack: Mapping[str, Any]) -> dict[str, Any]:
    """The judgement of a bundle as the ledger's functions take it."""
    return dict(judging.judge(evidence, stack).as_dict())
