"""The table of results, row by row."""

from dataclasses import replace
from itertools import permutations

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import RULES
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.results import (
    COMPARING_RULES,
    FAST_RULES,
    RESULTS,
    Answer,
    Expected,
    NodeResult,
    differences_in,
    node_result,
    settled,
    slot_result,
    worst,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.plugins.plugin_utils.promotion.promotion_builders import POLICY

IMAGE = "sha256:" + "c" * 64
EXPECTED = Expected("canary-1", "canary", "sha256:r", "n", "boot-1", provisioned=True, container_images=(IMAGE,))
BUNDLE = {
    "nonce": "n",
    "release": "sha256:r",
    "boot_id": "boot-1",
    "captured_at": "2026-11-30T12:00:00Z",
    "clock": "2026-11-30T12:00:01.5Z",
    "runs": [{"image": f"hub/cuda-canary@{IMAGE}"}],
}
PASSED = {"rule": "cuda.exact_result", "layer": "cuda", "verdict": "pass", "expected": "", "observed": "", "cause": ""}


def failing(rule, **blocked):
    layer = rule.split(".")[0]
    finding = {"rule": rule, "layer": layer, "verdict": "fail", "expected": "a", "observed": "b", "cause": "c"}
    return {"verdict": "fail", "rung": "simulated", "layers": {layer: {"verdict": "fail", **blocked}}, "findings": [PASSED, finding]}


PASSING = {"verdict": "pass", "rung": "simulated", "layers": {}, "findings": [PASSED]}
GOOD = Answer(BUNDLE, PASSING)


def of(answer, expected=EXPECTED):
    return node_result(expected, [answer], POLICY).result


def bundle(**changes):
    return Answer({**BUNDLE, **changes}, PASSING)


def test_an_answer_as_it_was_asked_for_passes():
    assert of(GOOD) == "PASS"


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        pytest.param(Answer(missing="unreachable"), "INCONCLUSIVE", id="no data"),
        pytest.param(Answer(error="no JSON"), "ERROR", id="our own fault"),
        pytest.param(bundle(nonce="old"), "INCONCLUSIVE", id="another nonce"),
        pytest.param(bundle(boot_id="boot-2"), "INCONCLUSIVE", id="booted in between"),
        pytest.param(bundle(boot_id=None), "INCONCLUSIVE", id="boot unknown"),
        pytest.param(bundle(clock="2026-11-30T12:00:40Z"), "INCONCLUSIVE", id="clock skew"),
        pytest.param(bundle(clock=None), "INCONCLUSIVE", id="clock unknown"),
        pytest.param(bundle(runs=[{"image": "hub/other@sha256:" + "d" * 64}]), "INCONCLUSIVE", id="another container image"),
        pytest.param(bundle(release="sha256:x"), "DRIFTED", id="another release"),
        pytest.param(Answer(BUNDLE, {**PASSING, "findings": []}), "INCONCLUSIVE", id="zero checks"),
        pytest.param(Answer(BUNDLE, {**PASSING, "verdict": "unknown"}), "INCONCLUSIVE", id="could not look"),
        pytest.param(Answer(BUNDLE, {**PASSING, "rung": "captured"}), "INCONCLUSIVE", id="rung too low"),
        pytest.param(Answer(BUNDLE, failing("kernel.running_is_wanted")), "DRIFTED", id="kernel moved"),
        pytest.param(Answer(BUNDLE, failing("engine.package_versions")), "DRIFTED", id="package moved"),
        pytest.param(Answer(BUNDLE, failing("driver.module_does_not_load")), "FAIL_FAST", id="driver of its own release"),
        pytest.param(Answer(BUNDLE, failing("cuda.too_slow")), "FAIL", id="any other finding"),
        pytest.param(Answer(BUNDLE, failing("hardware.gpu_count")), "HARDWARE_SUSPECT", id="GPU missing"),
        pytest.param(Answer(BUNDLE, failing("driver.xid_fatal")), "HARDWARE_SUSPECT", id="Xid"),
        pytest.param(Answer(BUNDLE, failing("driver.module_does_not_load", blocked_by="hardware")), "ERROR", id="only a blocked layer fails"),
    ],
)
def test_the_table_of_results(answer, result):
    assert of(answer) == result


def test_a_difference_that_was_there_after_provisioning_is_the_releases_own():
    differed = replace(EXPECTED, differed=("kernel.running_is_wanted: b instead of a",))
    assert of(Answer(BUNDLE, failing("kernel.running_is_wanted")), differed) == "FAIL_FAST"
    assert of(GOOD, differed) == "FAIL_FAST"


def test_a_node_that_was_never_provisioned_has_not_drifted():
    assert of(bundle(release=None), replace(EXPECTED, provisioned=False)) == "INCONCLUSIVE"


