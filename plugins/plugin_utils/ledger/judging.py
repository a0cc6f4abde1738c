# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""From a slot's rows and raw bundles to its results: the same computation when it is closed and when a promotion commits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger import releases, tables
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.evidence import Judge, answers_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import results
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.history import Release
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.policy import Policy, policy_for
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.results import ERROR, HARDWARE_SUSPECT, PASS_WITH_FLAKE, Answer, Expected, NodeResult
from sqlalchemy import Connection, select


@dataclass(frozen=True)
class Outcome:
    """A slot's result, its nodes' results, and what each deciding bundle says about itself."""

    result: str
    reason: str
    nodes: list[NodeResult]
    seen: list[dict[str, Any]]


def outcome(connection: Connection, release: Release, slot: str, rows: Sequence[Mapping[str, Any]], judge: Judge) -> Outcome:
    """Judges the stored bundles of a slot's nodes, each against the release that was asked of it."""
    stacks = {digest: releases.must(connection, digest) for digest in {row["release"] for row in rows}}
    answers = [answers_of(row["evidence"], stacks[row["release"]].lock, judge) for row in rows]
    policy = policy_for(release.policy, release.risk)
    alone = [_result(_expected(row, stacks[row["release"]]), said, policy) for row, said in zip(rows, answers, strict=True)]
    nodes = results.settled(alone, _suspects(connection, release, slot))
    seen = [_seen(said[-1 if node.result == PASS_WITH_FLAKE else 0]) for said, node in zip(answers, nodes, strict=True)]
    return Outcome(*results.slot_result(nodes, policy), nodes, seen)


def _result(expected: Expected, said: Sequence[Answer], policy: Policy) -> NodeResult:
    """A node's result; one that cannot be computed must not keep its slot open, and so the pool from its next turn."""
    try:
        return results.node_result(expected, said, policy)
    except Exception as error:
        return NodeResult(expected.node, expected.arm, ERROR, f"its answer could not be compared with what was asked: {type(error).__name__}: {error}")


def _expected(row: Mapping[str, Any], release: Release) -> Expected:
    images = tuple(image["digest"] for image in release.lock.get("images", []) if image["use"] == "canary")
    return Expected(row["node"], row["arm"], row["release"], row["nonce"], row["boot_id"], row["provisioned"], tuple(row["differed"]), images)


def _suspects(connection: Connection, release: Release, slot: str) -> dict[str, list[str]]:
    c = tables.slot_nodes.c
    where = (c.release == release.digest, c.arm == results.CANARY, c.result == HARDWARE_SUSPECT, c.slot < slot)
    return {row.node: row.rules for row in connection.execute(select(c.node, c.rules).where(*where).order_by(c.slot))}


def _seen(answer: Answer) -> dict[str, Any]:
    return {
        **{name: answer.bundle.get(name) for name in ("release", "nonce", "boot_id")},
        **{name: answer.judgement.get(name) for name in ("rung", "first_broken_layer")},
    }
