# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How the controller runs a program whose failure is an error of one sentence. Questions asked of a tool have their own callers."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def run(
    argv: Sequence[str | Path],
    raising: type[Exception],
    env: Mapping[str, str] | None = None,
    stdin: str | None = None,
    cwd: Path | None = None,
) -> str:
    """The program's stdout; where it is missing or fails, `raising` with the last lines of what it said. `env` is added to ours."""
    words = [str(word) for word in argv]
    try:
        done = subprocess.run(words, input=stdin, capture_output=True, text=True, env={**os.environ, **(env or {})}, cwd=cwd, check=False)
    except FileNotFoundError:
        raise raising(f"{words[0]} is not installed on this machine: install it (make setup) and run again") from None
    if done.returncode == 0:
        return done.stdout
    said = " / ".join((done.stderr or done.stdout).strip().splitlines()[-5:]) or "nothing"
    if "No space left on device" in said:
        raise raising(f"no space left ({words[0]} said: {said}); free some and run the same command again")
    raise raising(f"{' '.join(words[:6])} ended with {done.returncode}: {said}")
