# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The end of a lab: everything that carries its id, and nothing else. Each step may find its work done already."""

from __future__ import annotations

import shutil
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import cgroups, network
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.commands import run
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.identity import Lab

PROPAGATE = Path("/run/systemd/nspawn/propagate")


def mounts_below(mountinfo: str, top: Path) -> list[Path]:
    """Mount points at or below `top`, deepest first. mountinfo writes a space as \\040."""
    points = [Path(line.split(" ")[4].replace("\\040", " ")) for line in mountinfo.splitlines()]
    return sorted({point for point in points if point == top or top in point.parents}, key=lambda point: len(point.parts), reverse=True)


def unmount(top: Path) -> bool:
    """Loop devices detach by themselves: `mount` made them with autoclear."""
    found = mounts_below(Path("/proc/self/mountinfo").read_text(), top)
    for point in found:
        run(["umount", point])
    return bool(found)


def _remove_propagation(lab: Lab) -> None:
    """Left by every nspawn that runs under --keep-unit."""
    for directory in PROPAGATE.glob(f"{lab.prefix}-*"):
        directory.rmdir()


def destroy(lab: Lab) -> bool:
    """Processes first, or they would hold mounts and namespaces. True if anything was there."""
    had = [cgroups.clear(lab.prefix), network.remove(lab), unmount(lab.state), lab.state.exists()]
    _remove_propagation(lab)
    if lab.state.exists():
        shutil.rmtree(lab.state)
    return any(had)
