# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether a pool's tables say what the chain of events says. The tables decide; only the chain shows that somebody edited one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_without
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger import tables
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.rows import fetch
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.store import verify_chain
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import PromotionError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.policy import policy_digest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.results import TAKEN_OUT
from sqlalchemy import Connection, Table, select

# what a row is about, as a sentence names it -> its columns
Rows = dict[str, dict[str, Any]]


def check_agreement(connection: Connection, environment: str, pool: str) -> None:
    """Refuses a broken chain, and tables of which a row was edited, added or removed beside it."""
    verify_chain(connection)
    told, held = _told(connection, environment, pool), _held(connection, environment, pool)
    problem = next((problem for about in {**told, **held} if (problem := _difference(told.get(about), held.get(about), about))), None)
    problem = problem or _nonce_twice(told)
    if problem:
        raise PromotionError(f"the ledger was edited: {problem}; restore the ledger from a copy before you go on with {pool}")


def _difference(told: Mapping[str, Any] | None, held: Mapping[str, Any] | None, about: str) -> str | None:
    if held is None:
        return f"{about} is in its chain of events, but not in its tables"
    if told is None:
        return f"{about} is in its tables, but no event made it"
    names = (name for name in told if held[name] != told[name])
    return next((f"{about} has the {name} {held[name]}, its chain of events says {told[name]}" for name in names), None)


def _nonce_twice(told: Rows) -> str | None:
    seen: dict[str, str] = {}
    twice = (about for about, row in told.items() if "nonce" in row and seen.setdefault(row["nonce"], about) != about)
    return next((f"{about} has the nonce of {seen[told[about]['nonce']]}" for about in twice), None)


def _held(connection: Connection, environment: str, pool: str) -> Rows:
    """What the tables hold about a pool."""

    def of(table: Table) -> list[dict[str, Any]]:
        where = (table.c.environment == environment, table.c.pool == pool)
        return fetch(connection, select(table).where(*where).order_by(*table.primary_key.columns))

    kinds = fetch(connection, select(tables.environments).where(tables.environments.c.name == environment))
    return {
        **{f"environment {row['name']}": row for row in kinds},
        **{_release(row["digest"]): _content(row, place) for place, row in enumerate(of(tables.releases), start=1)},
        **{_channel(row["channel"]): row for row in of(tables.channels)},
        **{_node(row["node"]): row for row in of(tables.nodes)},
        **{_slot(row["slot"]): row for row in of(tables.slots)},
        **{_answer(row["node"], row["slot"]): row for row in of(tables.slot_nodes)},
    }


def _content(row: Mapping[str, Any], place: int) -> dict[str, Any]:
    """A release's row; lock and policy as the digests of their content, the number as the place among the pool's releases."""
    return {**row, "lock": digest_without(row["lock"]), "policy": policy_digest(row["policy"]), "place": place}


def _told(connection: Connection, environment: str, pool: str) -> Rows:
    """What a pool's tables must hold after its events, as far as the events say it."""
    c = tables.events.c
    told: Rows = {}
    for event in fetch(connection, select(tables.events).where(c.environment == environment, c.pool.in_((pool, ""))).order_by(c.number)):
        TELLERS[event["kind"]](told, event, event["data"])
    return told


def _tell_environment(told: Rows, event: Mapping[str, Any], data: Mapping[str, Any]) -> None:
    told[f"environment {event['environment']}"] = {"kind": data["kind"]}


def _tell_registered(told: Rows, _event: Mapping[str, Any], data: Mapping[str, Any]) -> None:
    place = 1 + sum("lock_digest" in row for row in told.values())
    told[_release(data["digest"])] = {**data, "lock": data["lock_digest"], "policy": data["policy_digest"], "place": place}


def _tell_state(told: Rows, _event: Mapping[str, Any], data: Mapping[str, Any]) -> None:
    told[_release(data["release"])]["state"] = data["to"]


def _tell_channel(told: Rows, _event: Mapping[str, Any], data: Mapping[str, Any]) -> None:
    before = told.get(_channel(data["channel"]), {"release": None})
    told[_channel(data["channel"])] = {"release": data["release"], "previous": before["release"], "generation": data["generation"]}


def _tell_provisioned(told: Rows, event: Mapping[str, Any], data: Mapping[str, Any]) -> None:
    told[_node(data["node"])] = {"release": data["release"], "provisioned_at": event["at"], "differed": data["differed"], "taken_out": None}


def _tell_opened(told: Rows, event: Mapping[str, Any], data: Mapping[str, Any]) -> None:
    told[_slot(data["slot"])] = {"release": data["release"], "opened_at": event["at"], "closed_at": None}
    told.update({_answer(expected["node"], data["slot"]): dict(expected) for expected in data["expected"]})


def _tell_closed(told: Rows, event: Mapping[str, Any], data: Mapping[str, Any]) -> None:
    """A slot that was opened again by hand and closed a second time keeps what its first closing said."""
    slot = told[_slot(data["slot"])]
    if slot["closed_at"] is None:
        slot.update(closed_at=event["at"], result=data["result"], reason=data["reason"])
        _tell_answers(told, data["slot"], data["nodes"])


def _tell_answers(told: Rows, slot: str, nodes: Mapping[str, Mapping[str, Any]]) -> None:
    for node, answer in nodes.items():
        told[_answer(node, slot)].update(answer)
        if answer["result"] in TAKEN_OUT and _node(node) in told:
            told[_node(node)]["taken_out"] = answer["result"]


TELLERS: dict[str, Callable[[Rows, Mapping[str, Any], Mapping[str, Any]], None]] = {
    "environment_registered": _tell_environment,
    "registered": _tell_registered,
    "state": _tell_state,
    "channel": _tell_channel,
    "provisioned": _tell_provisioned,
    "slot_opened": _tell_opened,
    "slot_closed": _tell_closed,
}


def _release(digest: str) -> str:
    return f"release {digest}"


def _channel(name: str) -> str:
    return f"channel {name}"


def _node(name: str) -> str:
    return f"node {name}"


def _slot(slot: str) -> str:
    return f"slot {slot}"


def _answer(node: str, slot: str) -> str:
    return f"{node} in slot {slot}"
