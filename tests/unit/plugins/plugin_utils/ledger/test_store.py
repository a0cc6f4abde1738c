import multiprocessing

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger import tables
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.store import Ledger, append, verify_chain
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import PromotionError
from sqlalchemy import delete, func, select, text, update

from tests.unit.plugins.plugin_utils.ledger.ledger_builders import START


def events(ledger):
    with ledger.read() as connection:
        return connection.scalar(select(func.count()).select_from(tables.events))


def write(ledger, count=3):
    for number in range(count):
        with ledger.write() as connection:
            append(connection, START, "test", "lab", "lab_a10", {"number": number})


def verify(ledger):
    with ledger.read() as connection:
        verify_chain(connection)


def test_a_chain_that_nobody_touched_holds(tmp_path):
    write(Ledger(tmp_path))
    verify(Ledger(tmp_path))


@pytest.mark.parametrize(
    "edit",
    [
        update(tables.events).where(tables.events.c.number == 2).values(data={"number": 9}),
        update(tables.events).where(tables.events.c.number == 1).values(at="2020-01-01T00:00:00Z"),
        update(tables.events).where(tables.events.c.number == 3).values(hash="sha256:" + "0" * 64),
        delete(tables.events).where(tables.events.c.number == 2),
        delete(tables.events).where(tables.events.c.number == 1),
    ],
)
def test_an_edited_or_removed_event_is_found(tmp_path, edit):
    ledger = Ledger(tmp_path)
    write(ledger)
    with ledger.write() as connection:
        connection.execute(edit)
    with pytest.raises(PromotionError, match="chain of events is broken at event"):
        verify(ledger)


def test_an_error_inside_a_transaction_leaves_nothing_of_it(tmp_path):
    ledger = Ledger(tmp_path)
    write(ledger, 1)
    with pytest.raises(RuntimeError), ledger.write() as connection:
        append(connection, START, "test", "lab", "lab_a10", {})
        raise RuntimeError
    assert events(ledger) == 1


def test_a_ledger_whose_first_writer_was_undone_can_be_read(tmp_path):
    with pytest.raises(RuntimeError), Ledger(tmp_path).write():
        raise RuntimeError
    assert events(Ledger(tmp_path)) == 0


def test_what_happens_in_a_reading_block_is_not_kept(tmp_path):
    ledger = Ledger(tmp_path)
    write(ledger, 1)
    with ledger.read() as connection:
        append(connection, START, "test", "lab", "lab_a10", {})
    assert events(ledger) == 1


def _write_many(state_dir):
    write(Ledger(state_dir), 10)


def test_writers_in_four_processes_make_one_chain(tmp_path):
    workers = [multiprocessing.get_context("fork").Process(target=_write_many, args=(tmp_path,)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert events(Ledger(tmp_path)) == 40
    verify(Ledger(tmp_path))


def test_a_ledger_of_a_newer_schema_is_refused_and_left_alone(tmp_path):
    ledger = Ledger(tmp_path)
    write(ledger, 1)
    with ledger.write() as connection:
        connection.execute(update(tables.schema_version).values(version=99))
    with pytest.raises(PromotionError, match="schema version 99"):
        events(ledger)
    with pytest.raises(PromotionError, match="schema version 99"):
        write(ledger, 1)


def test_a_step_of_a_newer_schema_runs_once_on_an_older_ledger(tmp_path, monkeypatch):
    ledger = Ledger(tmp_path)
    write(ledger, 1)
    steps = (*tables.MIGRATIONS, lambda connection: connection.execute(text("CREATE TABLE newer (a INTEGER)")))
    monkeypatch.setattr(tables, "MIGRATIONS", steps)
    write(ledger, 2)
    assert events(ledger) == 3


def test_the_ledger_is_in_write_ahead_mode(tmp_path):
    with Ledger(tmp_path).write() as connection:
        assert connection.scalar(text("PRAGMA journal_mode")) == "wal"
