import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger import slots
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.action import judge as real_judge
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.rows import Key
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import PromotionError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.results import PASSING as PASSING_RESULTS
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.plugins.plugin_utils.ledger.ledger_builders import HOSTS, PASSING, Pool, failing, judge

LOADED = failing("driver.module_does_not_load")


def state(pool):
    return pool.explain().release.state


def test_a_pool_without_a_release_has_no_slot(pool):
    with pytest.raises(PromotionError, match="both channels of lab_a10 are empty"):
        pool.open()


def test_the_first_release_has_its_canaries_and_no_baseline(pool):
    pool.lab().register()
    opened = pool.open()
    assert [(node["node"], node["arm"]) for node in opened["expected"]] == [("canary-1", "canary"), ("canary-2", "canary")]
    assert len({node["nonce"] for node in opened["expected"]}) == 2
    assert Path(opened["spool"]).is_dir()
    assert opened["stacks"][opened["release"]]["pool"] == "lab_a10"


def test_one_baseline_runs_the_same_slot_on_stable(pool):
    stable = pool.promoted().channels()["stable"]
    candidate, _ = pool.register("550.163.02")
    pool.later(minutes=1)
    arms = {node["node"]: node["release"] for node in pool.open()["expected"]}
    assert arms == {"canary-1": candidate.digest, "canary-2": candidate.digest, "baseline-1": stable.digest}


def test_a_host_with_two_roles_is_refused_and_no_slot_is_opened(pool):
    pool.promoted()
    pool.later(minutes=1)
    with pytest.raises(PromotionError, match="host baseline-1 is in lab_a10_canary and in lab_a10_baseline; leave it in one"):
        pool.open({"canary": ["canary-1", "baseline-1"], "baseline": ["baseline-1"]})
    assert len(pool.open({"canary": ["canary-1", "canary-1"], "baseline": ["baseline-1"]})["expected"]) == 2


def test_a_slot_id_is_its_scheduled_time(pool):
    pool.lab().register()
    pool.later(seconds=42)
    assert pool.open()["slot"] == "2026-11-30T12:00:00Z"


def test_passing_canaries_start_the_soak(pool):
    pool.lab().register()
    pool.provision("canary-1", "canary-2")
    closed = pool.run()
    assert (closed["result"], closed["release_state"]) == ("PASS", "SOAKING")


def test_all_unreachable_is_an_inconclusive_slot_that_is_written(pool):
    pool.lab().register()
    closed = pool.run({"canary-1": None, "canary-2": None})
    assert (closed["closed"], closed["result"], closed["release_state"]) == (True, "INCONCLUSIVE", "VERIFIED")
    assert "unreachable" in closed["reason"]


def test_a_closed_slot_is_not_run_again(pool):
    pool.lab().register()
    first = pool.run()
    again = pool.open()
    assert (again["closed"], again["changed"], again["result"], again["expected"]) == (True, False, first["result"], [])
    assert pool.close(first["slot"])["changed"] is False


def test_the_next_run_closes_what_a_dead_one_left_open(pool):
    pool.lab().register()
    pool.provision("canary-1", "canary-2")
    dead = pool.open()
    for expected in dead["expected"]:
        pool.answer(dead["spool"], expected)
    pool.later(minutes=1)
    assert pool.open()["slot"] != dead["slot"]
    assert pool.close(dead["slot"])["result"] == "PASS"


def test_a_slot_whose_run_lives_is_left_alone(pool):
    pool.lab().register()
    pool.open()
    with pytest.raises(PromotionError, match="is being run by process 1"):
        pool.open(alive=True)


def test_a_driver_that_does_not_load_on_its_own_release_rejects_it(pool):
    stable = pool.promoted().channels()["stable"]
    pool.register("550.163.02")
    pool.provision("canary-1", "canary-2", judgement=LOADED)
    closed = pool.run({"canary-1": LOADED, "canary-2": LOADED})
    assert (closed["result"], closed["release_state"]) == ("FAIL_FAST", "REJECTED")
    assert pool.channels() == {"candidate": stable, "stable": stable}


def test_a_kernel_forced_by_hand_is_drift_and_the_release_is_not_blamed(pool):
    pool.promoted().register("550.163.02")
    pool.provision("canary-1", "canary-2")
    pool.run()
    closed = pool.run({"canary-1": failing("kernel.running_is_wanted")})
    assert (closed["result"], closed["release_state"]) == ("DRIFTED", "SOAKING")


