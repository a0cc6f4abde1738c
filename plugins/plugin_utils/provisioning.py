# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which node gets which release, and what a run of provision_pool comes to. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import short

PASS, FAIL, INCONCLUSIVE, BLOCKED = "pass", "fail", "inconclusive", "blocked"
# Worst first: the outcome of a run is the worst of its nodes'.
ORDER = (FAIL, INCONCLUSIVE, BLOCKED, PASS)


def release_of(channel: str, channels: Mapping[str, Any]) -> Any:
    """The release that a node on a channel should have: canaries stand on stable while there is no candidate. None: there is none."""
    return channels.get(channel) or (channels.get("stable") if channel == "candidate" else None)


def outcome_of(node: Mapping[str, Any]) -> str:
    """A node's outcome from `release` (None: its channel is empty), `message` (an error, or empty) and `verdict` (None: never judged)."""
    if node["release"] is None:
        return BLOCKED
    if node["message"] or node["verdict"] == "fail":
        return FAIL
    return PASS if node["verdict"] == "pass" else INCONCLUSIVE


def report(pool: str, nodes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`{schema, outcome, pool, nodes, message, lines}`; each node is `{node, channel, release, how, verdict, first_broken_layer, findings, message}`."""
    rows = [_row(node) for node in nodes]
    outcome = min((row["outcome"] for row in rows), key=ORDER.index, default=INCONCLUSIVE)
    sentences = _sentences(pool, rows)
    lines = [*_table(rows), *sentences]
    return {"schema": "goldnode.provisioning/v1", "outcome": outcome, "pool": pool, "nodes": rows, "message": ". ".join(sentences), "lines": lines}


def _row(node: Mapping[str, Any]) -> dict[str, Any]:
    broken = [f for f in node["findings"] if f["verdict"] == FAIL and f["layer"] == node["first_broken_layer"]]
    cause = f"{broken[0]['rule']}: {broken[0]['cause']}" if broken else ""
    kept = {key: value for key, value in node.items() if key != "findings"}
    return {**kept, "outcome": outcome_of(node), "message": node["message"] or cause}


def _table(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    head = ("node", "channel", "release", "how", "validated", "first broken layer")
    cells = [head, *((row["node"], row["channel"], short(row["release"]), row["how"], row["outcome"], row["first_broken_layer"] or "-") for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def _sentences(pool: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Why a node is not on its release, a sentence each; the last line is the whole."""
    empty = sorted({row["channel"] for row in rows if row["outcome"] == BLOCKED})
    sentences = [
        f"channel {channel} of {pool} is empty, its nodes were left as they are; fill it: ansible-playbook goldnode.gpu."
        + ("register_release" if channel == "candidate" else "promote_image")
        + f" -e pool={pool}"
        for channel in empty
    ]
    sentences += [f"{row['node']}: {row['message']}" for row in rows if row["message"]]
    good = sum(row["outcome"] == PASS for row in rows)
    return [*sentences, f"{good} of {len(rows)} nodes are on their release and validated"]
