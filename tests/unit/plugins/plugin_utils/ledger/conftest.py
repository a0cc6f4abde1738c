from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # importlib mode leaves it out; the tests share ledger_builders

from ledger_builders import Pool


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    return Pool(tmp_path)
