# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Slots: opening with what is expected, closing with what came back. All that decides is computed from the raw bundles."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import short
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger import evidence, releases, tables
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.evidence import Judge
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.judging import Outcome, outcome
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.rows import Key, fetch, node_rows, slot_row
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.store import SPOOL, Ledger, append
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.views import advance, view_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import PromotionError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.clock import seconds_of, slot_start, text_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.history import Release
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.results import BASELINE, CANARY, TAKEN_OUT, differences_in
from sqlalchemy import Connection, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

Rows = Sequence[Mapping[str, Any]]

# What a slot asks of a node, and what it knew of it: all that the chain of events keeps of it before the answer.
ASKED = ("node", "arm", "release", "nonce", "boot_id", "provisioned", "differed")


def open_slot(
    ledger: Ledger,
    environment: str,
    pool: str,
    hosts: Mapping[str, Sequence[str]],
    now: datetime,
    judge: Judge,
    holder: str,
    alive: Callable[[str], bool],
) -> dict[str, Any]:
    """Opens the slot of this time, after closing what a dead run left open.

    Returns the slot with its spool and the expected nodes, or, if it was closed already, its result and `closed`.
    """
    if both := sorted(set(hosts.get(CANARY, [])) & set(hosts.get(BASELINE, []))):
        raise PromotionError(f"host {both[0]} is in {pool}_canary and in {pool}_baseline; leave it in one, then run this again")
    with ledger.write() as connection:
        _repair(connection, environment, pool, now, judge, alive)
        subject, stable = _subject(connection, environment, pool)
        key = Key(environment, pool, text_of(slot_start(now, seconds_of(subject.policy["slot"]))))
        if slot_row(connection, key) is not None:
            return {**_report(connection, key), "changed": False}
        spool = ledger.path.parent / SPOOL / pool / key.slot
        (spool / evidence.RETRY).mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = {"release": subject.digest, "holder": holder, "spool": str(spool), "opened_at": text_of(now)}
        connection.execute(insert(tables.slots).values(**key.columns(), **opened))
        _expect(connection, key, hosts, subject, stable)
        expected = [{name: row[name] for name in ASKED} for row in node_rows(connection, key)]
        append(connection, now, "slot_opened", environment, pool, {"slot": key.slot, "release": subject.digest, "expected": expected})
        return {**_report(connection, key), "changed": True}


def close_slot(ledger: Ledger, key: Key, now: datetime, judge: Judge) -> dict[str, Any]:
    """Computes a slot's result from its spool and moves its release. Closing it twice says what the first time found."""
    with ledger.write() as connection:
        row = slot_row(connection, key)
        to_close = row is not None and row["closed_at"] is None
        if row is not None and to_close:
            _close(connection, key, row, now, judge)
        return {**_report(connection, key), "changed": to_close}


def record_provisioned(
    ledger: Ledger,
    environment: str,
    pool: str,
    node: str,
    release: str,
    bundle: Mapping[str, Any],
    now: datetime,
    judge: Judge,
    nonce: str | None = None,
) -> dict[str, Any]:
    """Remembers what a node's bundle said right after provisioning; the node is expected again. Returns judgement and differences.

    With a nonce, the bundle must carry it: an older one of this node is no validation of this turn.
    """
    with ledger.write() as connection:
        target = _provisioned_with(connection, environment, pool, node, release, bundle)
        if nonce is not None and bundle.get("nonce") != nonce:
            raise PromotionError(f"the bundle of {node} does not carry the nonce of this turn; validate {node} again: provision_pool")
        answer = evidence.answer_of(bundle, f"the bundle of {node}", target.lock, judge)
        if answer.error:
            raise PromotionError(f"{answer.error}; provision {node} again")
        judgement = answer.judgement
        differed = list(differences_in(judgement))
        known = {"release": release, "provisioned_at": text_of(now), "differed": differed, "boot_id": bundle.get("boot_id"), "taken_out": None}
        row = upsert(tables.nodes).values(environment=environment, pool=pool, node=node, **known)
        connection.execute(row.on_conflict_do_update(index_elements=["environment", "pool", "node"], set_=known))
        path = evidence.keep(ledger.path.parent / SPOOL / pool / "provisioned", node, bundle)
        data = {"node": node, "release": release, "verdict": judgement["verdict"], "differed": differed, "evidence": evidence.stored([path])}
        append(connection, now, "provisioned", environment, pool, data)
        return {"judgement": dict(judgement), "differences": differed}


def _provisioned_with(connection: Connection, environment: str, pool: str, node: str, release: str, bundle: Mapping[str, Any]) -> Release:
    target = releases.release_of(connection, release)
    if target is None or (target.environment, target.pool) != (environment, pool):
        raise PromotionError(f"the ledger has no release {short(release)} of {pool} in environment {environment}; read it from its channel first")
    if bundle.get("release") != release:
        raise PromotionError(f"{node} reports release {short(bundle.get('release'))}, not {short(release)}; provision it again")
    return target


def _subject(connection: Connection, environment: str, pool: str) -> tuple[Release, Release | None]:
    """What the canaries are on: the candidate, or stable where there is none; and what the baseline is on."""
    candidate, stable = (releases.on_channel(connection, environment, pool, channel) for channel in (releases.CANDIDATE, releases.STABLE))
    subject = candidate or stable
    if subject is None:
        raise PromotionError(
            f"both channels of {pool} are empty in environment {environment}; register a release first: "
            f"ansible-playbook goldnode.gpu.register_release -e pool={pool}"
        )
    return subject, stable


