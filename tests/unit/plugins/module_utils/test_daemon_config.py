import json

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.daemon_config import deciding_line, merge, merged_text
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError
from hypothesis import given
from hypothesis import strategies as st

TREES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)
MAPPINGS = st.dictionaries(st.text(), TREES)


def test_a_neighbour_in_a_nested_mapping_stays():
    """nvidia-ctk 1.20.0 loses `buildkit` here: it replaces the mapping `features`."""
    assert merge({"features": {"buildkit": True}}, {"features": {"cdi": True}}) == {"features": {"buildkit": True, "cdi": True}}


def test_a_list_replaces_a_list():
    assert merge({"dns": ["a"]}, {"dns": ["b"]}) == {"dns": ["b"]}


@given(MAPPINGS, MAPPINGS)
def test_merging_twice_is_merging_once(present, wanted):
    once = merge(present, wanted)
    assert merge(once, wanted) == once


@given(MAPPINGS, MAPPINGS)
def test_no_key_of_the_user_is_lost(present, wanted):
    assert merge(present, wanted).keys() == present.keys() | wanted.keys()


def test_a_file_that_says_it_already_stays_byte_for_byte():
    former = '{"b":1,\n "a": {"x": 1}}'
    assert merged_text(former, {"a": {"x": 1}}, "f") == former


@pytest.mark.parametrize("former", ["", " \n"])
def test_no_file_and_an_empty_one_get_the_options(former):
    assert json.loads(merged_text(former, {"a": 1}, "f")) == {"a": 1}


@pytest.mark.parametrize(("former", "words"), [('{"a": }', "f is not JSON"), ("[1]", "f holds list")])
def test_what_is_no_mapping_is_refused(former, words):
    with pytest.raises(RefusedError, match=words):
        merged_text(former, {"a": 1}, "f")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "Starting up\nunable to configure the Docker daemon with file f: invalid character '}'\nMain process exited\n",
            "unable to configure the Docker daemon with file f: invalid character '}'",
        ),
        ('level=info msg="x"\nfailed to start daemon: no such driver\nexited', "failed to start daemon: no such driver"),
        ("exited\n", "exited"),
        ("", "it said nothing"),
    ],
)
def test_the_daemons_deciding_line_is_found(text, line):
    assert deciding_line(text) == line
