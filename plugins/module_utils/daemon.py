# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""An engine's daemon on this node, asked and restarted by the node's own programs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.daemon_config import deciding_line
from ansible_collections.goldnode.gpu.plugins.module_utils.node_files import text_of


class Daemon:
    """One unit of systemd. `module` is the AnsibleModule that runs the programs."""

    unit = ""
    # What else counts starts on the unit's behalf.
    companions: tuple[str, ...] = ()

    def __init__(self, module: Any) -> None:
        self.module = module

    def answers(self) -> bool:
        """Whether the daemon itself answers, not only its program on the disk."""
        raise NotImplementedError

    def output(self, *command: str) -> str:
        """What a program prints; nothing where it fails or is not installed."""
        known = self.module.get_bin_path(command[0])
        rc, stdout, _err = self.module.run_command(list(command)) if known else (1, "", "")
        return str(stdout) if rc == 0 else ""

    def property(self, name: str) -> str:
        return self.output("systemctl", "show", f"--property={name}", "--value", self.unit).strip()

    def lacks(self, environment: Mapping[str, Any]) -> bool:
        """Whether the running daemon was started without one of the variables."""
        given = text_of(Path("/proc") / self.property("MainPID") / "environ").split("\0")
        return any(f"{name}={value}" not in given for name, value in environment.items())

    def journal(self, since: int) -> str:
        """What it said since a second of the epoch."""
        return self.output("journalctl", f"--unit={self.unit}", f"--since=@{since}", "--output=cat", "--no-pager")

    def restart(self) -> str | None:
        """Restarts it; what it said where it did not come up."""
        # Restarts within a short time add up to "start of the service was attempted too often"; the count starts anew here.
        self.output("systemctl", "reset-failed", self.unit, *self.companions)
        since = int(time.time())
        rc, _out, error = self.module.run_command(["systemctl", "restart", self.unit])
        return None if rc == 0 and self.answers() else deciding_line(self.journal(since) or str(error))
