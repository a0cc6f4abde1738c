# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Releases and channels: registering, reading, moving."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.model import RUNGS
from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_without, short
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger import tables
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.agreement import check_agreement
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.store import Ledger, append
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.risk import risk_class
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import PromotionError, policy, states
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.clock import text_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.guards import release_digest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.history import Release
from sqlalchemy import Connection, RowMapping, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

CANDIDATE = "candidate"
STABLE = "stable"
LAB = "lab"
EMERGENCY = "emergency"


def register_environment(ledger: Ledger, environment: str, kind: str, now: datetime) -> bool:
    """Records what kind of environment this is; true if it was not known. It never becomes another kind."""
    with ledger.write() as connection:
        known = connection.scalar(select(tables.environments.c.kind).where(tables.environments.c.name == environment))
        if known not in (None, kind):
            raise PromotionError(f"environment {environment} is registered as {known}, not {kind}; choose another name for this one")
        if known is None:
            connection.execute(insert(tables.environments).values(name=environment, kind=kind, registered_at=text_of(now)))
            append(connection, now, "environment_registered", environment, "", {"kind": kind})
        return known is None


def register(
    ledger: Ledger, environment: str, lock: Mapping[str, Any], image_digest: str, numbers: Mapping[str, Any], now: datetime, emergency: bool = False
) -> tuple[Release, bool]:
    """Makes the release of a checked lock, a present image and a completed policy; takes it to VERIFIED and onto `candidate`.

    Returns it, and whether anything changed. The same three parts are the same release, so a second time changes nothing.
    """
    with ledger.write() as connection:
        check_agreement(connection, environment, lock["pool"])
        _refuse_unreal(connection, environment, numbers)
        wanted = _row(connection, environment, lock, image_digest, numbers, now, emergency)
        known = release_of(connection, wanted["digest"])
        if known is not None:
            return _again(known, emergency), False
        _supersede(connection, environment, wanted["pool"], wanted["digest"], now)
        connection.execute(insert(tables.releases).values(**wanted))
        append(connection, now, "registered", environment, wanted["pool"], {k: v for k, v in wanted.items() if k not in ("lock", "policy")})
        made = must(connection, wanted["digest"])
        move(connection, made, states.VERIFIED, "lock digest recomputed, image present, policy checked", now)
        point(connection, environment, made.pool, CANDIDATE, made.digest, now)
        return must(connection, made.digest), True


def channels_of(ledger: Ledger, environment: str, pool: str) -> dict[str, Release | None]:
    """The release on each channel of a pool."""
    with ledger.read() as connection:
        check_agreement(connection, environment, pool)
        return {channel: on_channel(connection, environment, pool, channel) for channel in (CANDIDATE, STABLE)}


def on_channel(connection: Connection, environment: str, pool: str, channel: str) -> Release | None:
    """The release that a channel points to."""
    c = tables.channels.c
    where = (c.environment == environment, c.pool == pool, c.channel == channel)
    row = connection.execute(select(tables.releases).join(tables.channels, tables.releases.c.digest == c.release).where(*where)).mappings().first()
    return None if row is None else _release(row)


def latest(connection: Connection, environment: str, pool: str) -> Release | None:
    """The release of a pool that was registered last."""
    c = tables.releases.c
    query = select(tables.releases).where(c.environment == environment, c.pool == pool).order_by(c.number.desc()).limit(1)
    row = connection.execute(query).mappings().first()
    return None if row is None else _release(row)


def release_of(connection: Connection, digest: str) -> Release | None:
    """The release with this digest."""
    row = connection.execute(select(tables.releases).where(tables.releases.c.digest == digest)).mappings().first()
    return None if row is None else _release(row)


def must(connection: Connection, digest: str) -> Release:
    """The release with this digest, which a row of the ledger names."""
    release = release_of(connection, digest)
    if release is None:
        raise PromotionError(f"the ledger has no release {digest}")
    return release


def move(connection: Connection, release: Release, state: str, reason: str, now: datetime) -> None:
    """Takes a release from the state it was read in to another; refuses if somebody else has moved it since."""
    c = tables.releases.c
    done = connection.execute(update(tables.releases).where(c.digest == release.digest, c.state == release.state).values(state=state))
    if done.rowcount != 1:
        raise PromotionError(f"release {short(release.digest)} of {release.pool} is no longer {release.state}: another run moved it; run this again")
    data = {"release": release.digest, "from": release.state, "to": state, "reason": reason}
    append(connection, now, "state", release.environment, release.pool, data)


