# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The lab's inventory: `inventories/lab` copied to `<state>/inventory`, completed with literals (addresses, digests, pins)."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import keys
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.commands import LabError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.identity import Lab
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.repository import ORIGIN
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.versions import upstream

Tree = dict[str, Any]
ENVIRONMENT = "lab"
CHANNELS = {"canary": "candidate", "baseline": "stable", "production": "stable"}
PROFILES = "profiles.yml"


@dataclass(frozen=True)
class Node:
    """A node as the inventory names it."""

    name: str
    pool: str
    profile: str


def inventory_dir(lab: Lab) -> Path:
    return lab.state / "inventory"


def ssh_config_path(lab: Lab) -> Path:
    return inventory_dir(lab) / "ssh_config"


def known_hosts_path(lab: Lab) -> Path:
    return inventory_dir(lab) / "known_hosts"


def read_yaml(path: Path) -> Tree:
    content: Tree = yaml.safe_load(path.read_text()) or {}
    return content


def with_pools(hosts: Tree, profiles: Tree, names: Sequence[str]) -> Tree:
    """The inventory with a one-node pool `lab_<profile>` for each name that it has not yet."""
    wanted = copy.deepcopy(hosts)
    for name in names:
        if name not in profiles:
            raise LabError(f'lab_pools names "{name}"; there are {", ".join(sorted(profiles))}. Name one of these ({PROFILES} of inventories/lab).')
        wanted["all"]["children"].setdefault(f"lab_{name}", _one_node_pool(f"lab_{name}", name))
    return wanted


def _one_node_pool(pool: str, profile: str) -> Tree:
    node = f"{pool.replace('_', '-')}-canary-1"
    arms = {f"{pool}_{arm}": {"vars": {"goldnode_channel": channel}} for arm, channel in CHANNELS.items()}
    return {"vars": {"lab_node_profile": profile}, "children": {**arms, f"{pool}_canary": {**arms[f"{pool}_canary"], "hosts": {node: {}}}}}


def nodes(hosts: Tree) -> list[Node]:
    """All nodes, in the order of the file."""
    return [
        Node(name, pool, tree["vars"]["lab_node_profile"])
        for pool, tree in hosts["all"]["children"].items()
        for group in tree["children"].values()
        for name in group.get("hosts") or {}
    ]


def with_addresses(hosts: Tree, lab: Lab) -> Tree:
    addressed = copy.deepcopy(hosts)
    for tree in addressed["all"]["children"].values():
        for group in tree["children"].values():
            for name, variables in (group.get("hosts") or {}).items():
                group["hosts"][name] = {**(variables or {}), "ansible_host": lab.address(name)}
    return addressed


def known_hosts(lab: Lab) -> str:
    """Each node under its name and its address, with the host key that was made for it."""
    return "".join(f"{node},{lab.address(node)} {_public_host_key(lab, node)}\n" for node in sorted(lab.nodes))


def _public_host_key(lab: Lab, node: str) -> str:
    return " ".join(keys.host_key(lab, node).with_suffix(".pub").read_text().split()[:2])


def ssh_config(lab: Lab) -> str:
    """For ssh, Ansible and testinfra alike: `ssh -F … <node>`. Host keys are always checked."""
    hosts = "".join(f"Host {node}\n    HostName {lab.address(node)}\n" for node in sorted(lab.nodes))
    common = {
        "User": "root",
        "IdentityFile": keys.user_key(lab),
        "IdentitiesOnly": "yes",
        "UserKnownHostsFile": known_hosts_path(lab),
        "GlobalKnownHostsFile": "/dev/null",
        "StrictHostKeyChecking": "yes",
        "HostKeyAlgorithms": "ssh-ed25519",
    }
    return hosts + "Host *\n" + "".join(f"    {name} {value}\n" for name, value in common.items())


