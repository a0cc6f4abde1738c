# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import claim
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.commands import LabError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(claim, "STATE_HOME", tmp_path)
    return tmp_path


@pytest.fixture
def other() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.wait()


def test_a_second_playbook_is_refused_while_the_first_runs(other: subprocess.Popen[bytes]) -> None:
    claim.take("x", "create_lab", other.pid)
    with pytest.raises(LabError, match=f"lab x is held by create_lab .process {other.pid}"):
        claim.take("x", "destroy_lab", os.getpid())


def test_another_lab_is_not_held(other: subprocess.Popen[bytes]) -> None:
    claim.take("x", "create_lab", other.pid)
    claim.take("y", "create_lab", os.getpid())


def test_a_holder_killed_with_sigkill_holds_nothing(other: subprocess.Popen[bytes]) -> None:
    claim.take("x", "create_lab", other.pid)
    other.kill()
    other.wait()
    claim.take("x", "create_lab", os.getpid())


def test_a_pid_that_belongs_to_another_process_by_now_holds_nothing(home: Path) -> None:
    (home / "x.claim").write_text(json.dumps({"pid": "1", "started": "before the boot", "playbook": "create_lab"}))
    claim.take("x", "create_lab", os.getpid())


def test_the_holder_may_take_it_again_and_release_leaves_nothing(home: Path) -> None:
    claim.take("x", "create_lab", os.getpid())
    claim.take("x", "create_lab", os.getpid())
    claim.release("x")
    claim.release("x")
    assert list(home.iterdir()) == []
