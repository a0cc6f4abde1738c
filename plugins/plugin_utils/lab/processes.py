# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Background processes of a lab: each in a control group of its own, which is also the record that it runs."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import cgroups


def start(group: str, argv: Sequence[str | Path], log: Path, env: Mapping[str, str] | None = None) -> None:
    """Start a program in a session of its own, output to `log`. It outlives the caller."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        subprocess.Popen(
            [str(word) for word in argv],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd="/",
            env=dict(env) if env is not None else None,
            start_new_session=True,
            preexec_fn=cgroups.joiner(group),
        )
