"""Captured failures: the first broken layer and its cause, from the evidence alone."""

import pytest

from tests.cases import scoring

BLIND = scoring.HERE / "blind"


@pytest.mark.parametrize("name", scoring.names())
def test_a_captured_failure_is_blamed_on_its_layer_and_cause(name):
    found = scoring.score(name)
    assert (found.layer, found.cause) == (True, True), f"said {found.said}: {found.words}; truth: {found.truth['root_cause']}"


def test_reports_that_somebody_wrote_without_seeing_a_rule_are_nearly_all_named():
    """What the evidence does not decide may stay unknown; what it decides is right in nine of ten (tests/cases/blind/README.md has the first scores)."""
    scores = [found for found in (scoring.score(name, BLIND) for name in scoring.names(BLIND)) if found.sufficient]
    assert len(scores) > 70
    assert sum(found.layer for found in scores) >= 0.95 * len(scores)
    assert sum(found.layer and found.cause for found in scores) >= 0.9 * len(scores)


def test_where_nothing_is_broken_nothing_is_blamed():
    healthy = [found for folder in (scoring.HERE, BLIND) for found in (scoring.score(name, folder) for name in scoring.names(folder))]
    assert [found.name for found in healthy if found.truth["first_broken_layer"] == "none" and found.said != "none"] == []
