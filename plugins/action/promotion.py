# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Action twin of the module promotion: all that decides lies in the ledger on the controller."""

from __future__ import annotations

from typing import Any, ClassVar

from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger import promotions
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.action import Call, Handler, LedgerAction, judge
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.difference import needs_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import screen, states


def _explain(call: Call) -> dict[str, Any]:
    return _described(promotions.explain(call.ledger, call.environment, call.pool, call.now))


def _promote(call: Call) -> dict[str, Any]:
    return _described(promotions.promote(call.ledger, call.environment, call.pool, call.now, judge))


def _described(standing: promotions.Standing) -> dict[str, Any]:
    release, changed = standing.release, screen.lock_differences(standing.view)
    return {
        "changed": standing.changed,
        "release": release.digest,
        "release_state": release.state,
        "risk": release.risk,
        "promoted": release.state == states.PROMOTED,
        "outcome": "pass" if release.state in (states.PROMOTED, states.READY) else "blocked",
        "differences": [one._asdict() for one in changed],
        "needs": needs_of(changed),
        "guards": [guard.as_dict() for guard in standing.guards],
        "screen": screen.lines(standing.view, standing.guards),
    }


class ActionModule(LedgerAction):
    """Explains where the newest release of a pool stands, or promotes it."""

    REQUIRED_IF: ClassVar[list[tuple[str, str, list[str]]]] = [("state", "explained", ["pool"]), ("state", "promoted", ["pool"])]
    HANDLERS: ClassVar[dict[str, Handler]] = {"explained": _explain, "promoted": _promote}
    READING: ClassVar[frozenset[str]] = frozenset({"explained"})
