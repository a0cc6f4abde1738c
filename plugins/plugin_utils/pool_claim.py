# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""One run at a time works on a pool's nodes: `<state_dir>/claims/<pool>` names its process, and a dead one holds nothing."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text
from ansible_collections.goldnode.gpu.plugins.plugin_utils.holder import holder_of, is_alive
from filelock import FileLock


class ClaimError(Exception):
    """One sentence: who holds the pool and what to do."""


def take(state_dir: Path, pool: str, pid: int) -> None:
    """Hold the pool for the process `pid` until it ends; another process that lives and holds it is an error."""
    claim = state_dir / "claims" / pool
    claim.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(claim.parent / ".lock"):
        holder = claim.read_text() if claim.exists() else None
        if holder not in (None, holder_of(pid)) and is_alive(holder):
            raise ClaimError(f"pool {pool} is being worked on by process {holder.partition(':')[0]}; nothing was changed, wait until that run ends")
        write_text(claim, holder_of(pid))
