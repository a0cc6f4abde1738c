# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""One playbook at a time on a lab: who holds it is written down, and a holder that is dead holds nothing.

A playbook's tasks run in processes of their own, so no lock of a task's process can last for the whole playbook; the playbook's
main process is the holder, named by pid and start time (a pid alone may be somebody else's by now).
"""

from __future__ import annotations

import json
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text
from ansible_collections.goldnode.gpu.plugins.plugin_utils.holder import start_time
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.commands import LabError, locked
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.identity import STATE_HOME


def _path(lab_id: str) -> Path:
    return STATE_HOME / f"{lab_id}.claim"


def _holder(lab_id: str) -> dict[str, str] | None:
    path = _path(lab_id)
    if not path.exists():
        return None
    holder: dict[str, str] = json.loads(path.read_text())
    return holder if start_time(int(holder["pid"])) == holder["started"] else None


def take(lab_id: str, playbook: str, pid: int) -> None:
    """Hold the lab for the process `pid` until it ends or releases; a living other holder is an error."""
    with locked(STATE_HOME):
        holder = _holder(lab_id)
        if holder and holder["pid"] != str(pid):
            raise LabError(
                f"lab {lab_id} is held by {holder['playbook']} (process {holder['pid']}), which is still running. "
                "Wait until it has ended, or take another lab for this run: GOLDNODE_LAB=<1 to 8 of a-z and 0-9>"
            )
        write_text(_path(lab_id), json.dumps({"pid": str(pid), "started": start_time(pid), "playbook": playbook}) + "\n")


def release(lab_id: str) -> None:
    """What is left of the claim; the end of the holder releases it as well."""
    with locked(STATE_HOME):
        _path(lab_id).unlink(missing_ok=True)
