# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The states of a release, and where closed slots move it."""

from __future__ import annotations

from collections.abc import Sequence

from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import guards
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.history import Slot, View, qualifies
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.policy import Policy
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.results import CANARY, ERROR, FAIL, FAIL_FAST

REGISTERED = "REGISTERED"
VERIFIED = "VERIFIED"
STAGED = "STAGED"
SOAKING = "SOAKING"
READY = "READY"
PROMOTING = "PROMOTING"
PROMOTED = "PROMOTED"
REJECTED = "REJECTED"
SUPERSEDED = "SUPERSEDED"

# What a slot, a promotion or a newer release can still move. Everything else is final.
OPEN = frozenset({REGISTERED, VERIFIED, STAGED, SOAKING, READY, PROMOTING})
IN_SLOTS = frozenset({VERIFIED, STAGED, SOAKING, READY})


def after_slots(view: View) -> list[tuple[str, str]]:
    """The states through which a release's closed slots take it from where it is, each with the reason; often none."""
    moves: list[tuple[str, str]] = []
    state = view.release.state
    while move := _next(state, view):
        moves.append(move)
        state = move[0]
    return moves


def harness(slots: Sequence[Slot], policy: Policy) -> bool:
    """The condition `harness`: our own fault, so many slots in a row that somebody must look."""
    last = slots[-policy.errors_in_a_row :]
    return len(last) == policy.errors_in_a_row and all(slot.result == ERROR for slot in last)


def _next(state: str, view: View) -> tuple[str, str] | None:
    if state == PROMOTING:
        return SOAKING, "an intent to promote was found without its commit"
    if state not in IN_SLOTS:
        return None
    if reason := _rejection(view.slots, view.policy):
        return REJECTED, reason
    return _forward(state, view)


def _rejection(slots: Sequence[Slot], policy: Policy) -> str:
    if any(slot.result == FAIL_FAST for slot in slots):
        return "a slot was FAIL_FAST"
    fails = sum(slot.result == FAIL for slot in slots)
    return f"{fails} slots were FAIL" if fails >= policy.fails else ""


def _forward(state: str, view: View) -> tuple[str, str] | None:
    if state == VERIFIED:
        return (STAGED, "every canary reports this release") if any(_staged(slot) for slot in view.slots) else None
    if state == STAGED:
        return (SOAKING, "the first qualifying slot passed") if any(qualifies(slot, view.policy) for slot in view.slots) else None
    held_by = guards.unmet(guards.evaluate(view))
    if state == SOAKING and not held_by:
        return READY, "every built guard is met"
    if state == READY and held_by:
        return SOAKING, f"{held_by[0].name}: {held_by[0].value}"
    return None


def _staged(slot: Slot) -> bool:
    canaries = [node for node in slot.nodes if node.arm == CANARY]
    return bool(canaries) and all(node.seen_release == node.release and node.seen_nonce == node.nonce for node in canaries)
