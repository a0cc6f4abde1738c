# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Keeps one node running: `python -m …lab.supervisor NODE_DIR`. Starts the machine again when it reboots, and only then.

systemd-nspawn under `--keep-unit` does not restart a container that reboots: it ends with 133 (lab facts, section 1).
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import cgroups

REBOOT = 133


def run_until_off(group: str, argv: list[str], env: dict[str, str]) -> int:
    """The exit status of the last run. Left-overs go first: a killed nspawn leaves its machine alive, and a second start beside it would succeed."""
    status = REBOOT
    while status == REBOOT:
        cgroups.clear(group)
        status = subprocess.run(argv, stdin=subprocess.DEVNULL, env=env, preexec_fn=cgroups.joiner(group), check=False).returncode
        print(f"supervisor: the machine ended with {status}", flush=True)
    cgroups.clear(group)
    return status


if __name__ == "__main__":
    spec = json.loads((Path(sys.argv[1]) / "machine.json").read_text())
    sys.exit(run_until_off(spec["group"], spec["argv"], spec["env"]))
