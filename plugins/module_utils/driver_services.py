# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The daemons that keep a GPU open: the driver's own, by the packages that bring them, and those that only watch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ansible_collections.goldnode.gpu.plugins.module_utils.node_files import text_of


class Daemon(NamedTuple):
    """A daemon of the driver: its unit, and the packages that bring it."""

    unit: str
    packages: str


# In the order in which they start: the GPUs are kept initialised, then the switches are set up, then memory is exported over them. nvlsm, which the
# fabric manager of HGX B200 and B300 needs, is started by the fabric manager's own unit (NVIDIA fabric manager user guide). Package names: Debian's and
# NVIDIA's repositories name the daemon's package after it; Ubuntu has nvidia-persistenced in nvidia-compute-utils-<branch>[-server] and a branch
# behind the others (packages.ubuntu.com, 2026); NVIDIA's RPM streams nvidia-fabric-manager and nvidia-fabricmanager, nvidia-imex-<branch>.
DAEMONS = (
    Daemon("nvidia-persistenced", r"nvidia-persistenced|nvidia-compute-utils-\d+(-server)?"),
    Daemon("nvidia-fabricmanager", r"nvidia-fabric-?manager(-\d+)?"),
    Daemon("nvidia-imex", r"nvidia-imex(-\d+)?"),
)
PERSISTENCE = DAEMONS[0].unit

# What only watches: it may be stopped for a moment and started again (NVIDIA/mig-parted, deployments/systemd and gpu-operator's mig-manager clients).
MONITORS = ("nvsm", "nvsm-core", "dcgm", "nvidia-dcgm", "nvidia-dcgm-exporter", "dcgm-exporter")


def daemons_of(packages: Iterable[str], persistence: bool = True) -> list[str]:
    """The units of the driver's daemons that the locked packages bring, in their order."""
    names = list(packages)
    brought = [daemon.unit for daemon in DAEMONS if any(re.fullmatch(daemon.packages, name) for name in names)]
    return [unit for unit in brought if persistence or unit != PERSISTENCE]


@contextmanager
def paused(run_command: Callable[..., tuple[int, str, str]], units: Sequence[str]) -> Iterator[None]:
    """Stops those of the units that run, and starts them again in the end."""
    active = [unit for unit in units if run_command(["systemctl", "is-active", "--quiet", unit])[0] == 0]
    for unit in reversed(active):
        run_command(["systemctl", "stop", unit])
    try:
        yield
    finally:
        for unit in active:
            run_command(["systemctl", "start", unit])


class Holder(NamedTuple):
    """A process that has a GPU's device node open; `unit`: the service that it belongs to, by its control group, or empty."""

    pid: int
    name: str
    unit: str

    def __str__(self) -> str:
        return f"{self.name} ({self.pid})"


def holders(but: Sequence[str] = (), procfs: Path = Path("/proc")) -> list[Holder]:
    """The processes with an open NVIDIA device node, but not those of some units. Always of the machine's own procfs: descriptors are not simulated."""
    found = [folder for folder in procfs.glob("[0-9]*") if any(_is_gpu(link) for link in _links(folder / "fd"))]
    held = [Holder(int(folder.name), text_of(folder / "comm").strip() or "?", unit_of(text_of(folder / "cgroup"))) for folder in found]
    return sorted(one for one in held if one.unit not in but)


def unit_of(cgroup: str) -> str:
    """/proc/<pid>/cgroup -> the innermost service, without its suffix."""
    services = re.findall(r"/([^/\n]+)\.service\b", cgroup)
    return services[-1] if services else ""


def holders_sentence(held: Sequence[Holder]) -> str:
    """`python3 (4242), dcgmi (77)`, the first five; empty where there are none."""
    more = f" and {len(held) - 5} more" if len(held) > 5 else ""
    return ", ".join(str(holder) for holder in held[:5]) + more


def _links(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:  # the process has ended
        return []


def _is_gpu(link: Path) -> bool:
    try:
        return str(link.readlink()).startswith("/dev/nvidia")
    except OSError:
        return False
