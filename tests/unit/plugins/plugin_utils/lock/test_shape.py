import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.shape import dotted, sentences, shown
from hypothesis import given
from hypothesis import strategies as st

SCHEMA = {
    "type": "object",
    "description": "{a, b}",
    "properties": {"a": {"type": "integer", "description": "a whole number"}, "b": {"type": "string", "description": "a text"}},
    "required": ["a"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"a": 1}, []),
        ({}, ["a is missing; accepted: a whole number"]),
        ({"a": "x"}, ['a is "x"; accepted: a whole number']),
        ({"a": 1, "z": 1, "y": 1}, ["unknown key y; accepted: a, b", "unknown key z; accepted: a, b"]),
        ({"a": None, "b": 2}, ["a is empty; accepted: a whole number", "b is the number 2; accepted: a text"]),
        ([], ["the whole is []; accepted: {a, b}"]),
    ],
)
def test_each_difference_is_one_sentence(value, found):
    assert sentences(value, SCHEMA) == found


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=6)


@given(JSON)
def test_any_value_gets_sentences_and_never_an_exception(value):
    found = sentences(value, SCHEMA)
    accepted = isinstance(value, dict) and isinstance(value.get("a"), int) and not isinstance(value["a"], bool)
    assert bool(found) or accepted


def test_a_place_is_written_as_a_person_would():
    assert dotted(["gpus", 0, "count"]) == "gpus[0].count"
    assert dotted([]) == ""


def test_values_are_shown_by_their_kind():
    assert [shown(value) for value in ("x", 12.8, None, True, [1])] == ['"x"', "the number 12.8", "empty", "True", "[1]"]