def test_a_node_that_is_out_is_expected_again_once_provisioned(pool):
    pool.promoted().register("550.163.02")
    pool.provision("canary-1", "canary-2")
    pool.run({"canary-1": failing("kernel.running_is_wanted")})
    pool.later(minutes=1)
    first = pool.open()
    assert "canary-1" not in [node["node"] for node in first["expected"]]
    pool.close(first["slot"])
    pool.provision("canary-1")
    pool.later(minutes=1)
    assert "canary-1" in [node["node"] for node in pool.open()["expected"]]


def test_a_release_that_differs_right_after_provisioning_is_rejected(pool):
    pool.lab().register()
    pool.provision("canary-1", judgement=failing("kernel.running_is_wanted"))
    pool.provision("canary-2")
    closed = pool.run({"canary-1": failing("kernel.running_is_wanted")})
    assert (closed["result"], closed["release_state"]) == ("FAIL_FAST", "REJECTED")
    assert pool.channels()["candidate"] is None


def test_a_boot_that_the_controller_did_not_see_does_not_count_once(pool):
    pool.lab().register()
    pool.provision("canary-1", "canary-2")
    results = []
    for _ in range(2):
        pool.later(minutes=1)
        opened = pool.open()
        for expected in opened["expected"]:
            pool.answer(opened["spool"], expected, boot_id="another")
        results.append(pool.close(opened["slot"])["result"])
    assert results == ["INCONCLUSIVE", "PASS"]


def test_a_retry_that_passes_is_a_flake(pool):
    pool.lab().register()
    pool.provision("canary-1", "canary-2")
    pool.later(minutes=1)
    opened = pool.open()
    for expected in opened["expected"]:
        pool.answer(opened["spool"], expected, failing("cuda.too_slow"))
        pool.answer(opened["retry_spool"], expected)
    assert pool.close(opened["slot"])["result"] == "PASS_WITH_FLAKE"


def test_three_failing_slots_reject(pool):
    pool.lab().register()
    pool.provision("canary-1", "canary-2")
    states = [pool.run({"canary-1": failing("cuda.too_slow")})["release_state"] for _ in range(3)]
    assert states == ["STAGED", "STAGED", "REJECTED"]


@pytest.mark.parametrize("content", ["", "{", "[" * 100_000, "[]", "{}", '{"schema": "goldnode.evidence/v9"}', "\x00"], ids=lambda content: repr(content[:20]))
def test_a_bundle_that_cannot_be_judged_is_our_own_error(pool, content):
    pool.lab().register()
    opened = pool.open()
    for expected in opened["expected"]:
        (Path(opened["spool"]) / f"{expected['node']}.evidence.json").write_text(content)
    assert pool.close(opened["slot"])["result"] == "ERROR"


WRONG_TYPES = [
    *({"release": value} for value in (5, {}, ["x"])),
    *({"clock": value} for value in ("junk", 7, "9999-12-31T23:59:59-14:00", {})),
    {"captured_at": "junk"},
    *({"runs": value} for value in ([1], "x", {"a": 1}, 3)),
    *({"boot_id": value} for value in ({}, 10**30, "\ud800", [])),
    *({"nonce": value} for value in (1, ["x"])),
    {"schema": None},
]


@pytest.mark.parametrize("changes", WRONG_TYPES, ids=repr)
def test_a_bundle_of_another_shape_is_an_error_of_that_node_alone(pool, changes):
    pool.lab().register()
    pool.provision("canary-1", "canary-2")
    opened = pool.open()
    first, second = opened["expected"]
    pool.answer(opened["spool"], first, **changes)
    pool.answer(opened["spool"], second)
    closed = pool.close(opened["slot"])
    assert [node["result"] for node in closed["nodes"]] == ["ERROR", "PASS"]
    assert "canary-1.evidence.json cannot be judged: " in closed["reason"] or "could not be judged: UnicodeEncodeError" in closed["reason"]


@pytest.mark.parametrize("changes", [{"clock": "junk"}, {"boot_id": {}}, {"runs": [1]}], ids=repr)
def test_a_bundle_of_another_shape_is_not_recorded_as_provisioned(pool, changes):
    release, _ = pool.lab().register()
    bundle = pool.bundle({"nonce": "p", "release": release.digest}, **changes)
    with pytest.raises(PromotionError, match=r"the bundle of canary-1 cannot be judged: .*; provision canary-1 again"):
        slots.record_provisioned(pool.ledger, "lab", "lab_a10", "canary-1", release.digest, bundle, pool.now, judge)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.characters(categories=None) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ("schema", "nonce", "release", "boot_id", "captured_at", "clock", "runs", "rung", "probes", "stated", "roots", "probe_version")
