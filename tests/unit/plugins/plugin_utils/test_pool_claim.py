"""One run at a time on a pool, whatever became of the last."""

import os
import subprocess

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pool_claim import ClaimError, take


@pytest.fixture
def other():
    """Another living process."""
    process = subprocess.Popen(["/bin/sleep", "60"])
    yield process
    process.kill()
    process.wait()


def test_a_pool_that_a_living_process_holds_is_refused_with_its_name(tmp_path, other):
    take(tmp_path, "lab_a10", other.pid)
    with pytest.raises(ClaimError, match=f"pool lab_a10 is being worked on by process {other.pid}; nothing was changed"):
        take(tmp_path, "lab_a10", os.getpid())


def test_a_killed_process_holds_nothing(tmp_path, other):
    take(tmp_path, "lab_a10", other.pid)
    other.kill()
    os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
    take(tmp_path, "lab_a10", os.getpid())
    assert (tmp_path / "claims/lab_a10").read_text().startswith(f"{os.getpid()}:")


def test_a_process_that_got_the_id_of_a_dead_one_holds_nothing(tmp_path, other):
    take(tmp_path, "lab_a10", other.pid)
    (tmp_path / "claims/lab_a10").write_text(f"{other.pid}:1")
    take(tmp_path, "lab_a10", os.getpid())


def test_the_same_process_may_take_its_pool_again(tmp_path):
    take(tmp_path, "lab_a10", os.getpid())
    take(tmp_path, "lab_a10", os.getpid())


def test_pools_are_held_apart(tmp_path, other):
    take(tmp_path, "lab_a10", other.pid)
    take(tmp_path, "lab_h100", os.getpid())
