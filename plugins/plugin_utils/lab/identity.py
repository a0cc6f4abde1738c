# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A lab's id, and everything that is named or numbered after it."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.commands import LabError

STATE_HOME = Path("/var/lib/goldnode-lab")
SCHEMA = "goldnode.lab/v1"
REGISTRY_PORT = 5000
FIRST_NODE = 10  # .1 is the hub, .2 the machine
LAST_NODE = 250

Network = ipaddress.IPv4Network


def lab_id(clone: Path, override: str = "") -> str:
    """First 6 hex of the SHA-256 of the clone's real path, or GOLDNODE_LAB. It becomes part of interface names (15 characters at most)."""
    if not override:
        return hashlib.sha256(str(clone.resolve()).encode()).hexdigest()[:6]
    if not re.fullmatch(r"[a-z0-9]{1,8}", override):
        raise LabError(f'GOLDNODE_LAB is "{override}"; a lab id has 1 to 8 of a-z and 0-9. Choose another one or unset it.')
    return override


def subnets(lab: str) -> Iterable[Network]:
    """10.x.y.0/24 by the id's hash first, then the following ones, all 65536."""
    start = int(hashlib.sha256(lab.encode()).hexdigest()[:4], 16)
    for step in range(65536):
        number = (start + step) % 65536
        yield Network(f"10.{number >> 8}.{number & 255}.0/24")


def free_subnet(lab: str, taken: Iterable[Network]) -> Network:
    """The first of the lab's subnets that overlaps nothing the machine already routes (a default route takes nothing)."""
    used = [network for network in taken if network.prefixlen > 0]
    for subnet in subnets(lab):
        if not any(subnet.overlaps(network) for network in used):
            return subnet
    raise LabError("no subnet in 10.0.0.0/8 is free for the lab: the machine routes all of them. Remove a route of 10.0.0.0/8.")


@dataclass(frozen=True)
class Lab:
    """What a lab is called and numbered. `nodes` maps a node's name to the last byte of its address."""

    id: str
    subnet: str
    nodes: Mapping[str, int] = field(default_factory=dict)

    @property
    def state(self) -> Path:
        return STATE_HOME / self.id

    @property
    def prefix(self) -> str:
        """Of namespaces, cgroups and the machine's interface."""
        return f"gn{self.id}"

    @property
    def hub(self) -> str:
        return self.address_at(1)

    @property
    def machine(self) -> str:
        return self.address_at(2)

    @property
    def registry(self) -> str:
        return f"{self.hub}:{REGISTRY_PORT}"

    @property
    def repository_uri(self) -> str:
        return f"http://{self.hub}"

    def address_at(self, host: int) -> str:
        return str(Network(self.subnet)[host])

    def address(self, node: str) -> str:
        if node not in self.nodes:
            raise LabError(f"lab {self.id} has no node {node}; it has {', '.join(sorted(self.nodes)) or 'none'}. Name one of these.")
        return self.address_at(self.nodes[node])

    def namespace(self, node: str) -> str:
        return f"{self.prefix}-{node}"

    def node_dir(self, node: str) -> Path:
        return self.state / "nodes" / node


def with_nodes(lab: Lab, names: Iterable[str]) -> Lab:
    """The lab with numbers for the new names; a node that has one keeps it."""
    nodes = dict(lab.nodes)
    free = iter(sorted(set(range(FIRST_NODE, LAST_NODE)) - set(nodes.values())))
    for name in names:
        if name not in nodes:
            nodes[name] = next(free)
    return Lab(lab.id, lab.subnet, nodes)


def record_path(state: Path) -> Path:
    return state / "lab.json"


def write_record(lab: Lab) -> bool:
    return write_text(record_path(lab.state), json.dumps({"schema": SCHEMA, **asdict(lab)}, indent=2) + "\n")


def read_record(state: Path) -> Lab:
    """The lab whose state lies there."""
    try:
        record = json.loads(record_path(state).read_text())
    except FileNotFoundError:
        raise LabError(f"no lab at {state}: {record_path(state)} is missing. Make one: ansible-playbook goldnode.gpu.create_lab") from None
    return Lab(record["id"], record["subnet"], record["nodes"])
