import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.toml import settings
from ansible_collections.goldnode.gpu.plugins.module_utils.toml_text import toml_text
from hypothesis import given
from hypothesis import strategies as st

KEYS = st.text("abc.-/:", min_size=1, max_size=4)
TREES = st.recursive(st.booleans() | st.integers(0, 9) | st.text("ab/ ", max_size=3), lambda inner: st.dictionaries(KEYS, inner, min_size=1), max_leaves=6)


def test_tables_and_keys_are_written_in_order():
    tree = {"version": 2, "plugins": {"io.containerd.grpc.v1.cri": {"enable_cdi": True, "x": {"y": ["a", "b"]}}}, "imports": ["/etc/*.toml"]}
    assert toml_text(tree) == (
        'imports = ["/etc/*.toml"]\nversion = 2\n\n[plugins."io.containerd.grpc.v1.cri"]\nenable_cdi = true\n\n'
        '[plugins."io.containerd.grpc.v1.cri".x]\ny = ["a", "b"]\n'
    )


def test_an_empty_table_is_there():
    assert toml_text({"a": {}}) == "[a]\n"


@given(st.dictionaries(KEYS, TREES, min_size=1))
def test_what_is_written_is_read_back(tree):
    tomllib = pytest.importorskip("tomllib")
    assert tomllib.loads(toml_text(tree)) == tree


def test_the_parser_of_the_rules_reads_it():
    assert settings(toml_text({"a": {"b.c": {"d": "e"}}})) == {("a", "b.c", "d"): "e"}


def test_null_has_no_form():
    with pytest.raises(TypeError, match="NoneType"):
        toml_text({"a": None})
