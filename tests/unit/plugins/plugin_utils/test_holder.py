import os
import subprocess
import sys

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.holder import holder_of, is_alive, start_time


@pytest.fixture
def other(tmp_path):
    """A process whose name has brackets of its own."""
    program = tmp_path / "a) b (c"
    program.symlink_to(sys.executable)
    process = subprocess.Popen([str(program), "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.wait()


def test_the_start_time_is_found_behind_a_name_with_brackets(other):
    assert int(start_time(other.pid)) >= int(start_time(os.getpid()))


def test_a_killed_holder_is_dead_even_before_it_is_waited_for(other):
    holder = holder_of(other.pid)
    assert is_alive(holder)
    other.kill()
    os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
    assert not is_alive(holder)


def test_a_process_that_got_the_id_later_does_not_count():
    assert not is_alive(f"{os.getpid()}:1")
