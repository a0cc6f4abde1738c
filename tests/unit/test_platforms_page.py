"""docs/platforms.md is what its data makes, and each claim names a test that is there."""

import ast

import pytest

from tests import platforms

COLUMNS, PLATFORMS = platforms.read()


def test_the_page_is_what_its_data_makes():
    assert platforms.PAGE.read_text() == platforms.page(), "write it again: .config/run python -m tests.platforms"


@pytest.mark.parametrize("name", PLATFORMS)
def test_each_claim_names_a_column_and_an_existing_test(name):
    assert PLATFORMS[name].keys() <= set(COLUMNS)
    for claim in PLATFORMS[name].values():
        tree = ast.parse((platforms.TOP / claim.file).read_text())
        assert claim.test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_a_level_that_is_none_is_refused():
    with pytest.raises(ValueError, match="has the level proven; expected real, stand-ins, data"):
        platforms.read_claim("proven: test_x")
