import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger import releases
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.store import verify_chain
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import PromotionError, policy

from tests.unit.plugins.plugin_utils.ledger.ledger_builders import IMAGE, POLICY, lock


def test_a_registered_release_is_verified_and_on_candidate(pool):
    release, changed = pool.lab().register()
    assert (changed, release.state, release.risk) == (True, "VERIFIED", "major")
    assert pool.channels() == {"candidate": release, "stable": None}


def test_the_same_three_parts_are_the_same_release(pool):
    first, _ = pool.lab().register()
    assert pool.register() == (first, False)


def test_a_newer_candidate_supersedes_the_one_before(pool):
    first, _ = pool.lab().register()
    second, _ = pool.register("550.163.02")
    with pool.ledger.read() as connection:
        assert releases.release_of(connection, first.digest).state == "SUPERSEDED"
    assert pool.channels()["candidate"] == second
    assert second.number > first.number


def test_a_superseded_release_stays_so(pool):
    pool.lab().register()
    pool.register("550.163.02")
    with pytest.raises(PromotionError, match="is SUPERSEDED and stays so"):
        pool.register()


def test_a_rung_below_hardware_needs_a_lab(pool):
    with pytest.raises(PromotionError, match="was not registered by create_lab"):
        pool.register()
    assert pool.register(minimum_rung="hardware")[1]


def test_an_environment_never_becomes_another_kind(pool):
    pool.lab()
    assert not releases.register_environment(pool.ledger, "lab", "lab", pool.now)
    with pytest.raises(PromotionError, match="is registered as lab"):
        releases.register_environment(pool.ledger, "lab", "site", pool.now)


def test_a_lab_makes_no_other_environment_a_lab(pool):
    pool.lab()
    with pytest.raises(PromotionError, match="environment prod was not registered"):
        releases.register(pool.ledger, "prod", lock(), IMAGE, policy.complete(POLICY, "a test"), pool.now)


def test_an_edited_lock_is_refused(pool):
    edited = {**lock(), "images": [{"use": "canary"}]}
    with pytest.raises(PromotionError, match="was edited"):
        releases.register(pool.lab().ledger, "lab", edited, IMAGE, policy.complete(POLICY, "a test"), pool.now)


def test_emergency_is_only_what_somebody_says(pool):
    release, _ = releases.register(pool.lab().ledger, "lab", lock(), IMAGE, policy.complete(POLICY, "a test"), pool.now, emergency=True)
    assert release.risk == "emergency"


@pytest.mark.parametrize(("first", "again", "words"), [(False, True, "as major .* leave emergency out"), (True, False, "as emergency .* as it was")])
def test_a_release_does_not_change_its_class_afterwards(pool, first, again, words):
    numbers = policy.complete(POLICY, "a test")
    releases.register(pool.lab().ledger, "lab", lock(), IMAGE, numbers, pool.now, emergency=first)
    with pytest.raises(PromotionError, match=words):
        releases.register(pool.ledger, "lab", lock(), IMAGE, numbers, pool.now, emergency=again)
    assert not releases.register(pool.ledger, "lab", lock(), IMAGE, numbers, pool.now, emergency=first)[1]


def test_a_channel_that_moved_in_between_is_not_moved_again(pool):
    pool.lab().register()
    with pool.ledger.write() as connection:
        stale = releases.generation_of(connection, "lab", "lab_a10", "candidate")
        releases.point(connection, "lab", "lab_a10", "candidate", None, pool.now)
    with pytest.raises(PromotionError, match="has moved since it was read"), pool.ledger.write() as connection:
        releases.point(connection, "lab", "lab_a10", "candidate", "sha256:x", pool.now, stale)


def test_the_release_before_stays_known_on_its_channel(pool):
    first, _ = pool.lab().register()
    pool.register("550.163.02")
    with pool.ledger.read() as connection:
        row = connection.exec_driver_sql("SELECT previous, generation FROM channels WHERE channel = 'candidate'").one()
        verify_chain(connection)
    assert tuple(row) == (first.digest, 2)
