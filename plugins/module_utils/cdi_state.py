# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether a CDI spec is that of this node as it is now. Pure.

A spec is written once and outlives what it describes: a driver upgrade changes the libraries, a reload of nvidia-uvm its major number
(NVIDIA/nvidia-container-toolkit#450, #885), another MIG layout the devices.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Tuple

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.cdi import CdiSpec

# Major and minor of a device node.
Numbers = Tuple[int, int]


@dataclass(frozen=True)
class Host:
    """What is there. `devices`: names by index as nvidia-ctk gives them, `0`, or `0:1` for a MIG device. `missing`: libraries of the spec that are not."""

    driver: str
    nodes: Mapping[str, Numbers]
    devices: Collection[str]
    missing: Collection[str] = ()


def device_names(listing: str) -> list[str]:
    """`nvidia-smi -L` -> the devices that a container can ask for; a GPU that is cut into MIG devices is not one itself."""
    names: list[str] = []
    gpu = ""
    for line in listing.splitlines():
        found, mig = re.match(r"GPU (\d+):", line), re.match(r"\s+MIG .*Device\s+(\d+):", line)
        if found:
            gpu = found.group(1)
            names.append(gpu)
        elif mig:
            names = [name for name in names if name != gpu] + [f"{gpu}:{mig.group(1)}"]
    return names


def stale(spec: CdiSpec, host: Host) -> str | None:
    """What the spec says that is not so, or does not say that is; None where it describes the host."""
    reasons = (
        ("it names no device", [] if spec.devices else [spec.path]),
        (f"it is not of driver {host.driver}: it names", sorted(spec.driver_versions - {host.driver})),
        ("libraries that it mounts are not there:", sorted(host.missing)),
        ("device nodes that it names are not there:", sorted(spec.nodes - host.nodes.keys())),
        ("it lacks the device nodes", sorted(path for path in host.nodes if re.fullmatch(r"/dev/nvidia\d+", path) and path not in spec.nodes)),
        ("device numbers are others:", _renumbered(spec, host)),
        ("it lacks the devices", sorted(set(host.devices) - set(spec.devices))),
        ("it offers devices that are not there:", sorted(name for name in spec.devices if _is_index(name) and name not in host.devices and host.devices)),
    )
    return next((f"{words} {', '.join(found)}" for words, found in reasons if found), None)


def _is_index(name: str) -> bool:
    return re.fullmatch(r"\d+(:\d+)?", name) is not None


def _renumbered(spec: CdiSpec, host: Host) -> list[str]:
    """Nodes that the spec would make with other numbers than theirs."""
    return [
        f"{path} is {':'.join(map(str, host.nodes[path]))}, not {major}:{minor}"
        for path, major, minor in sorted(spec.numbered)
        if path in host.nodes and host.nodes[path] != (major, minor)
    ]
