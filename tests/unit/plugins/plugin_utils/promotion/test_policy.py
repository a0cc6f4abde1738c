import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import PromotionError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.clock import seconds_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.policy import DEFAULTS, SLOTS, complete, policy_digest, policy_for
from hypothesis import given
from hypothesis import strategies as st

FILE = "group_vars/lab_a10/promotion.yml"


def test_an_empty_policy_is_the_strict_one():
    assert complete({}, FILE) == DEFAULTS
    assert policy_for(complete({}, FILE), "minor").streak == 24


def test_one_number_of_a_risk_class_leaves_the_others():
    assert complete({"streak": {"patch": 2}}, FILE)["streak"] == {"patch": 2, "minor": 24, "major": 48, "emergency": 2}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"steak": {}}, "unknown key 'steak'; known keys are clock_skew"),
        ({"streak": {"huge": 1}}, "goldnode_promotion.streak has the unknown key 'huge'"),
        ({"streak": {"patch": 0}}, "goldnode_promotion.streak.patch is wrong: 0 is less than"),
        ({"soak": {"patch": "1 day"}}, "goldnode_promotion.soak.patch is '1 day'; write a number and a unit"),
        ({"slot": "7m"}, "goldnode_promotion.slot is '7m'; write one of 1s"),
        ({"minimum_rung": "dreamt"}, "write one of captured, simulated, booted, hardware"),
        ({"coverage": "2"}, "goldnode_promotion.coverage is wrong: '2' is not of type"),
        ({"streak": {"patch": 10_001}}, "goldnode_promotion.streak.patch is wrong: 10001 is greater than the maximum of 10000"),
        ({"fails": 10**30}, "goldnode_promotion.fails is wrong"),
        ({"soak": {"major": "367d"}}, "goldnode_promotion.soak.major is longer than 366d"),
        ({"soak": {"patch": "9" * 5000 + "d"}}, "goldnode_promotion.soak.patch is"),
        ({"clock_skew": "9999999999d"}, "goldnode_promotion.clock_skew is longer than 366d"),
        ([], "goldnode_promotion is wrong"),
    ],
)
def test_a_wrong_policy_is_one_sentence_that_names_file_and_key(wrong, words):
    with pytest.raises(PromotionError) as error:
        complete(wrong, FILE)
    assert words in str(error.value)
    assert str(error.value).startswith(FILE)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_any_value_is_a_policy_or_one_sentence(value):
    try:
        policy_for(complete(value, FILE), "major")
    except PromotionError as error:
        assert str(error).startswith(FILE)


def test_every_slot_length_divides_a_day():
    assert all(86400 % seconds_of(slot) == 0 for slot in SLOTS)


def test_another_number_is_another_policy():
    assert policy_digest(complete({}, FILE)) != policy_digest(complete({"coverage": 1}, FILE))
