from dataclasses import replace
from datetime import timedelta

from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import states
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.history import streak
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.results import RESULTS
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.unit.plugins.plugin_utils.promotion.promotion_builders import POLICY, START, release, slot, view


def path(state, *slots, **changes):
    seen = view(*slots, **changes)
    return [to for to, _reason in states.after_slots(replace(seen, release=release(state)))]


def test_a_first_passing_slot_stages_and_starts_the_soak():
    assert path("VERIFIED", slot(0)) == ["STAGED", "SOAKING"]


def test_a_canary_that_reports_another_release_is_not_staged():
    assert path("VERIFIED", slot(0, "INCONCLUSIVE", seen_release="sha256:" + "9" * 64)) == []


def test_a_staged_release_waits_for_a_qualifying_slot():
    assert path("VERIFIED", slot(0, "INCONCLUSIVE")) == ["STAGED"]


def test_a_whole_streak_makes_it_ready():
    assert path("SOAKING", *(slot(minute) for minute in range(4))) == ["READY"]


def test_ready_is_not_sticky():
    assert path("READY", *(slot(minute) for minute in range(4)), minute=9) == ["SOAKING"]


def test_one_fast_failure_rejects():
    assert path("SOAKING", slot(0), slot(1, "FAIL_FAST")) == ["REJECTED"]


def test_two_failures_are_within_the_budget_and_three_are_not():
    assert path("SOAKING", slot(0), slot(1, "FAIL"), slot(2, "FAIL")) == []
    assert path("SOAKING", slot(0), slot(1, "FAIL"), slot(2, "FAIL"), slot(3, "FAIL")) == ["REJECTED"]


def test_an_intent_without_a_commit_goes_back_to_the_soak():
    assert path("PROMOTING", slot(0)) == ["SOAKING"]


def test_final_states_stay():
    for state in ("PROMOTED", "REJECTED", "SUPERSEDED", "EXPIRED", "RETIRED", "QUARANTINED"):
        assert path(state, slot(0, "FAIL_FAST")) == []


def test_four_errors_in_a_row_are_the_condition_harness():
    errors = [slot(minute, "ERROR") for minute in range(4)]
    assert states.harness(errors, POLICY)
    assert not states.harness([*errors[:3], slot(3)], POLICY)


@given(st.lists(st.sampled_from([result for result in RESULTS if not result.startswith("PASS")])))
@settings(max_examples=50)
def test_without_a_pass_nothing_is_ever_ready(results):
    slots = [slot(minute, result) for minute, result in enumerate(results)]
    assert "READY" not in path("VERIFIED", *slots)


class ReleaseLife(RuleBasedStateMachine):
    """Slots of any result at any distance, and promotions at any moment, as the ledger would run them."""

    @initialize()
    def begin(self):
        self.release, self.slots, self.minute, self.rejected = release("VERIFIED"), [], 0, False

    @rule(result=st.sampled_from(RESULTS), distance=st.integers(1, 4), rung=st.sampled_from(["captured", "simulated", None]))
    def close_slot(self, result, distance, rung):
        self.minute += distance
        self.slots.append(slot(self.minute, result, rung=rung))
        self._advance()

    @rule(distance=st.integers(0, 5))
    def try_to_promote(self, distance):
        self.minute += distance
        self._advance()
        if self.release.state == "READY":
            self.release = replace(self.release, state="PROMOTED")
            self._promoted_from = (streak(self.slots, POLICY), self._view().now)

    @invariant()
    def promoted_only_on_a_fresh_whole_streak(self):
        if self.release.state != "PROMOTED":
            return
        passing, at = self._promoted_from
        assert len(passing) >= POLICY.streak
        assert all(one.result in ("PASS", "PASS_WITH_FLAKE") for one in passing)
        assert at - passing[-1].scheduled < timedelta(seconds=(POLICY.freshness + 1) * POLICY.slot_s)

    @invariant()
    def rejected_is_final(self):
        self.rejected = self.rejected or self.release.state == "REJECTED"
        assert not self.rejected or self.release.state == "REJECTED"

    @invariant()
    def a_fast_failure_before_the_promotion_rejects(self):
        if self.release.state != "PROMOTED":
            assert (self.release.state == "REJECTED") or not any(one.result == "FAIL_FAST" for one in self.slots)

    def _view(self):
        return replace(view(*self.slots), release=self.release, now=START + timedelta(minutes=self.minute, seconds=5))

    def _advance(self):
        for state, _reason in states.after_slots(self._view()):
            self.release = replace(self.release, state=state)


ReleaseLife.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestReleaseLife = ReleaseLife.TestCase