def group_vars_all(lab: Lab, base_image: str) -> Tree:
    home = inventory_dir(lab)
    return {
        "goldnode_environment": ENVIRONMENT,
        "goldnode_state_dir": str(lab.state),
        "goldnode_recreate_tasks": str(home / "recreate_node.yml"),
        "image_build_base": base_image,
        "ansible_user": "root",
        "ansible_ssh_common_args": f"-F {ssh_config_path(lab)}",
    }


def package_sources(lab: Lab) -> Tree:
    """What role package_sources writes on a node of the lab."""
    common = {"suites": ["trixie"], "components": ["main"], "origin": ORIGIN, "key": "lab"}
    return {
        "package_sources_repositories": [{"name": label, "uris": [f"{lab.repository_uri}/{label}"], "label": label, **common} for label in ("nvidia", "os")]
    }


def trust(lab: Lab, fingerprint: str) -> Tree:
    key = {"fingerprint": fingerprint, "public_key": keys.repository_public_key(lab).read_text()}
    return {"goldnode_trust": {"repositories": {"lab": key}}}


def engine_pins(versions: Mapping[str, str]) -> Tree:
    """From package name -> package version, as the archive had them; pinned is the number that the program prints."""
    return {"version": upstream(versions["docker.io"]), "containerd": upstream(versions["containerd"]), "runc": upstream(versions["runc"])}


class _Dumper(yaml.SafeDumper):
    """Text of several lines as a block, as a person would write it."""


_Dumper.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None))


def as_yaml(value: Tree) -> str:
    return "---\n" + yaml.dump(json.loads(json.dumps(value)), Dumper=_Dumper, sort_keys=False, width=150)


def pins(written: Tree, follows: Tree, known: Tree) -> Tree:
    """What a person decided, what follows from the pool's hardware, and what only this lab can know."""
    decided = written["goldnode_pins"]
    canary_image = {**decided["canary_image"], **known["canary_image"]}
    return {"goldnode_pins": {**decided, **follows, **known, "canary_image": canary_image}}


def promotion(written: Tree, canaries: int) -> Tree:
    """Each canary of the pool has to answer."""
    return {"goldnode_promotion": {**written["goldnode_promotion"], "coverage": canaries}}


def pool_files(lab: Lab, source: Path, pool: str, tree: Tree, known: Tree) -> Iterator[tuple[str, Tree]]:
    """A pool's group variables; `known` is what only this lab can know of its pins."""
    follows = read_yaml(source / PROFILES)[tree["vars"]["lab_node_profile"]]
    canaries = len(tree["children"][f"{pool}_canary"]["hosts"])
    yield "pins.yml", pins(read_yaml(source / "pins.yml"), follows, known)
    yield "promotion.yml", promotion(read_yaml(source / "promotion.yml"), canaries)
    yield "package_sources.yml", package_sources(lab)


def files(lab: Lab, source: Path, hosts: Tree, fingerprint: str, base_image: str, known: Tree) -> Iterator[tuple[str, str]]:
    """Path below the inventory -> content."""
    yield "hosts.yml", as_yaml(with_addresses(hosts, lab))
    yield "group_vars/all/lab.yml", as_yaml(group_vars_all(lab, base_image))
    yield "trust.yml", as_yaml(trust(lab, fingerprint))
    yield "ssh_config", ssh_config(lab)
    yield "known_hosts", known_hosts(lab)
    for plain in ("group_vars/all/probe.yml", "recreate_node.yml"):
        yield plain, (source / plain).read_text()
    for pool, tree in hosts["all"]["children"].items():
        for name, content in pool_files(lab, source, pool, tree, known):
            yield f"group_vars/{pool}/{name}", as_yaml(content)


def write(lab: Lab, contents: Iterator[tuple[str, str]]) -> bool:
    (inventory_dir(lab) / "locks").mkdir(parents=True, exist_ok=True)
    changed = [write_text(inventory_dir(lab) / path, text) for path, text in contents]
    return any(changed)
