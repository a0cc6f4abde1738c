"""The pin sets of tests/pins: every bad one is refused or warned of for the right reason, no good one is."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.check import check
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.model import REFUSAL, WARNING

SETS = Path(__file__).parents[1] / "pins"
GOOD = sorted((SETS / "good").glob("*.yml"))
BAD = sorted(path for path in (SETS / "bad").glob("*.yml") if not path.name.endswith(".truth.yml"))
TODAY = date(2026, 11, 30)


def said(path: Path) -> list[Any]:
    report = check(yaml.safe_load(path.read_text())["goldnode_pins"], TODAY)
    return [one for one in report.statements if one.severity in (REFUSAL, WARNING)]


def words(statement: Any) -> str:
    return f"{statement.reason} {(statement.nearest or {}).get('words', '')}".lower()


def test_there_are_enough_of_both():
    assert len(GOOD) >= 60 and len(BAD) >= 60


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_nothing_is_said_against_a_good_set(path):
    assert [(one.rule, one.reason) for one in said(path)] == []


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_bad_set_is_caught_for_its_reason(path):
    truth = yaml.safe_load(path.with_suffix(".truth.yml").read_text())
    allowed = truth["severity"] if isinstance(truth["severity"], list) else [truth["severity"]]
    right = [
        one for one in said(path) if one.severity in allowed and all(any(str(word).lower() in words(one) for word in group) for group in truth["must_mention"])
    ]
    assert right, [(one.severity, one.rule, one.reason) for one in said(path)]
