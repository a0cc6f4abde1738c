# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What explain_promotion and promote_image print: the answer first, then each guard, then what the evidence is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.model import RUNGS
from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import short
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import difference
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import guards, states
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.guards import Guard
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.history import Release, View

ANSWERS = {
    states.PROMOTED: "it is the stable release: production gets it",
    states.READY: "can be promoted now",
    states.REJECTED: "rejected for good: change the pins, the image or the policy and register a new release",
    states.SUPERSEDED: "superseded by a newer release",
}
# The versions that a person recognises a release by.
NAMED = {"kernel": ("kernel", "version"), "driver": ("nvidia_driver", "version"), "docker": ("docker", "version")}


def lines(view: View, found: Sequence[Guard]) -> list[str]:
    """The screen, line by line."""
    rows = met(found) if view.release.state == states.PROMOTED else table(found)
    return [headline(view), "", *rows, "", *_changed(view), *conditions(view), evidence(view), not_built(found)]


def headline(view: View) -> str:
    """Pool, release, what it changes, its state, and the answer."""
    release = view.release
    answer = ANSWERS.get(release.state, "cannot be promoted yet")
    return f"{release.pool} · release {short(release.digest)} ({changes(view)}) · {release.risk} · {release.state} · {answer}"


def lock_differences(view: View) -> list[difference.Difference]:
    """What the release's lock changes against that of stable; nothing where there is no other stable."""
    if view.stable is None or view.stable.digest == view.release.digest:
        return []
    return difference.differences(view.release.lock, view.stable.lock)


def _changed(view: View) -> list[str]:
    found = lock_differences(view)
    return ["against stable:", *difference.lines(found), ""] if found else []


def changes(view: View) -> str:
    """What the release moves, against stable."""
    new = view.release.lock.get("pins", {})
    old = view.stable.lock.get("pins", {}) if view.stable and view.stable.digest != view.release.digest else None
    return ", ".join(text for name, path in NAMED.items() if (text := _change(name, _at(new, path), _at(old, path) if old else None)))


def table(found: Sequence[Guard]) -> list[str]:
    """The guards that are built, in aligned columns."""
    return columns([("guard", "now", "needs"), *((guard.name, guard.value, guard.needs) for guard in found if guard.state != guards.NOT_BUILT)])


def met(found: Sequence[Guard]) -> list[str]:
    """The guards of a promoted release, which needs nothing more; one that no longer holds is no task for anybody."""
    return columns([("guard", "now"), *((guard.name, guard.value) for guard in found if guard.state in (guards.MET, guards.NOT_APPLICABLE))])


def release_lines(release: Release, registered: bool) -> list[str]:
    """A release that was registered, now or before, and what comes next."""
    said = "registered now, channel candidate points to it" if registered else "registered before, nothing was changed"
    return [
        f"{release.pool} · release {short(release.digest)} · {release.risk} · {release.state} · {said}",
        f"next: ansible-playbook goldnode.gpu.provision_pool -e pool={release.pool}",
    ]


def slot_lines(pool: str, slot: Mapping[str, Any]) -> list[str]:
    """A closed slot: its result first, then each node with the reason of its own."""
    head = f"{pool} · slot {slot['slot']} · {slot['result']} · release {short(slot['release'])} · {slot['release_state']}"
    rows = [(node["node"], node["arm"], node["result"], node["reason"]) for node in slot["nodes"]]
    return [head, "", *columns([("node", "arm", "result", "reason"), *rows])] if rows else [head, str(slot["reason"])]


def columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Rows as lines of aligned columns."""
    widths = [max(len(row[column]) for row in rows) + 3 for column in range(len(rows[0]))]
    return ["".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def conditions(view: View) -> list[str]:
    """What somebody must look at, beside the guards."""
    if not states.harness(view.slots, view.policy):
        return []
    return [f"condition harness: the last {view.policy.errors_in_a_row} slots were ERROR, a fault of goldnode itself; read their reasons in the ledger"]


def evidence(view: View) -> str:
    """How much the clean runs say, and why a lower rung counts where it does."""
    rung = view.policy.minimum_rung
    why = "" if rung == RUNGS[-1] else f" Rung {rung} counts here because this is a lab."
    return f"evidence: {guards.rule_of_three(view)}.{why}"


def not_built(found: Sequence[Guard]) -> str:
    """The guards that are no condition yet."""
    return f"not built, so neither condition nor pass: {', '.join(guard.name for guard in found if guard.state == guards.NOT_BUILT)}"


def _change(name: str, new: str | None, old: str | None) -> str:
    if new is None:
        return ""
    if old is None:
        return f"{name} {new}"
    return f"{name} unchanged" if new == old else f"{name} {old} -> {new}"


def _at(pins: Mapping[str, Any], path: tuple[str, ...]) -> str | None:
    value: Any = pins
    for key in path:
        value = (value or {}).get(key)
    return None if value is None else str(value)
