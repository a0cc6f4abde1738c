from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.plugins.plugin_utils.ledger.ledger_builders import Pool


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    return Pool(tmp_path)
