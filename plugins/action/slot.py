# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Action twin of the module slot: ledger and spool lie on the controller."""

from __future__ import annotations

import os
from typing import Any, ClassVar

from ansible_collections.goldnode.gpu.plugins.plugin_utils.holder import holder_of, is_alive
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger import slots
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.action import Call, Handler, LedgerAction, judge
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.rows import Key
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import results, screen

OUTCOMES = {results.PASS: "pass", results.PASS_WITH_FLAKE: "pass", results.FAIL: "fail", results.FAIL_FAST: "fail"}


def _open(call: Call) -> dict[str, Any]:
    # a worker's parent is ansible-playbook, which lives as long as the slot is being run
    holder = holder_of(os.getppid())
    return slots.open_slot(call.ledger, call.environment, call.pool, call.params["hosts"], call.now, judge, holder, is_alive)


def _close(call: Call) -> dict[str, Any]:
    closed = slots.close_slot(call.ledger, Key(call.environment, call.pool, call.params["slot"]), call.now, judge)
    return {**closed, "outcome": OUTCOMES.get(closed["result"], "inconclusive"), "screen": screen.slot_lines(call.pool, closed)}


def _provisioned(call: Call) -> dict[str, Any]:
    node, release, evidence = (call.params[name] for name in ("node", "release", "evidence"))
    recorded = slots.record_provisioned(call.ledger, call.environment, call.pool, node, release, evidence, call.now, judge, call.params["nonce"])
    return {"changed": True, **recorded}


class ActionModule(LedgerAction):
    """Opens and closes slots, and records what a node's validation said right after provisioning."""

    ARGUMENTS: ClassVar[dict[str, Any]] = {
        "hosts": {
            "type": "dict",
            "options": {"canary": {"type": "list", "elements": "str", "default": []}, "baseline": {"type": "list", "elements": "str", "default": []}},
        },
        "slot": {"type": "str"},
        "node": {"type": "str"},
        "release": {"type": "str"},
        "evidence": {"type": "dict"},
        "nonce": {"type": "str"},
    }
    REQUIRED_IF: ClassVar[list[tuple[str, str, list[str]]]] = [
        ("state", "opened", ["pool", "hosts"]),
        ("state", "closed", ["pool", "slot"]),
        ("state", "provisioned", ["pool", "node", "release", "evidence"]),
    ]
    HANDLERS: ClassVar[dict[str, Handler]] = {"opened": _open, "closed": _close, "provisioned": _provisioned}