def generation_of(connection: Connection, environment: str, pool: str, channel: str) -> int:
    """How often a channel has moved."""
    c = tables.channels.c
    return connection.scalar(select(c.generation).where(c.environment == environment, c.pool == pool, c.channel == channel)) or 0


def point(connection: Connection, environment: str, pool: str, channel: str, release: str | None, now: datetime, generation: int | None = None) -> None:
    """Moves a channel by compare-and-swap on its generation (default: the one in this transaction); the old release stays known."""
    c = tables.channels.c
    where = (c.environment == environment, c.pool == pool, c.channel == channel)
    seen = generation_of(connection, environment, pool, channel) if generation is None else generation
    key = {"environment": environment, "pool": pool, "channel": channel}
    connection.execute(upsert(tables.channels).values(**key, generation=0).on_conflict_do_nothing())
    moved = {"release": release, "previous": c.release, "generation": seen + 1}
    done = connection.execute(update(tables.channels).where(*where, c.generation == seen).values(**moved))
    if done.rowcount != 1:
        raise PromotionError(f"channel {channel} of {pool} has moved since it was read (generation {seen}); nothing was changed, run this again")
    append(connection, now, "channel", environment, pool, {"channel": channel, "release": release, "generation": seen + 1})


def _refuse_unreal(connection: Connection, environment: str, numbers: Mapping[str, Any]) -> None:
    kind = connection.scalar(select(tables.environments.c.kind).where(tables.environments.c.name == environment))
    if numbers["minimum_rung"] != RUNGS[-1] and kind != LAB:
        raise PromotionError(
            f"goldnode_promotion.minimum_rung is {numbers['minimum_rung']}, but environment {environment} was not registered by create_lab; "
            f"outside a lab only evidence of real GPUs counts: write minimum_rung: {RUNGS[-1]}"
        )


def _row(
    connection: Connection, environment: str, lock: Mapping[str, Any], image_digest: str, numbers: Mapping[str, Any], now: datetime, emergency: bool
) -> dict[str, Any]:
    if digest_without(lock) != lock["digest"]:
        raise PromotionError(
            f"the lock of {lock['pool']} was edited: its digest is not that of its content; write it again: "
            f"ansible-playbook goldnode.gpu.lock_stack -e pool={lock['pool']}"
        )
    stable = on_channel(connection, environment, lock["pool"], STABLE)
    parts = {"lock_digest": lock["digest"], "image_digest": image_digest}
    policy_digest = policy.policy_digest(numbers)
    return {
        **parts,
        "digest": release_digest(lock["pool"], environment, lock["digest"], image_digest, policy_digest),
        "pool": lock["pool"],
        "environment": environment,
        "policy_digest": policy_digest,
        "lock": dict(lock),
        "policy": dict(numbers),
        "risk": EMERGENCY if emergency else risk_class(lock, stable.lock if stable else None),
        "state": states.REGISTERED,
        "registered_at": text_of(now),
    }


def _again(known: Release, emergency: bool) -> Release:
    """A known release as it is: it never leaves a final state, and somebody's word does not change its class afterwards."""
    if known.state in (states.REJECTED, states.SUPERSEDED):
        raise PromotionError(
            f"release {short(known.digest)} of {known.pool} is {known.state} and stays so; "
            "change the pins, the image or the policy and register what comes of it"
        )
    if emergency != (known.risk == EMERGENCY):
        raise PromotionError(
            f"release {short(known.digest)} of {known.pool} is registered as {known.risk} and stays so; "
            f"leave emergency {'out' if emergency else 'as it was (-e emergency=true)'}, or change the policy and register what comes of it"
        )
    return known


def _supersede(connection: Connection, environment: str, pool: str, by: str, now: datetime) -> None:
    former = on_channel(connection, environment, pool, CANDIDATE)
    if former is not None and former.state in states.OPEN:
        move(connection, former, states.SUPERSEDED, f"{short(by)} takes its canaries", now)


def _release(row: RowMapping) -> Release:
    return Release(**{name: row[name] for name in Release.__dataclass_fields__})
