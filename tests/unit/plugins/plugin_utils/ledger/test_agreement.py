"""Each table edited beside the chain, as somebody with sqlite3 would: nothing is promoted, and no channel is read."""

import sqlite3

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.agreement import check_agreement
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import PromotionError

from tests.unit.plugins.plugin_utils.ledger.ledger_builders import failing

LAST = "(SELECT max(slot) FROM slots)"
FIRST = "(SELECT min(slot) FROM slots)"
COPIED = ("slots", "slot_nodes")


@pytest.fixture
def soaking(pool):
    """A stable release; a candidate with a passing slot, a failing one, and one in which a canary drifted."""
    pool.promoted().register("550.163.02")
    pool.provision("canary-1", "canary-2")
    pool.run()
    pool.run({"canary-1": failing("cuda.too_slow")})
    pool.run({"canary-2": failing("kernel.running_is_wanted")})
    return pool


def copied(connection):
    """The newest slot again, an hour later, with the same bundles and nonces."""
    for table in COPIED:
        names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        columns = ", ".join("replace(slot, 'T12', 'T13')" if name == "slot" else f'"{name}"' for name in names)
        connection.execute(f"INSERT INTO {table} SELECT {columns} FROM {table} WHERE slot = {LAST}")


def edit(pool, *statements):
    with sqlite3.connect(pool.ledger.path) as connection:
        for statement in statements:
            connection.execute(statement) if isinstance(statement, str) else statement(connection)
    connection.close()


def test_what_nobody_edited_agrees(soaking):
    with soaking.ledger.read() as connection:
        check_agreement(connection, "lab", "lab_a10")


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        pytest.param([copied], r"slot .*T13:.*Z is in its tables, but no event made it", id="slot copied"),
        pytest.param(
            [f"DELETE FROM slot_nodes WHERE slot = {LAST}", f"DELETE FROM slots WHERE slot = {LAST}"],
            r"slot .* is in its chain of events, but not in its tables",
            id="slot deleted",
        ),
        pytest.param([f"UPDATE slots SET result = 'PASS' WHERE slot = {LAST}"], "has the result PASS, its chain of events says DRIFTED", id="slot result"),
        pytest.param([f"UPDATE slots SET closed_at = NULL WHERE slot = {LAST}"], "has the closed_at None", id="slot opened again"),
        pytest.param([f"UPDATE slots SET release = 'x' WHERE slot = {FIRST}"], "has the release x", id="slot of another release"),
        pytest.param(["UPDATE slot_nodes SET result = 'PASS'"], "has the result PASS, its chain of events says", id="node result"),
        pytest.param([f"UPDATE slot_nodes SET nonce = 'x' WHERE slot = {LAST}"], "has the nonce x", id="nonce"),
        pytest.param([f"UPDATE slot_nodes SET evidence = '[]' WHERE slot = {LAST}"], r"has the evidence \[\]", id="evidence"),
        pytest.param([f"UPDATE slot_nodes SET boot_id = 'x' WHERE slot = {LAST}"], "has the boot_id x", id="boot"),
        pytest.param([f"DELETE FROM slot_nodes WHERE slot = {LAST} AND node = 'canary-2'"], "canary-2 in slot .* not in its tables", id="node deleted"),
        pytest.param(["UPDATE releases SET risk = 'emergency' WHERE state = 'SOAKING'"], "has the risk emergency", id="risk"),
        pytest.param(["UPDATE releases SET state = 'READY' WHERE state = 'SOAKING'"], "has the state READY, its chain of events says SOAKING", id="state"),
        pytest.param(["UPDATE releases SET image_digest = 'x' WHERE state = 'SOAKING'"], "has the image_digest x", id="image"),
        pytest.param(["UPDATE releases SET lock = json_set(lock, '$.packages', json('[1]'))"], "has the lock sha256:", id="lock"),
        pytest.param(["UPDATE releases SET policy = json_set(policy, '$.fails', 99)"], "has the policy sha256:", id="policy"),
        pytest.param(["UPDATE releases SET number = 9 WHERE number = 1"], "has the place 2, its chain of events says 1", id="order"),
        pytest.param(
            ["UPDATE channels SET release = (SELECT digest FROM releases WHERE number = 2) WHERE channel = 'stable'"],
            "channel stable has the release sha256:",
            id="channel",
        ),
        pytest.param(["UPDATE channels SET generation = 7 WHERE channel = 'stable'"], "channel stable has the generation 7", id="generation"),
        pytest.param(["DELETE FROM channels WHERE channel = 'stable'"], "channel stable is in its chain of events, but not", id="channel deleted"),
        pytest.param(["UPDATE nodes SET taken_out = NULL"], "node canary-2 has the taken_out None, its chain of events says DRIFTED", id="back in"),
        pytest.param(["UPDATE environments SET kind = 'site'"], "environment lab has the kind site", id="environment"),
    ],
)
def test_an_edited_table_is_refused_in_one_sentence(soaking, statements, words):
    edit(soaking, *statements)
    for turn in (soaking.promote, soaking.channels, lambda: soaking.register("550.163.03")):
        with pytest.raises(PromotionError, match=f"the ledger was edited: .*{words}.*; restore the ledger from a copy"):
            turn()


def test_a_copied_slot_makes_no_streak(pool):
    pool.promoted().register("550.163.02")
    pool.provision("canary-1", "canary-2")
    pool.run()
    edit(pool, copied)
    pool.later(hours=1)
    with pytest.raises(PromotionError, match="no event made it"):
        pool.promote()
    assert pool.explain().release.state == "SOAKING"


def test_another_pools_edited_row_holds_nothing_up(soaking):
    edit(soaking, "INSERT INTO channels VALUES ('lab', 'other', 'stable', 'x', NULL, 1)")
    assert soaking.promote().release.state == "SOAKING"


def test_a_nonce_that_two_slots_gave_out_is_refused(pool, monkeypatch):
    monkeypatch.setattr("secrets.token_hex", lambda size: "n" * size)
    pool.lab().register()
    pool.run(hosts={"canary": ["canary-1"]})
    pool.run(hosts={"canary": ["canary-1"]})
    with pytest.raises(PromotionError, match=r"canary-1 in slot .* has the nonce of canary-1 in slot"):
        pool.promote()
