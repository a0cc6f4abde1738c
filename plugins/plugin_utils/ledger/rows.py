# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The rows of slots and of their nodes: one slot's key, and reading by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger import tables
from sqlalchemy import ColumnElement, Connection, Select, Table, select


@dataclass(frozen=True)
class Key:
    """One slot of one pool."""

    environment: str
    pool: str
    slot: str

    def where(self, table: Table) -> tuple[ColumnElement[bool], ...]:
        """The condition that finds this slot's rows."""
        return (table.c.environment == self.environment, table.c.pool == self.pool, table.c.slot == self.slot)

    def columns(self) -> dict[str, str]:
        """The key as column values."""
        return {"environment": self.environment, "pool": self.pool, "slot": self.slot}


def fetch(connection: Connection, query: Select[Any]) -> list[dict[str, Any]]:
    """A query's rows as mappings of column names."""
    return [{str(name): value for name, value in row.items()} for row in connection.execute(query).mappings()]


def slot_row(connection: Connection, key: Key) -> dict[str, Any] | None:
    """A slot's row."""
    return next(iter(fetch(connection, select(tables.slots).where(*key.where(tables.slots)))), None)


def node_rows(connection: Connection, key: Key) -> list[dict[str, Any]]:
    """The rows of a slot's nodes, canaries and baseline, by name."""
    return fetch(connection, select(tables.slot_nodes).where(*key.where(tables.slot_nodes)).order_by(tables.slot_nodes.c.node))