NODES = [f"canary-{number}" for number in range(40)]


def closed_with(make):
    """A slot of many canaries, closed with what `make` leaves of each one's passing bundle; judged by the real judge."""
    with TemporaryDirectory() as folder:
        pool = Pool(Path(folder))
        pool.lab().register()
        opened = pool.open({"canary": NODES})
        for expected in opened["expected"]:
            (Path(opened["spool"]) / f"{expected['node']}.evidence.json").write_text(json.dumps(make(pool.bundle(expected))))
        return slots.close_slot(pool.ledger, Key("lab", "lab_a10", opened["slot"]), pool.now, real_judge)


@settings(max_examples=8)
@given(st.lists(JSON, min_size=len(NODES), max_size=len(NODES)))
def test_any_json_as_a_bundle_closes_the_slot_and_is_no_pass(values):
    left = iter(values)
    closed = closed_with(lambda _bundle: next(left))
    assert closed["closed"]
    assert not {node["result"] for node in closed["nodes"]} & PASSING_RESULTS


@settings(max_examples=8)
@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), JSON, min_size=1, max_size=3), min_size=len(NODES), max_size=len(NODES)))
def test_any_json_in_the_fields_of_a_bundle_closes_the_slot_and_is_no_pass(values):
    left = iter(values)
    closed = closed_with(lambda bundle: {**bundle, **next(left)})
    assert closed["closed"]
    assert not {node["result"] for node in closed["nodes"]} & PASSING_RESULTS


def test_a_node_whose_result_cannot_be_computed_is_an_error_of_that_node_alone(pool):
    pool.lab().register()
    pool.provision("canary-1", "canary-2")
    closed = pool.run({"canary-1": {"verdict": "fail"}})
    assert [node["result"] for node in closed["nodes"]] == ["ERROR", "PASS"]


def test_a_bundle_of_an_earlier_slot_is_not_taken_again(pool):
    pool.lab().register()
    pool.provision("canary-1", "canary-2")
    before = pool.open()
    pool.close(before["slot"])
    pool.later(minutes=1)
    opened = pool.open()
    for old in before["expected"]:
        pool.answer(opened["spool"], old)
    assert pool.close(opened["slot"])["result"] == "INCONCLUSIVE"


def test_a_node_that_reports_another_release_is_not_recorded_as_provisioned(pool):
    release, _ = pool.lab().register()
    bundle = pool.bundle({"nonce": "p", "release": "sha256:other"})
    with pytest.raises(PromotionError, match="reports release"):
        slots.record_provisioned(pool.ledger, "lab", "lab_a10", "canary-1", release.digest, bundle, pool.now, judge)


def test_a_bundle_of_an_earlier_turn_is_not_recorded_as_provisioned(pool):
    release, _ = pool.lab().register()
    asked = (pool.ledger, "lab", "lab_a10", "canary-1", release.digest, pool.bundle({"nonce": "old", "release": release.digest}), pool.now, judge)
    with pytest.raises(PromotionError, match="the bundle of canary-1 does not carry the nonce of this turn"):
        slots.record_provisioned(*asked, nonce="new")
    assert slots.record_provisioned(*asked, nonce="old")["differences"] == []


def test_the_provisioning_bundle_is_kept_as_it_came(pool):
    pool.lab().register()
    pool.provision("canary-1")
    (kept,) = (pool.state_dir / "spool" / "lab_a10" / "provisioned").iterdir()
    assert json.loads(kept.read_text())["stated"]["judgement"] == PASSING


def test_an_unknown_slot_cannot_be_closed(pool):
    pool.lab().register()
    with pytest.raises(PromotionError, match="has no slot"):
        pool.close("2026-11-30T00:00:00Z")


def test_a_pool_whose_canaries_are_all_out_is_inconclusive(pool):
    pool.promoted().register("550.163.02")
    pool.provision("canary-1", "canary-2")
    drifted = failing("kernel.running_is_wanted")
    pool.run({"canary-1": drifted, "canary-2": drifted})
    closed = pool.run(hosts={**HOSTS, "baseline": []})
    assert (closed["result"], closed["nodes"]) == ("INCONCLUSIVE", [])