def _repair(connection: Connection, environment: str, pool: str, now: datetime, judge: Judge, alive: Callable[[str], bool]) -> None:
    """Closes, from its spool, each slot that a run left open when it died."""
    c = tables.slots.c
    query = select(tables.slots).where(c.environment == environment, c.pool == pool, c.closed_at.is_(None)).order_by(c.slot)
    for row in fetch(connection, query):
        if alive(row["holder"]):
            raise PromotionError(f"slot {row['slot']} of {pool} is being run by process {row['holder'].split(':')[0]}; nothing was changed, let it end")
        _close(connection, Key(environment, pool, row["slot"]), row, now, judge)


def _expect(connection: Connection, key: Key, hosts: Mapping[str, Sequence[str]], subject: Release, stable: Release | None) -> None:
    """Writes who must answer: every canary that is not out, on the subject; one baseline (a pool has one set of GPU models) on stable."""
    c = tables.nodes.c
    rows = fetch(connection, select(tables.nodes).where(c.environment == key.environment, c.pool == key.pool))
    known = {row["node"]: row for row in rows}
    present = {arm: [n for n in sorted(set(hosts.get(arm, []))) if n not in known or not known[n]["taken_out"]] for arm in (CANARY, BASELINE)}
    assigned = [(node, CANARY, subject) for node in present[CANARY]]
    if stable:
        assigned += [(node, BASELINE, stable) for node in present[BASELINE][:1]]
    for node, arm, release in assigned:
        connection.execute(insert(tables.slot_nodes).values(**key.columns(), **_expected(node, arm, release, known.get(node))))


def _expected(node: str, arm: str, release: Release, known: Mapping[str, Any] | None) -> dict[str, Any]:
    ours = known if known is not None and known["release"] == release.digest else None
    return {
        "node": node,
        "arm": arm,
        "release": release.digest,
        "nonce": secrets.token_hex(16),
        "boot_id": ours["boot_id"] if ours else None,
        "provisioned": ours is not None,
        "differed": ours["differed"] if ours else [],
    }


def _close(connection: Connection, key: Key, row: Mapping[str, Any], now: datetime, judge: Judge) -> None:
    asked = [{**node, "evidence": evidence.stored(evidence.bundle_paths(Path(row["spool"]), node["node"]))} for node in node_rows(connection, key)]
    release = releases.must(connection, row["release"])
    found = outcome(connection, release, key.slot, asked, judge)
    _write_nodes(connection, key, asked, found)
    closed = {"result": found.result, "reason": found.reason}
    connection.execute(update(tables.slots).where(*key.where(tables.slots)).values(**closed, closed_at=text_of(now)))
    nodes = {node["node"]: {"result": new.result, "evidence": node["evidence"]} for node, new in zip(asked, found.nodes, strict=True)}
    append(connection, now, "slot_closed", key.environment, key.pool, {"slot": key.slot, "release": release.digest, **closed, "nodes": nodes})
    advance(connection, view_of(connection, release, now))


def _write_nodes(connection: Connection, key: Key, asked: Rows, found: Outcome) -> None:
    """Each node's evidence and result; and, for later slots, who is out and which boot was seen last."""
    s, n = tables.slot_nodes.c, tables.nodes.c
    for row, new, seen in zip(asked, found.nodes, found.seen, strict=True):
        values = {"evidence": row["evidence"], "seen": seen, "rules": list(new.rules), "result": new.result, "reason": new.reason}
        connection.execute(update(tables.slot_nodes).where(*key.where(tables.slot_nodes), s.node == row["node"]).values(**values))
        here = (n.environment == key.environment, n.pool == key.pool, n.node == row["node"])
        if new.result in TAKEN_OUT:
            connection.execute(update(tables.nodes).where(*here).values(taken_out=new.result))
        if seen["nonce"] == row["nonce"] and seen["boot_id"]:
            connection.execute(update(tables.nodes).where(*here).values(boot_id=seen["boot_id"]))


def _report(connection: Connection, key: Key) -> dict[str, Any]:
    """A slot as the action `slot` returns it: while it is open what is expected, afterwards what came of it."""
    row, nodes = slot_row(connection, key), node_rows(connection, key)
    if row is None:
        raise PromotionError(f"{key.pool} has no slot {key.slot} in environment {key.environment}; run_canary opens and closes slots")
    asked = [] if row["closed_at"] else nodes
    return {
        "slot": key.slot,
        "spool": row["spool"],
        "retry_spool": str(Path(row["spool"]) / evidence.RETRY),
        "release": row["release"],
        "release_state": releases.must(connection, row["release"]).state,
        "closed": row["closed_at"] is not None,
        "result": row["result"],
        "reason": row["reason"],
        "expected": [{name: node[name] for name in ("node", "arm", "release", "nonce")} for node in asked],
        "stacks": {digest: releases.must(connection, digest).lock for digest in {node["release"] for node in asked}},
        "nodes": [_reported(node) for node in nodes if node not in asked],
    }


def _reported(node: Mapping[str, Any]) -> dict[str, Any]:
    names = ("node", "arm", "release", "result", "reason")
    return {**{name: node[name] for name in names}, "rung": node["seen"]["rung"], "first_broken_layer": node["seen"]["first_broken_layer"]}
