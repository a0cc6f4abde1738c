"""docs/coverage.md is what rules, cases and faults make of it, and no rule is without a row."""

from ansible_collections.goldnode.gpu.plugins.module_utils.rules import RULES

from tests import coverage


def test_the_page_is_what_its_data_makes():
    assert (coverage.DOCS / "coverage.md").read_text() == coverage.page(), "write it again: .config/run python -m tests.coverage"


def test_every_rule_has_a_row():
    named = {rule for row in coverage.rows().values() for rule in row["rules"]}
    assert sorted(set(RULES) - named) == []


def test_a_row_without_rules_says_where_it_is_done_or_that_it_is_missing():
    assert [name for name, row in coverage.rows().items() if not (row["rules"] or row.get("also") or row.get("missing"))] == []
