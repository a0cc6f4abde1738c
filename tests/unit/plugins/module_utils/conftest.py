"""One good node and its lock: what a test changes in them is its case."""

import copy
from pathlib import Path

import pytest
import yaml

EVIDENCE = Path(__file__).parents[3] / "fixtures/evidence"
GOOD = {kind: yaml.load((EVIDENCE / f"good_a10.{kind}.yml").read_text(), yaml.CSafeLoader) for kind in ("evidence", "lock")}


@pytest.fixture
def evidence():
    """The bundle of a node that is as its lock wants it."""
    return copy.deepcopy(GOOD["evidence"])


@pytest.fixture
def lock():
    return copy.deepcopy(GOOD["lock"])
