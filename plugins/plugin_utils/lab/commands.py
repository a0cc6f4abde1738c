# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Programs that the lab calls, and the one error that it raises."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils import commands


class LabError(Exception):
    """One sentence: what, expected, observed, what to do."""


# The program's stdout; a program that fails becomes a LabError with the last lines of what it said.
run = partial(commands.run, raising=LabError)


def succeeds(argv: Sequence[str | Path]) -> bool:
    """Whether the program is there and ends with 0, for questions asked of a tool."""
    return (
        not missing_programs([str(argv[0])])
        and subprocess.run([str(word) for word in argv], stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0
    )


def missing_programs(names: Sequence[str]) -> list[str]:
    """Those of `names` that are not on the PATH; /usr/sbin counts, since a plain user's PATH may lack it."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return [name for name in names if shutil.which(name, path=path) is None]


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """One process at a time; the lock is on the directory itself, so it leaves no file behind and ends with its holder."""
    directory.mkdir(parents=True, exist_ok=True)
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
