# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""All that decides about a release, read in two queries, and the moves that follow from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger import releases, tables
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.evidence import Judge
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.judging import outcome
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.rows import fetch
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import states
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.clock import time_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.history import Node, Release, Slot, View
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.policy import policy_for
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.results import worst
from sqlalchemy import Connection, select

Rows = Sequence[Mapping[str, Any]]


def view_of(connection: Connection, release: Release, now: datetime, judge: Judge | None = None) -> View:
    """What the ledger holds about a release. With a judge, each slot is computed again from its raw bundles, and can only get worse."""
    c = tables.slots.c
    rows = fetch(connection, select(tables.slots).where(c.release == release.digest, c.closed_at.is_not(None)).order_by(c.slot))
    nodes = _nodes_by_slot(connection, release)
    slots = tuple(_again(connection, release, row, nodes[row["slot"]], judge) if judge else _slot(row, nodes[row["slot"]]) for row in rows)
    stable = releases.on_channel(connection, release.environment, release.pool, releases.STABLE)
    return View(release, policy_for(release.policy, release.risk), slots, stable, now)


def advance(connection: Connection, view: View) -> Release:
    """Takes a release through the states that its slots earn it. A rejected one gives its canaries back to stable."""
    release = view.release
    for state, reason in states.after_slots(view):
        releases.move(connection, release, state, reason, view.now)
        release = releases.must(connection, release.digest)
    if release.state == states.REJECTED != view.release.state:
        back = view.stable.digest if view.stable else None
        releases.point(connection, release.environment, release.pool, releases.CANDIDATE, back, view.now)
    return release


def _nodes_by_slot(connection: Connection, release: Release) -> dict[str, list[dict[str, Any]]]:
    n, s = tables.slot_nodes.c, tables.slots.c
    same = (n.environment == s.environment) & (n.pool == s.pool) & (n.slot == s.slot)
    query = select(tables.slot_nodes).join(tables.slots, same).where(s.release == release.digest).order_by(n.slot, n.node)
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in fetch(connection, query):
        found[row["slot"]].append(row)
    return found


def _slot(row: Mapping[str, Any], nodes: Rows) -> Slot:
    return Slot(time_of(row["slot"]), row["result"], tuple(_node(node) for node in nodes))


def _again(connection: Connection, release: Release, row: Mapping[str, Any], nodes: Rows, judge: Judge) -> Slot:
    now = outcome(connection, release, row["slot"], nodes, judge)
    lowered = [{**old, "result": worst([old["result"], new.result]), "seen": seen} for old, new, seen in zip(nodes, now.nodes, now.seen, strict=True)]
    return _slot({**row, "result": worst([row["result"], now.result])}, lowered)


def _node(row: Mapping[str, Any]) -> Node:
    seen = row["seen"]
    return Node(
        node=row["node"],
        arm=row["arm"],
        result=row["result"],
        release=row["release"],
        nonce=row["nonce"],
        boot_id=row["boot_id"],
        seen_release=seen["release"],
        seen_nonce=seen["nonce"],
        seen_boot_id=seen["boot_id"],
        rung=seen["rung"],
    )
