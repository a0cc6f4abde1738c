# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Control groups of a lab: each node and each server in one of its own, in every hierarchy.

Membership is the record of what runs: it survives `kill -9` of whoever started it, and cannot name a stranger as a reused pid would.
Groups are `<lab prefix>/<name>` below the root of each hierarchy.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.commands import LabError

MOUNTINFO = Path("/proc/self/mountinfo")
# Besides v2 and systemd's own hierarchy: those that account for or limit a node. Not all, since cpuset groups need settings of their own first.
V1_CONTROLLERS = {"name=systemd", "memory", "pids", "cpu", "devices"}


def hierarchies(mountinfo: str) -> tuple[Path, list[Path]]:
    """From /proc/self/mountinfo: where cgroup v2 is mounted, and where those v1 hierarchies are that a node joins too."""
    unified, others = None, []
    for line in mountinfo.splitlines():
        fields, _, tail = line.partition(" - ")
        kind, _, options = tail.split(" ", 2)
        where = Path(fields.split(" ")[4])
        if kind == "cgroup2":
            unified = unified or where
        elif kind == "cgroup" and V1_CONTROLLERS & set(options.split(",")):
            others.append(where)
    if unified is None:
        raise LabError("no cgroup v2 hierarchy is mounted; the lab's nodes need one. Mount it: mount -t cgroup2 none /sys/fs/cgroup/unified")
    return unified, others


def _directories(name: str) -> list[Path]:
    unified, others = hierarchies(MOUNTINFO.read_text())
    return [root / name for root in (unified, *others)]


def joiner(name: str) -> Callable[[], None]:
    """A function for the child between fork and exec: the calling process enters the group in every hierarchy."""
    directories = _directories(name)
    for directory in directories:
        directory.mkdir(parents=True, exist_ok=True)

    def join() -> None:
        for directory in directories:
            (directory / "cgroup.procs").write_text("0")

    return join


def populated(name: str) -> bool:
    """Whether a process lives in the group or below it."""
    events = _directories(name)[0] / "cgroup.events"
    return events.is_file() and "populated 1" in events.read_text()


def members(name: str) -> list[int]:
    """Pids of the group itself, not of those below."""
    procs = _directories(name)[0] / "cgroup.procs"
    return [int(pid) for pid in procs.read_text().split()] if procs.is_file() else []


def wait_empty(name: str, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while populated(name):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def kill(name: str) -> None:
    """SIGKILL to all in the group and below it."""
    switch = _directories(name)[0] / "cgroup.kill"
    if switch.is_file() and populated(name):
        switch.write_text("1")
        if not wait_empty(name, 20):
            raise LabError(f"processes of {name} are still there 20 s after SIGKILL (cgroup {switch.parent}); look at them with ps, then run this again.")


def clear(name: str) -> bool:
    """End all in the group and remove it with all below, in every hierarchy. True if one was there.

    A killed group must not be used again: on Linux 6.18 whatever systemd starts straight into a group (CLONE_INTO_CGROUP) that was killed
    once is killed at its first instruction (seen; the fork compares the kill counters of two groups).
    """
    kill(name)
    removed = [_remove_tree(top) for top in _directories(name)]
    return any(removed)


def _remove_tree(top: Path) -> bool:
    if not top.is_dir():
        return False
    below = sorted((path for path in top.rglob("*") if path.is_dir()), key=lambda path: len(path.parts), reverse=True)
    for directory in [*below, top]:
        _remove_directory(directory)
    return True


def _remove_directory(directory: Path, tries: int = 50) -> None:
    """A v1 hierarchy lets go of a dead process a moment later than v2 says that none lives."""
    for _ in range(tries):
        try:
            return directory.rmdir()
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            time.sleep(0.05)
    return directory.rmdir()
