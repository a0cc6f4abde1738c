from dataclasses import replace

from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.history import qualifies, soak_start, streak

from tests.unit.plugins.plugin_utils.promotion.promotion_builders import POLICY, START, node, slot


def test_a_failure_sets_the_streak_back_to_nothing():
    assert streak([slot(0), slot(1, "FAIL"), slot(2)], POLICY) == [slot(2)]


def test_an_inconclusive_slot_neither_counts_nor_resets():
    assert streak([slot(0), slot(1, "INCONCLUSIVE"), slot(2)], POLICY) == [slot(0), slot(2)]


def test_a_gap_longer_than_allowed_resets():
    assert streak([slot(0), slot(4)], POLICY) == [slot(4)]


def test_a_gap_as_long_as_allowed_does_not():
    assert len(streak([slot(0), slot(3)], POLICY)) == 2


def test_the_soak_begins_with_the_streak_and_begins_again_after_a_failure_or_a_gap():
    assert soak_start([slot(0), slot(1, "INCONCLUSIVE"), slot(2)], POLICY) == START
    assert soak_start([slot(0), slot(1, "FAIL"), slot(2)], POLICY) == slot(2).scheduled
    assert soak_start([slot(0), slot(1, "FAIL")], POLICY) is None
    assert soak_start([slot(0), slot(9)], POLICY) == slot(9).scheduled


def test_a_pass_below_the_minimum_rung_does_not_qualify():
    assert not qualifies(slot(0, rung="captured"), POLICY)


def test_a_pass_of_which_the_rung_is_not_known_does_not_qualify():
    assert not qualifies(slot(0, rung=None), POLICY)


def test_a_slot_in_which_only_the_baseline_passed_does_not_qualify():
    assert not qualifies(replace(slot(0), nodes=(node(arm="baseline"),)), POLICY)
