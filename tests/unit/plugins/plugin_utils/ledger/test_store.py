import errno
import multiprocessing
import os

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger import tables
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.store import Ledger, append, verify_chain
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import PromotionError
from sqlalchemy import delete, event, func, select, text, update

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


@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(b"no database" * 100), lambda path: path.write_bytes(path.read_bytes()[:5000])])
def test_a_damaged_ledger_is_one_sentence_that_names_the_file(tmp_path, damage):
    write(Ledger(tmp_path))
    damage(Ledger(tmp_path).path)
    for turn in (events, write):
        with pytest.raises(PromotionError, match=r"ledger\.sqlite3 cannot be used \(.*\); see that its disk has space .* or restore it from a copy"):
            turn(Ledger(tmp_path))


def test_a_full_disk_is_one_sentence_and_nothing_is_written(tmp_path):
    write(Ledger(tmp_path), 1)
    full = Ledger(tmp_path)
    event.listen(full._engine, "connect", lambda connection, _record: connection.execute("PRAGMA max_page_count = 1"))
    with pytest.raises(PromotionError, match="database or disk is full"), full.write() as connection:
        append(connection, START, "test", "lab", "lab_a10", {"text": "x" * 100_000})
    with pytest.raises(PromotionError, match="No space left on device"), full.write():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert events(Ledger(tmp_path)) == 1


def test_a_row_that_is_no_json_is_one_sentence(tmp_path):
    write(Ledger(tmp_path))
    with Ledger(tmp_path).write() as connection:
        connection.execute(text("UPDATE events SET data = '{' WHERE number = 2"))
    with pytest.raises(PromotionError, match="cannot be used"):
        verify(Ledger(tmp_path))


def test_a_state_directory_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    for turn in (events, write):
        with pytest.raises(PromotionError, match="cannot be used"):
            turn(Ledger(tmp_path / "file" / "state"))


@pytest.mark.parametrize("lose", [lambda path: path.unlink(), lambda path: path.write_bytes(b"")])
def test_a_lost_ledger_is_not_replaced_by_a_new_one(pool, lose):
    pool.lab().register()
    pool.open()
    lose(pool.ledger.path)
    for turn in (pool.lab, pool.register, pool.open, pool.channels, pool.promote):
        with pytest.raises(PromotionError, match=r"is missing or empty, but .*spool holds the evidence of its slots; restore the ledger from a copy"):
            turn()


def test_a_lost_ledger_can_be_restored_after_it_was_refused(pool):
    pool.lab().register()
    pool.open()
    copy = pool.ledger.path.read_bytes()
    pool.ledger.path.unlink()
    with pytest.raises(PromotionError, match="is missing or empty"):
        pool.channels()
    pool.ledger.path.write_bytes(copy)
    assert pool.channels()["candidate"] is not None


def test_images_that_were_built_before_the_first_release_are_no_lost_ledger(pool):
    (pool.state_dir / "store" / "builds").mkdir(parents=True)
    (pool.state_dir / "spool").mkdir()
    assert pool.lab().register()[1]
