import multiprocessing
import os
import signal
from pathlib import Path

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger import promotions, tables
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.store import verify_chain
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import PromotionError
from sqlalchemy import event, select, update

from tests.unit.plugins.plugin_utils.ledger.ledger_builders import Pool, judge

FORK = multiprocessing.get_context("fork")


@pytest.fixture
def ready(pool):
    """A pool with a stable release and a candidate whose soak is over."""
    pool.promoted().register("550.163.02")
    pool.provision("canary-1", "canary-2")
    pool.run()
    pool.run()
    assert pool.explain().release.state == "READY"
    return pool


def moves(pool):
    with pool.ledger.read() as connection:
        rows = connection.execute(select(tables.events.c.data).where(tables.events.c.kind == "state").order_by(tables.events.c.number)).scalars()
        return [(row["from"], row["to"]) for row in rows]


def test_a_ready_release_becomes_stable_and_the_old_one_stays_known(ready):
    old = ready.channels()["stable"].digest
    standing = ready.promote()
    assert (standing.release.state, standing.changed) == ("PROMOTED", True)
    assert ready.channels()["stable"].digest == ready.channels()["candidate"].digest == standing.release.digest
    with ready.ledger.read() as connection:
        verify_chain(connection)
        assert connection.exec_driver_sql("SELECT previous FROM channels WHERE channel = 'stable'").scalar() == old


def test_promoting_again_changes_nothing(ready):
    ready.promote()
    before = moves(ready)
    assert (ready.promote().changed, moves(ready)) == (False, before)


def test_a_release_in_its_soak_is_not_promoted(pool):
    pool.lab().register()
    pool.provision("canary-1", "canary-2")
    pool.run()
    standing = pool.promote()
    assert (standing.release.state, standing.changed) == ("SOAKING", False)
    assert pool.channels()["stable"] is None


def test_explaining_changes_nothing_and_asks_the_database_little(ready):
    queries = []
    ledger = ready.ledger
    event.listen(ledger._engine, "before_cursor_execute", lambda *call: queries.append(call[2]))
    before = ready.ledger.path.read_bytes()
    standing = promotions.explain(ledger, "lab", "lab_a10", ready.now)
    assert len(standing.view.slots) == 2
    assert len([query for query in queries if query.startswith("SELECT") and "schema_version" not in query]) == 4
    assert ready.ledger.path.read_bytes() == before


def test_what_is_not_fresh_any_more_goes_back_to_the_soak(ready):
    ready.later(hours=1)
    assert ready.promote().release.state == "SOAKING"


@pytest.mark.parametrize("damage", [lambda path: path.write_text("{}"), lambda path: path.unlink()])
def test_evidence_that_changed_after_its_slot_was_closed_holds_the_promotion(ready, damage):
    newest = max(path for path in (ready.state_dir / "spool" / "lab_a10").iterdir() if path.name != "provisioned")
    damage(newest / "canary-1.evidence.json")
    assert ready.promote().release.state == "SOAKING"
    assert moves(ready)[-2:] == [("READY", "PROMOTING"), ("PROMOTING", "SOAKING")]


def test_stored_evidence_that_is_judged_worse_today_holds_the_promotion(ready):
    standing = promotions.promote(ready.ledger, "lab", "lab_a10", ready.now, lambda evidence, stack: {**judge(evidence, stack), "verdict": "unknown"})
    assert standing.release.state == "SOAKING"


def test_an_edited_chain_stops_everything_before_the_intent(ready):
    with ready.ledger.write() as connection:
        connection.execute(update(tables.events).where(tables.events.c.number == 3).values(data={}))
    with pytest.raises(PromotionError, match="chain of events is broken at event 3"):
        ready.promote()
    assert ready.explain().release.state == "READY"


def _die(_evidence, _stack):
    os.kill(os.getpid(), signal.SIGKILL)


def _promote_and_die(state_dir, now):
    pool = Pool(Path(state_dir), now)
    promotions.promote(pool.ledger, "lab", "lab_a10", pool.now, _die)


def test_a_promoter_killed_between_intent_and_commit_leaves_stable_alone(ready):
    stable = ready.channels()["stable"]
    worker = FORK.Process(target=_promote_and_die, args=(ready.state_dir, ready.now))
    worker.start()
    worker.join()
    assert worker.exitcode == -signal.SIGKILL
    assert ready.explain().release.state == "PROMOTING"
    assert ready.channels()["stable"] == stable
    assert ready.promote().release.state == "PROMOTED"
    assert moves(ready)[-5:] == [("READY", "PROMOTING"), ("PROMOTING", "SOAKING"), ("SOAKING", "READY"), ("READY", "PROMOTING"), ("PROMOTING", "PROMOTED")]


def _promote(state_dir, now, barrier, results):
    pool = Pool(Path(state_dir), now)
    barrier.wait()
    standing = pool.promote()
    results.put((standing.changed, standing.release.state))


def test_of_promoters_at_once_exactly_one_wins(ready):
    barrier, results = FORK.Barrier(3), FORK.Queue()
    workers = [FORK.Process(target=_promote, args=(ready.state_dir, ready.now, barrier, results)) for _ in range(3)]
    for worker in workers:
        worker.start()
    outcomes = sorted(results.get(timeout=60) for _ in workers)
    for worker in workers:
        worker.join()
    assert outcomes == [(False, "PROMOTED"), (False, "PROMOTED"), (True, "PROMOTED")]
    assert moves(ready).count(("PROMOTING", "PROMOTED")) == 2  # one of them is that of the release before


def test_a_pool_without_a_release_is_one_sentence(pool):
    with pytest.raises(PromotionError, match="lab_a10 has no release in environment lab; register one"):
        pool.explain()
