"""Each guard of a view that may be promoted, and one change that makes it false alone."""

from dataclasses import replace

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import guards

from tests.unit.plugins.plugin_utils.promotion.promotion_builders import POLICY, lock, node, release, slot, view

GOOD = view(*(slot(minute) for minute in range(4)))


def unmet(seen):
    return [guard.id for guard in guards.unmet(guards.evaluate(seen))]


def with_nodes(minute, **changes):
    return replace(GOOD, slots=(*GOOD.slots[:minute], slot(minute, **changes), *GOOD.slots[minute + 1 :]))


def test_a_whole_streak_of_its_own_evidence_meets_every_built_guard():
    assert unmet(GOOD) == []


@pytest.mark.parametrize(
    ("guard", "changed"),
    [
        pytest.param("G1", replace(GOOD, release=replace(release(), lock=lock(kernel={"version": "6.12.1"}))), id="lock edited"),
        pytest.param("G1", replace(GOOD, release=replace(release(), policy={**release().policy, "coverage": 1})), id="policy edited"),
        pytest.param("G1", replace(GOOD, release=replace(release(), image_digest="sha256:" + "2" * 64)), id="image exchanged"),
        pytest.param("G1", with_nodes(2, seen_nonce="another"), id="nonce not ours"),
        pytest.param("G1", with_nodes(2, seen_boot_id="another"), id="booted in between"),
        pytest.param("G1", with_nodes(2, seen_release="sha256:" + "9" * 64), id="another release"),
        pytest.param("G2", view(*(slot(minute) for minute in (1, 2)), minute=3), id="streak short"),
        pytest.param("G3", replace(GOOD, policy=replace(POLICY, soak_s=3600)), id="soak short"),
        pytest.param("G5", replace(GOOD, policy=replace(POLICY, coverage=3)), id="too few canaries"),
        pytest.param("G6", replace(view(*GOOD.slots, minute=6), policy=replace(POLICY, missed_percent=100)), id="last pass too old"),
        pytest.param("G6", view(slot(0), slot(1), slot(3), slot(4)), id="slots missed"),
        pytest.param("G9", replace(GOOD, stable=release("PROMOTED", number=3, digest="sha256:" + "5" * 64)), id="older than stable"),
    ],
)
def test_this_change_makes_this_guard_alone_false(guard, changed):
    assert unmet(changed) == [guard]


def test_the_first_release_of_a_pool_has_nothing_to_be_newer_than():
    found = {guard.id: guard.state for guard in guards.evaluate(replace(GOOD, stable=None))}
    assert found["G9"] == guards.NOT_APPLICABLE


def test_what_is_not_built_is_listed_and_is_never_met():
    listed = [guard for guard in guards.evaluate(GOOD) if guard.state == guards.NOT_BUILT]
    assert {guard.name for guard in listed} >= {"exercise", "flakes", "inconclusive", "approval", "signatures", "SBOM", "check_pins"}
    assert not {guard.id for guard in listed} & {"G1", "G2", "G3", "G5", "G6", "G9"}


def test_each_guard_says_its_value_its_bound_and_what_it_needs():
    for guard in guards.evaluate(view()):
        assert guard.value and guard.bound and guard.needs


def test_a_mig_profile_is_part_of_what_must_be_covered():
    assert guards.models_of(replace(release(), lock=lock(mig={"profile": "all-1g.10gb"}))) == ["A10 all-1g.10gb"]


def test_eighteen_clean_runs_bound_the_rate_at_17_percent():
    nine = view(*(slot(minute) for minute in range(9)))
    assert guards.rule_of_three(nine) == "18 clean runs bound the failure rate at about 17 % (95 %)"


def test_three_clean_runs_bound_nothing():
    assert "too few" in guards.rule_of_three(replace(view(slot(0)), slots=(replace(slot(0), nodes=(node(),)),)))
