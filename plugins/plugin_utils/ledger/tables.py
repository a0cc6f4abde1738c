# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The ledger's tables and the steps between its schema versions. Plain SQL types only, so that it can move to PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import JSON, Boolean, Column, Connection, ForeignKeyConstraint, Integer, MetaData, String, Table, UniqueConstraint

METADATA = MetaData()

schema_version = Table("schema_version", METADATA, Column("version", Integer, primary_key=True))

# An environment that is not listed here is a site: its policies accept no rung below hardware.
environments = Table(
    "environments",
    METADATA,
    Column("name", String, primary_key=True),
    Column("kind", String, nullable=False),
    Column("registered_at", String, nullable=False),
)

releases = Table(
    "releases",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("digest", String, nullable=False, unique=True),
    Column("pool", String, nullable=False),
    Column("environment", String, nullable=False),
    Column("lock_digest", String, nullable=False),
    Column("image_digest", String, nullable=False),
    Column("policy_digest", String, nullable=False),
    Column("lock", JSON, nullable=False),
    Column("policy", JSON, nullable=False),
    Column("risk", String, nullable=False),
    Column("state", String, nullable=False),
    Column("registered_at", String, nullable=False),
)

# A channel moves only by compare-and-swap on its generation; `previous` is the way back.
channels = Table(
    "channels",
    METADATA,
    Column("environment", String, primary_key=True),
    Column("pool", String, primary_key=True),
    Column("channel", String, primary_key=True),
    Column("release", String),
    Column("previous", String),
    Column("generation", Integer, nullable=False),
)

# What the controller knows of a node since it was last provisioned; `taken_out` names the result that took it out.
nodes = Table(
    "nodes",
    METADATA,
    Column("environment", String, primary_key=True),
    Column("pool", String, primary_key=True),
    Column("node", String, primary_key=True),
    Column("release", String, nullable=False),
    Column("provisioned_at", String, nullable=False),
    Column("differed", JSON, nullable=False),
    Column("boot_id", String),
    Column("taken_out", String),
)

slots = Table(
    "slots",
    METADATA,
    Column("environment", String, primary_key=True),
    Column("pool", String, primary_key=True),
    Column("slot", String, primary_key=True),
    Column("release", String, nullable=False),
    Column("holder", String, nullable=False),
    Column("spool", String, nullable=False),
    Column("opened_at", String, nullable=False),
    Column("closed_at", String),
    Column("result", String),
    Column("reason", String),
)

slot_nodes = Table(
    "slot_nodes",
    METADATA,
    Column("environment", String, primary_key=True),
    Column("pool", String, primary_key=True),
    Column("slot", String, primary_key=True),
    Column("node", String, primary_key=True),
    Column("arm", String, nullable=False),
    Column("release", String, nullable=False),
    Column("nonce", String, nullable=False),
    Column("boot_id", String),
    Column("provisioned", Boolean, nullable=False),
    Column("differed", JSON, nullable=False),
    Column("evidence", JSON, nullable=False, default=list),  # [{path, digest}]: the raw bundles, the retry's after the first
    Column("seen", JSON, nullable=False, default=dict),  # {release, nonce, boot_id, rung, first_broken_layer} of the bundle that decided
    Column("rules", JSON, nullable=False, default=list),
    Column("result", String),
    Column("reason", String),
    ForeignKeyConstraint(["environment", "pool", "slot"], ["slots.environment", "slots.pool", "slots.slot"]),
)

events = Table(
    "events",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("at", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("environment", String, nullable=False),
    Column("pool", String, nullable=False),
    Column("data", JSON, nullable=False),
    Column("previous", String, nullable=False),
    Column("hash", String, nullable=False),
    UniqueConstraint("previous"),  # no event has two successors
)


def _first(connection: Connection) -> None:
    METADATA.create_all(connection)


# Step n takes a ledger from version n to n + 1. A later step spells its own ALTER TABLEs: METADATA is always the newest.
MIGRATIONS: tuple[Callable[[Connection], None], ...] = (_first,)
