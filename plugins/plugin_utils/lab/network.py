# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The lab's network: a hub namespace with a bridge, one veth pair per node and one to the machine. No way out.

Namespaces, addresses and routes are made from outside, so they outlive a node's reboot and need nothing inside the node (lab.md).
"""

from __future__ import annotations

import ipaddress
import json
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.commands import run, succeeds
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.identity import Lab, Network

NETNS = Path("/run/netns")


def machine_networks() -> list[Network]:
    """What this machine routes already."""
    routes = json.loads(run(["ip", "-j", "-4", "route", "show", "table", "all"]))
    destinations = [route["dst"] for route in routes if route["dst"] != "default"]
    return [ipaddress.IPv4Network(destination, strict=False) for destination in destinations]


def namespaces(lab: Lab) -> list[str]:
    """Those of this lab that exist."""
    return sorted(path.name for path in NETNS.glob("*") if path.name == lab.prefix or path.name.startswith(f"{lab.prefix}-"))


def hub_commands(lab: Lab) -> list[list[str]]:
    """The hub and the pair to the machine. The machine's end is named after the lab."""
    machine_side = [["link", "add", lab.prefix, "type", "veth", "peer", "name", "machine", "netns", lab.prefix]]
    in_hub = [
        ["link", "set", "lo", "up"],
        ["link", "add", "hub", "type", "bridge"],
        ["addr", "add", f"{lab.hub}/24", "dev", "hub"],
        ["link", "set", "hub", "up"],
    ]
    joined = [["link", "set", "machine", "master", "hub"], ["link", "set", "machine", "up"]]
    up = [["addr", "add", f"{lab.machine}/24", "dev", lab.prefix], ["link", "set", lab.prefix, "up"]]
    inside = [["-n", lab.prefix, *words] for words in in_hub]
    return [["netns", "add", lab.prefix], *inside, *machine_side, *[["-n", lab.prefix, *words] for words in joined], *up]


def _port(lab: Lab, node: str) -> str:
    return f"node{lab.nodes[node]}"


def node_commands(lab: Lab, node: str) -> list[list[str]]:
    """A node's namespace with eth0, its other end on the bridge."""
    space, port = lab.namespace(node), _port(lab, node)
    return [
        ["netns", "add", space],
        ["-n", space, "link", "set", "lo", "up"],
        ["-n", lab.prefix, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", space],
        ["-n", lab.prefix, "link", "set", port, "master", "hub", "up"],
        ["-n", space, "addr", "add", f"{lab.address(node)}/24", "dev", "eth0"],
        ["-n", space, "link", "set", "eth0", "up"],
    ]


def _complete(space: str, device: str, address: str) -> bool:
    """Whether the namespace has the device, up, with the address: the last things that its commands do."""
    if not (NETNS / space).exists():
        return False
    links = json.loads(run(["ip", "-n", space, "-j", "addr"]))
    return any(link["ifname"] == device and "UP" in link["flags"] and address in [a["local"] for a in link["addr_info"]] for link in links)


def _machine_side_complete(lab: Lab) -> bool:
    links = json.loads(run(["ip", "-j", "addr"]))
    return any(link["ifname"] == lab.prefix and "UP" in link["flags"] and lab.machine in [a["local"] for a in link["addr_info"]] for link in links)


def ensure_hub(lab: Lab) -> bool:
    """A half-made hub is made anew, together with every node's end, since those hang on its bridge."""
    if _complete(lab.prefix, "hub", lab.hub) and _machine_side_complete(lab):
        return False
    remove(lab)
    for words in hub_commands(lab):
        run(["ip", *words])
    return True


def ensure_node(lab: Lab, node: str) -> bool:
    space = lab.namespace(node)
    if _complete(space, "eth0", lab.address(node)):
        return False
    _remove_namespace(space)
    _remove_port(lab, node)
    for words in node_commands(lab, node):
        run(["ip", *words])
    return True


def _remove_port(lab: Lab, node: str) -> None:
    """The hub's end stays when a namespace lost its name while a machine still lived in it."""
    if succeeds(["ip", "-n", lab.prefix, "link", "show", _port(lab, node)]):
        run(["ip", "-n", lab.prefix, "link", "delete", _port(lab, node)])


def _remove_namespace(space: str) -> None:
    if (NETNS / space).exists():
        run(["ip", "netns", "delete", space])


def remove(lab: Lab) -> bool:
    """All namespaces of the lab; their ends of the pairs take the others with them."""
    found = namespaces(lab)
    for link in json.loads(run(["ip", "-j", "link"])):
        if link["ifname"] == lab.prefix:
            run(["ip", "link", "delete", lab.prefix])
    for space in found:
        _remove_namespace(space)
    return bool(found)
