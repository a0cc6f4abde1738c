# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import cgroups
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.commands import LabError

# Debian 12 in a container, hybrid: /proc/self/mountinfo, shortened
HYBRID = """\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
29 28 0:24 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
30 28 0:25 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset
31 28 0:26 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
35 28 0:30 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
36 28 0:31 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
"""
# Debian 13 on a machine with systemd
UNIFIED = """\
24 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot
"""


def test_a_hybrid_machine_gives_v2_and_those_v1_hierarchies_that_account_for_a_node() -> None:
    unified, others = cgroups.hierarchies(HYBRID)
    assert unified == Path("/sys/fs/cgroup/unified")
    assert others == [Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup/systemd")]


def test_a_unified_machine_gives_v2_alone() -> None:
    assert cgroups.hierarchies(UNIFIED) == (Path("/sys/fs/cgroup"), [])


def test_a_machine_without_v2_is_refused() -> None:
    with pytest.raises(LabError, match="no cgroup v2 hierarchy is mounted"):
        cgroups.hierarchies(HYBRID.replace("cgroup2", "tmpfs"))


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for two hierarchies; plain directories behave like control groups for making and removing."""
    mountinfo = tmp_path / "mountinfo"
    mountinfo.write_text(f"1 1 0:1 / {tmp_path}/v2 rw - cgroup2 cgroup2 rw\n2 1 0:2 / {tmp_path}/pids rw - cgroup cgroup rw,pids\n")
    monkeypatch.setattr(cgroups, "MOUNTINFO", mountinfo)
    return tmp_path


def test_joining_enters_the_group_in_every_hierarchy(tree: Path) -> None:
    cgroups.joiner("gnx/node")()
    assert (tree / "v2/gnx/node/cgroup.procs").read_text() == (tree / "pids/gnx/node/cgroup.procs").read_text() == "0"


def test_clearing_removes_the_group_in_every_hierarchy_and_no_other(tree: Path) -> None:
    for directory in ("v2/gnx/node/payload/init.scope", "v2/gnx-other/node", "pids/gnx/node"):
        (tree / directory).mkdir(parents=True)
    assert cgroups.clear("gnx")
    assert not (tree / "v2/gnx").exists()
    assert not (tree / "pids/gnx").exists()
    assert (tree / "v2/gnx-other/node").is_dir()


def test_clearing_nothing_changes_nothing(tree: Path) -> None:
    assert not cgroups.clear("gnx")


def test_populated_is_what_the_kernel_says(tree: Path) -> None:
    group = tree / "v2/gnx"
    group.mkdir(parents=True)
    (group / "cgroup.events").write_text("populated 1\nfrozen 0\n")
    assert cgroups.populated("gnx")
    (group / "cgroup.events").write_text("populated 0\nfrozen 0\n")
    assert not cgroups.populated("gnx")
    assert not cgroups.populated("gny")
