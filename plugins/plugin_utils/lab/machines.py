# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A node as a systemd-nspawn machine: its start line, its start and its end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import cgroups, processes
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.commands import LabError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.identity import Lab
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.inventory import ssh_config_path

SUPERVISOR = "ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.supervisor"
COLLECTIONS = Path(__file__).parents[6]

# Root in the node is root on this machine but for these: the clock, modules, raw I/O and the machine's own kernel log stay the machine's.
DROPPED = ("CAP_SYS_TIME", "CAP_SYS_MODULE", "CAP_SYS_RAWIO", "CAP_SYSLOG")
# cgroup v2 inside whatever the machine has; /proc/sys/net writable, or dockerd cannot turn on forwarding in a given namespace.
ENVIRONMENT = {"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1", "SYSTEMD_NSPAWN_API_VFS_WRITABLE": "network", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


def argv(lab: Lab, node: str, root: Path) -> list[str]:
    """The start line, as tried in design/lab_facts section 1."""
    return [
        *("systemd-nspawn", "--quiet", "--boot", f"--directory={root}", f"--machine={lab.namespace(node)}", f"--hostname={node}"),
        *("--register=no", "--keep-unit", "--capability=all", f"--drop-capability={','.join(DROPPED)}", "--system-call-filter=@keyring bpf"),
        *(f"--network-namespace-path=/run/netns/{lab.namespace(node)}", "--resolv-conf=off", "--timezone=off"),
        *("--console=pipe", "--kill-signal=SIGRTMIN+4"),
    ]


def node_group(lab: Lab, node: str) -> str:
    return f"{lab.prefix}/{node}"


def supervisor_group(lab: Lab, node: str) -> str:
    """Not below the node's group: what ends the node must not end the one who starts it again."""
    return f"{lab.prefix}/supervisor-{node}"


def running(lab: Lab, node: str) -> bool:
    """Supervised and up. A node whose supervisor was killed counts as not running: nobody would start it after a reboot."""
    return cgroups.populated(supervisor_group(lab, node)) and cgroups.populated(node_group(lab, node))


def start(lab: Lab, node: str, root: Path) -> None:
    directory = lab.node_dir(node)
    spec = {"group": node_group(lab, node), "argv": argv(lab, node, root), "env": ENVIRONMENT}
    write_text(directory / "machine.json", json.dumps(spec, indent=2) + "\n")
    env = {**ENVIRONMENT, "PYTHONPATH": str(COLLECTIONS)}
    processes.start(supervisor_group(lab, node), [sys.executable, "-m", SUPERVISOR, directory], directory / "console.log", env)


def power_off(lab: Lab, node: str, seconds: float = 30) -> None:
    """A clean shutdown; what is left after `seconds` is killed."""
    cgroups.kill(supervisor_group(lab, node))
    # Below the node's group nspawn itself sits in `supervisor`; SIGTERM to it is a clean poweroff (0.3-0.5 s).
    for pid in cgroups.members(f"{node_group(lab, node)}/supervisor"):
        os.kill(pid, 15)
    cgroups.wait_empty(node_group(lab, node), seconds)
    cut_power(lab, node)


def cut_power(lab: Lab, node: str) -> None:
    """Everything of the node ends at once."""
    cgroups.clear(supervisor_group(lab, node))
    cgroups.clear(node_group(lab, node))


def _ssh(lab: Lab, node: str, words: Sequence[str], seconds: float) -> str:
    """What the node answers, or why it does not."""
    # A connection of its own: a shared one of Ansible may still lead to the machine's former life.
    line = ["ssh", "-F", str(ssh_config_path(lab)), "-o", "ControlPath=none", "-o", "BatchMode=yes", "-o", "ConnectTimeout=2", node, *words]
    try:
        answer = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        return "none; the boot goes on"
    return (answer.stdout or answer.stderr).strip()


def wait_booted(lab: Lab, node: str, seconds: float) -> str:
    """What systemd says of itself once all jobs of the boot are done: `running` or `degraded`."""
    end = time.monotonic() + seconds
    answer = "none"
    while time.monotonic() < end:
        answer = _ssh(lab, node, ["systemctl", "is-system-running", "--wait"], seconds)
        if answer in ("running", "degraded"):
            return answer
        time.sleep(0.3)
    raise LabError(
        f"node {node} did not finish its boot within {seconds:.0f} s (last answer: {answer}). Look at {lab.node_dir(node) / 'console.log'} "
        f"and, from here, journalctl -D {lab.state / 'roots' / node / 'var/log/journal'}; then run create_lab again."
    )
