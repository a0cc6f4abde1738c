"""docs/coverage.md is what rules, cases and faults make of it, no rule is without a row and examples, and no row claims more than was shown."""

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.model import RUNGS
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import RULES
from ansible_collections.goldnode.gpu.plugins.plugin_utils.workload.rules import WORKLOAD_RULES

from tests import coverage
from tests.coverage import NONE, Row
from tests.unit.plugins.module_utils.rules.examples import FAILING, runs

ROWS = coverage.rows()
FAULTS = """
| `gpu_gone` | a GPU is gone | [hardware.gpu_count](rules/hardware.gpu_count.md) | real | lab_h100x8 | found, hardware |
| `xid` | the log has Xid 79 | [hardware.gpu_fell_off_the_bus](rules/hardware.gpu_fell_off_the_bus.md) | message | lab_a10 | found, simulated |
| `missed` | something | [driver.persistence](rules/driver.persistence.md) | real | lab_a10 | MISSED, simulated |
"""


def row(*rules, **shown):
    return Row("X", "", rules, "", "", shown)


def test_the_page_is_what_its_data_makes():
    assert (coverage.DOCS / "coverage.md").read_text() == coverage.page(), "write it again: .config/run python -m tests.coverage"


def test_every_rule_has_a_row():
    named = {rule for one in ROWS for rule in one.rules}
    assert sorted({*RULES, *WORKLOAD_RULES} - named) == []


def test_a_row_that_nothing_has_shown_says_where_it_is_done_or_what_is_missing():
    assert [one.name for one in ROWS if one.rung(coverage.sights()) == NONE and not (one.also or one.missing)] == []


@pytest.mark.parametrize("one", [one for one in ROWS if one.shown], ids=lambda one: one.name)
def test_what_is_said_to_show_a_row_is_there(one):
    assert set(one.shown) <= set(RUNGS)
    for where in one.shown.values():
        file, function = where.split()
        assert f"def {function}(" in (coverage.DOCS.parent / file).read_text()


def test_a_fault_that_is_only_a_message_is_no_more_than_captured():
    seen = list(coverage.of_faults(FAULTS))
    assert row("hardware.gpu_fell_off_the_bus").rung(seen) == "captured"
    assert row("hardware.gpu_count").rung(seen) == "hardware"
    assert row("driver.persistence").rung(seen) == NONE


def test_a_rows_rung_is_the_most_real_one():
    assert row(simulated="a b", booted="c d").rung([]) == "booted"
    assert row().rung([]) == NONE


def test_every_rule_has_a_failing_example():
    """test_host_rules and test_container hold each rule to them, and to a healthy example; test_workload_rules the linter's."""
    assert {*FAILING, *(identifier for identifier, _evidence, _words in runs.FAILING)} == set(RULES)
