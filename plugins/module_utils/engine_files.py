# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A daemon's files are changed so that the daemon runs afterwards, with the new ones or with the former ones.

The former text of each file lies beside it until the daemon has answered with the new one: a run that is killed at any point leaves
what the next run needs to finish or to go back.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Callable, Optional

from ansible_collections.goldnode.gpu.plugins.module_utils.node_files import text_of, write
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError

# Starts the daemon anew; what it said where it does not answer afterwards.
Restart = Callable[[], Optional[str]]


def former_of(path: Path) -> Path:
    """Where the former text of a file lies while the new one is not proven; no engine reads a file of such a name."""
    return path.with_name(f"{path.name}.goldnode-former")


def unfinished(paths: Mapping[Path, str]) -> bool:
    """Whether a run was killed between its first write and the daemon's answer."""
    return any(former_of(path).exists() for path in paths)


def proven_text(path: Path) -> str:
    """The text that the daemon last answered with: the former one where a run was killed, else the file's."""
    former = former_of(path)
    return text_of(former if former.exists() else path)


def take(texts: Mapping[Path, str], daemon: str, restart: Restart) -> None:
    """Writes the files and has the daemon take them; puts all of the former ones back where it does not come up, and refuses with its words."""
    keep_former(texts)
    for path, text in texts.items():
        write(path, text)
    complaint = restart()
    if not complaint:
        forget_former(texts)
        return
    for path in texts:
        write(path, proven_text(path))
    second = restart()
    forget_former(texts)
    state = f"nor does it come up with what was there before: {second}" if second else "the former file is back and the daemon runs with it"
    raise RefusedError(f"{daemon} does not come up with the new {' and '.join(map(str, texts))}: {complaint}; {state}")


def keep_former(paths: Mapping[Path, str]) -> None:
    """All of them before the first change; those of a killed run stay, they are the last that were proven. An empty one: there was no file."""
    for path in paths:
        former = former_of(path)
        if not former.exists():
            text = text_of(path)
            path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            if text:
                write(former, text)
            else:
                former.touch(mode=0o644)


def forget_former(paths: Mapping[Path, str]) -> None:
    for path in paths:
        former_of(path).unlink(missing_ok=True)