def test_a_failure_counts_at_any_rung():
    low = {**failing("driver.module_does_not_load"), "rung": "captured"}
    assert of(Answer(BUNDLE, low)) == "FAIL_FAST"


def test_one_retry_turns_a_failure_into_a_flake():
    slow = Answer(BUNDLE, failing("cuda.too_slow"))
    assert node_result(EXPECTED, [slow, GOOD], POLICY).result == "PASS_WITH_FLAKE"
    assert node_result(EXPECTED, [slow, slow], POLICY).result == "FAIL"


def test_a_fast_failure_has_no_retry():
    assert node_result(EXPECTED, [Answer(BUNDLE, failing("driver.module_does_not_load")), GOOD], POLICY).result == "FAIL_FAST"


def node(name, result, *rules, arm="canary"):
    return NodeResult(name, arm, result, "why", rules)


def slot(*nodes, suspects=None):
    return slot_result(settled(nodes, suspects or {}), POLICY)[0]


def test_both_arms_failing_the_same_way_is_the_environment():
    broken = [node("c1", "FAIL_FAST", "engine.down"), node("c2", "FAIL_FAST", "engine.down")]
    assert slot(*broken, node("b1", "FAIL_FAST", "engine.down", arm="baseline")) == "INCONCLUSIVE"
    assert slot(*broken, node("b1", "FAIL", "cuda.too_slow", arm="baseline")) == "FAIL_FAST"


def test_the_baselines_own_failure_does_not_blame_the_candidate():
    assert slot(node("c1", "PASS"), node("c2", "PASS"), node("b1", "FAIL", "cuda.too_slow", arm="baseline")) == "PASS"


def test_the_same_hardware_fault_on_a_second_node_is_no_hardware_fault():
    assert slot(node("c1", "HARDWARE_SUSPECT", "driver.xid"), node("c2", "PASS")) == "HARDWARE_SUSPECT"
    assert slot(node("c1", "HARDWARE_SUSPECT", "driver.xid"), node("c2", "HARDWARE_SUSPECT", "driver.xid")) == "FAIL_FAST"
    assert slot(node("c1", "HARDWARE_SUSPECT", "driver.xid"), suspects={"c2": ["driver.xid"]}) == "FAIL_FAST"
    assert slot(node("c1", "HARDWARE_SUSPECT", "driver.xid"), node("c2", "PASS"), suspects={"c1": ["driver.xid"]}) == "HARDWARE_SUSPECT"


def test_one_canary_where_two_are_asked_for_is_no_quorum():
    assert slot(node("c1", "PASS")) == "INCONCLUSIVE"


def test_a_slot_without_canaries_is_inconclusive():
    assert slot() == "INCONCLUSIVE"
    assert slot(node("b1", "PASS", arm="baseline")) == "INCONCLUSIVE"


def test_worst_wins_in_the_order_of_the_design():
    assert RESULTS == ("FAIL_FAST", "FAIL", "ERROR", "HARDWARE_SUSPECT", "DRIFTED", "INCONCLUSIVE", "PASS_WITH_FLAKE", "PASS")
    assert all(worst([one, other]) == worst([other, one]) for one, other in permutations(RESULTS, 2))


@given(st.lists(st.sampled_from(RESULTS), max_size=4), st.lists(st.sampled_from(RESULTS), max_size=2))
def test_a_slot_passes_only_if_every_canary_did(canaries, baselines):
    nodes = [node(f"c{n}", result) for n, result in enumerate(canaries)] + [node(f"b{n}", r, arm="baseline") for n, r in enumerate(baselines)]
    passed = slot(*nodes).startswith("PASS")
    assert passed == (len(canaries) >= POLICY.coverage and all(result.startswith("PASS") for result in canaries))


@given(st.dictionaries(st.sampled_from(list(BUNDLE)), st.none() | st.text(max_size=3).filter(lambda text: text not in ("n", ""))))
def test_a_bundle_that_lacks_anything_never_passes(changes):
    changed = {**BUNDLE, **{name: value for name, value in changes.items() if name not in ("runs", "clock", "captured_at") or value is None}}
    changed["runs"] = changed["runs"] or []
    if {k: v for k, v in changed.items() if k != "runs"} != {k: v for k, v in BUNDLE.items() if k != "runs"}:
        assert of(Answer(changed, PASSING)) != "PASS"


def test_only_rules_that_compare_with_the_lock_are_differences():
    assert differences_in(failing("kernel.running_is_wanted")) == ("kernel.running_is_wanted: b instead of a",)
    assert differences_in(failing("driver.module_does_not_load")) == ()


def test_every_rule_that_the_promotion_names_exists():
    assert set(RULES) >= FAST_RULES
    assert all(any(name.endswith(end) for name in RULES) for end in COMPARING_RULES)
