# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Who holds an open slot, a builder or a lab: a process, known by its id and its start, so that a killed run is told from a running one."""

from __future__ import annotations

from pathlib import Path


def holder_of(pid: int) -> str:
    """`<pid>:<start time in clock ticks since boot>` of a living process."""
    return f"{pid}:{start_time(pid)}"


def is_alive(holder: str) -> bool:
    """True while exactly that process lives; another one that got its id later does not count."""
    pid, _, started = holder.partition(":")
    return started == start_time(int(pid))


def start_time(pid: int) -> str:
    """Field 22 of /proc/<pid>/stat (proc(5)), counted after the command's closing parenthesis; empty when there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] == "Z" else fields[19]
