# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Opening the ledger, its transactions, its migrations and its chain of events.

Open it inside the process that uses it, never before a fork. One writer at a time: an OS file lock beside the database, then
`BEGIN IMMEDIATE`. Both fall away with a killed process.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger import tables
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import PromotionError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.clock import text_of
from filelock import FileLock, Timeout
from sqlalchemy import Connection, Engine, create_engine, event, insert, inspect, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

FILE = "ledger.sqlite3"
SPOOL = "spool"
GENESIS = "sha256:" + "0" * 64
LOCK_TIMEOUT_S = 60


class Ledger:
    """The ledger below one state directory. The first writer makes the file and brings it to the newest schema."""

    def __init__(self, state_dir: Path) -> None:
        self.path = state_dir / FILE
        self._lock = FileLock(f"{self.path}.lock", timeout=LOCK_TIMEOUT_S)
        self._engine = _engine(self.path)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """The only writer until the block ends, over several transactions. May be entered again inside."""
        with _in_one_sentence(self.path):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._lock:
                yield

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One writing transaction: all of it is in the ledger afterwards, or nothing."""
        with self.locked():
            if not self.path.exists():
                _refuse_lost(self.path)
            with self._engine.connect() as connection:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                _migrate(connection, self.path)
                yield connection
                connection.commit()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One consistent view. Nothing that happens in it is kept."""
        with _in_one_sentence(self.path):
            if self._outdated():
                with self.write():
                    pass
            with self._engine.connect() as connection:
                connection.exec_driver_sql("BEGIN")
                yield connection
                connection.rollback()

    def _outdated(self) -> bool:
        """True while a writer must bring the schema up: no file yet, an older version, or a first writer that was undone."""
        if not self.path.exists():
            return True
        with self._engine.connect() as connection:
            version = _version(connection)
        _refuse_newer(version, self.path)
        return version < len(tables.MIGRATIONS)


def append(connection: Connection, at: datetime, kind: str, environment: str, pool: str, data: dict[str, Any]) -> None:
    """Adds one event to the chain."""
    last = connection.execute(select(tables.events.c.number, tables.events.c.hash).order_by(tables.events.c.number.desc()).limit(1)).first()
    number, previous = (last.number + 1, last.hash) if last else (1, GENESIS)
    body = {"number": number, "at": text_of(at), "kind": kind, "environment": environment, "pool": pool, "data": data, "previous": previous}
    connection.execute(insert(tables.events).values(**body, hash=digest_of(body)))


def verify_chain(connection: Connection) -> None:
    """Refuses a chain in which an event was edited, removed or put in. A cut tail it cannot see: only signatures could."""
    previous = GENESIS
    for number, row in enumerate(connection.execute(select(tables.events).order_by(tables.events.c.number)).mappings(), start=1):
        body = {name: value for name, value in row.items() if name != "hash"}
        if row["number"] != number or row["previous"] != previous or digest_of(body) != row["hash"]:
            raise PromotionError(
                f"the ledger's chain of events is broken at event {number}: somebody edited it; restore the ledger from a copy before you promote"
            )
        previous = row["hash"]


@contextmanager
def _in_one_sentence(path: Path) -> Iterator[None]:
    """What a ledger that cannot be used raises: a file of another kind, a full disk, a right that is missing, a held lock."""
    try:
        yield
    except Timeout as error:
        raise PromotionError(f"{path} has been locked by another run for {LOCK_TIMEOUT_S} s; wait for it, then run this again") from error
    except (DBAPIError, OSError, JSONDecodeError) as error:
        reason = error.orig if isinstance(error, DBAPIError) else error
        raise PromotionError(
            f"{path} cannot be used ({reason}); see that its disk has space and that you may write there, or restore it from a copy, then run this again"
        ) from error


def _engine(path: Path) -> Engine:
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves: the driver's own begins too late for a reader
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", f"busy_timeout = {LOCK_TIMEOUT_S * 1000}"):
            connection.execute(f"PRAGMA {pragma}")

    return engine


def _version(connection: Connection) -> int:
    if not inspect(connection).has_table(tables.schema_version.name):
        return 0
    return connection.scalar(select(tables.schema_version.c.version)) or 0


def _migrate(connection: Connection, path: Path) -> None:
    version = _version(connection)
    _refuse_newer(version, path)
    if version == 0:
        _refuse_lost(path)
    for step in tables.MIGRATIONS[version:]:
        step(connection)
    if version < len(tables.MIGRATIONS):
        connection.execute(tables.schema_version.delete())
        connection.execute(insert(tables.schema_version).values(version=len(tables.MIGRATIONS)))


def _refuse_newer(version: int, path: Path) -> None:
    if version > len(tables.MIGRATIONS):
        raise PromotionError(f"{path} has schema version {version}, this goldnode knows up to {len(tables.MIGRATIONS)}; use the newer goldnode that wrote it")


def _refuse_lost(path: Path) -> None:
    """Only a ledger that holds a release gets a spool, so beside one a new ledger would silently forget what was promoted and denied."""
    spool = path.parent / SPOOL
    if spool.is_dir() and any(spool.iterdir()):
        raise PromotionError(
            f"{path} is missing or empty, but {spool} holds the evidence of its slots; restore the ledger from a copy, "
            f"or, to begin without its history, move {spool} away"
        )
