# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Pipes the probe to the node's Python in one ssh execution and judges its evidence here."""

from __future__ import annotations

import json
import shlex
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.goldnode.gpu.plugins.module_utils.judge import ALL, judge
from ansible_collections.goldnode.gpu.plugins.module_utils.probe import redact
from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text
from ansible_collections.goldnode.gpu.plugins.plugin_utils.payload import payload

ARGUMENT_SPEC = {
    "stack": {"type": "dict"},
    "layers": {"type": "list", "elements": "str", "choices": list(ALL)},
    "nonce": {"type": "str"},
    "runs": {"type": "list", "elements": "dict"},
    "spool": {"type": "path"},
}
DEFAULT_PYTHON = "/usr/bin/python3"
LIMIT_CHARACTERS = 1 << 25  # of an answer; the probe's own limits keep a bundle far below it
SAID_CHARACTERS = 1 << 16  # of junk are searched for secrets, so that one that begins before what is shown is known as one


class ActionModule(ActionBase):
    """See the documentation of the module of the same name."""

    _supports_check_mode = True
    _requires_connection = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        variables = task_vars or {}
        _result, given = self.validate_argument_spec(ARGUMENT_SPEC)
        asked_at = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        node = variables["inventory_hostname"]
        evidence = {
            **self._probe(given, variables),
            "node": node,
            "pool": (given["stack"] or {}).get("pool"),
            "captured_at": asked_at,
        }
        judgement = judge(evidence, given["stack"], given["layers"] or ALL)
        evidence["rung"] = judgement.rung
        if given["spool"]:
            write_text(Path(given["spool"]) / f"{node}.evidence.json", json.dumps(evidence))
        return {"changed": False, "evidence": evidence, **judgement.as_dict()}

    def _probe(self, given: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The bundle that the node's probe prints; an unreachable node stays Ansible's own `unreachable`."""
        python = str(self._templar.template(variables.get("ansible_python_interpreter") or DEFAULT_PYTHON))
        roots = self._templar.template(variables.get("goldnode_probe_args") or [])
        command = shlex.join([*deadline(self._task.timeout), python, "-", *map(str, roots), *options(given)])
        return bundle_of(self._low_level_execute_command(command, in_data=payload().encode()), python)


def deadline(limit_s: int) -> list[str]:
    """What ends a hung probe on the node, so that its ssh ends too; the task's own `timeout` holds whatever the node does. 0 is no limit."""
    return ["timeout", "--kill-after=5", str(limit_s)] if limit_s else []


def options(given: dict[str, Any]) -> list[str]:
    """The probe's command line out of the action's parameters."""
    named = (
        ("--layers", ",".join(given["layers"] or [])),
        ("--nonce", given["nonce"]),
        ("--runs", json.dumps(given["runs"]) if given["runs"] else None),
    )
    return [word for name, value in named if value for word in (name, value)]


def bundle_of(answer: dict[str, Any], python: str) -> dict[str, Any]:
    """The bundle in a probe's answer (`rc`, `stdout`, `stderr`); raises with one sentence when there is none."""
    stdout, stderr = (str(answer.get(name, "")).strip() for name in ("stdout", "stderr"))
    if len(stdout) > LIMIT_CHARACTERS:
        raise AnsibleActionFail(
            f"The node printed {len(stdout)} characters; expected an evidence bundle of at most {LIMIT_CHARACTERS}. Look what {python} is there."
        )
    printed = stdout.splitlines()
    try:
        bundle = json.loads(printed[-1]) if printed else None
    except ValueError:
        bundle = None
    if isinstance(bundle, dict) and bundle.get("schema") == "goldnode.evidence/v1":
        return bundle
    said = redact((stderr or stdout)[-SAID_CHARACTERS:])[-300:] or "nothing"
    if answer.get("rc") in (126, 127):
        raise AnsibleActionFail(f"There is no usable Python at {python} on the node ({said}). Install python3 there, or set ansible_python_interpreter.")
    raise AnsibleActionFail(
        f"The probe on the node did not print an evidence bundle (rc {answer.get('rc')}): it said {said!r}. "
        f"Run it by hand to see more: ssh <node> {python} - < plugins/module_utils/probe.py"
    )
