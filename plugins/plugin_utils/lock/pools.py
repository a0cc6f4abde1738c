# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Pools in the inventory: a group with the children <pool>_canary, <pool>_baseline and <pool>_production. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

ARMS = ("canary", "baseline", "production")

Groups = Mapping[str, Sequence[str]]


def pools(groups: Groups) -> list[str]:
    """The groups that have at least one of the three children, by name."""
    return sorted(group for group in groups if any(f"{group}_{arm}" in groups for arm in ARMS))


def problems(groups: Groups) -> list[str]:
    """What is wrong with the pools of an inventory, one sentence each; `groups` as Ansible has it: group -> its hosts."""
    names = pools(groups)
    return [*(sentence for pool in names for sentence in _pool_problems(groups, pool)), *_shared_hosts(groups, names)]


def pool_problems(groups: Groups, pool: str) -> list[str]:
    """As `problems`, and that the wanted pool is one."""
    if pool not in groups:
        return [f"pool {pool} is not a group of the inventory; its pools are {', '.join(pools(groups)) or 'none'}; give the inventory by -i …/hosts.yml"]
    if pool not in pools(groups):
        return [f"group {pool} is not a pool; it needs the children {', '.join(f'{pool}_{arm}' for arm in ARMS)}"]
    return problems(groups)


def inventory_of(variables: Mapping[str, Any], pool: str) -> Path:
    """The folder of the hosts.yml that has the pool's hosts; of the first source where it has none: the implicit localhost has no inventory_dir."""
    for host in variables["groups"].get(pool, []):
        return Path(variables["hostvars"][host]["inventory_dir"])
    source = Path(variables["ansible_inventory_sources"][0])
    return source if source.is_dir() else source.parent


def _pool_problems(groups: Groups, pool: str) -> Iterator[str]:
    children = [f"{pool}_{arm}" for arm in ARMS]
    for child in children:
        if child not in groups:
            yield f"pool {pool} lacks the child group {child}; a pool has {', '.join(children)}"
    placed = [host for child in children for host in groups.get(child, ())]
    for host in sorted(set(groups[pool]) - set(placed)):
        yield f"host {host} is in pool {pool} but in none of {', '.join(children)}; put it into one"
    for host in sorted({host for host in placed if placed.count(host) > 1}):
        yield f"host {host} is in more than one of {', '.join(children)}; leave it in one"


def _shared_hosts(groups: Groups, names: Sequence[str]) -> Iterator[str]:
    for first, second in combinations(names, 2):
        for host in sorted(set(groups[first]) & set(groups[second])):
            yield f"host {host} is in two pools, {first} and {second}; leave it in one"
