# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Judgements that every pinned layer makes about its packages; the rules themselves stand in their layer's file."""

from __future__ import annotations

from functools import partial
from typing import Any, Mapping

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.apt_history import last_move
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown

PROVISION = "Bring the node back to its release: ansible-playbook goldnode.gpu.provision_pool -e pool=<pool> -e nodes=<node>"

_package_rule = partial(
    rule,
    probes=("dpkg_l", "apt_history"),
    source="apt-mark(8), apt_preferences(5); seen in lab nodes: with one sibling unheld `apt-get full-upgrade -y` removes the driver (2026-11-30)",
)
versions_rule = partial(
    _package_rule,
    symptom="The node behaves differently from others of its pool; an upgrade by hand, a partial upgrade or unattended-upgrades moved packages.",
    cause="Packages of this layer are not the ones that the node's release has locked.",
    fix=PROVISION,
)
holds_rule = partial(
    _package_rule,
    symptom="Nothing yet: the next `apt-get full-upgrade` or unattended upgrade moves the layer, often only part of it.",
    cause="Locked packages of this layer are not held; `apt-get --allow-change-held-packages` clears a hold.",
    fix=(
        "Find out what cleared the holds (apt history), then provision the node again: "
        "ansible-playbook goldnode.gpu.provision_pool -e pool=<pool> -e nodes=<node>"
    ),
    verify="apt-mark showhold lists every locked package of the layer.",
)


configuration_rule = partial(
    rule,
    probes=("configuration",),
    symptom="The node behaves differently from others of its pool, perhaps only after the next restart.",
    cause="A file that the roles wrote was changed by hand or by another tool since the node was provisioned.",
    fix=f"Take the change into the pool's configuration if it is wanted. {PROVISION}",
    verify="The digest in /etc/goldnode/configuration.json (in an image: /etc/goldnode/manifest.json) is that of the file.",
    source="docs/pins_and_locks.md, drift",
)


def configuration_is_provisioned(facts: Facts, wanted: Wanted, path: str) -> Outcome:
    """A configured file is as provisioning left it."""
    if not wanted or facts.bundle.absent("configuration"):
        return not_applicable("nothing was recorded when this node was provisioned")
    if facts.configured_files is None:
        return unknown()
    since = facts.configured_files.get(path)
    if since is None:
        return not_applicable(f"{path} is no file that provisioning left")
    if since == "same":
        return passed(f"{path} as recorded")
    return failed(f"{path} as provisioning left it", f"{path} was {since}", cause=f"{path} was {since} since the node was provisioned.")


def packages_are_locked_ones(facts: Facts, wanted: Wanted, layer: str) -> Outcome:
    """Each locked package of a layer is installed at exactly its version."""
    locked = wanted.packages(layer)
    if not locked:
        return not_applicable("no package of this layer is locked")
    have = facts.installed_packages
    if have is None or not facts.bundle.complete("dpkg_l"):
        return unknown()
    wrong = [package for package in locked if not _is_there(package, facts)]
    if not wrong:
        return passed(f"{len(locked)} packages as locked")
    moved = last_move(facts.apt_transactions or (), wrong[0]["name"])
    return failed(
        _some([f"{package['name']} {package['version']}" for package in wrong]),
        _some([f"{package['name']} {have.get(package['name'], 'not installed')}" for package in wrong]) + (f" (last moved by {moved})" if moved else ""),
    )


def _is_there(locked: Mapping[str, Any], facts: Facts) -> bool:
    package = (facts.packages or {}).get(locked["name"])
    return package is not None and package.installed and package.version == locked["version"] and package.is_of(locked.get("architecture", "all"))


def _some(words: list[str]) -> str:
    """The first few of a list that may be long."""
    return ", ".join(words[:3]) + (f" and {len(words) - 3} more" if len(words) > 3 else "")


def packages_are_held(facts: Facts, wanted: Wanted, layer: str) -> Outcome:
    """Each locked package of a layer is held."""
    locked = [package["name"] for package in wanted.packages(layer)]
    if not locked:
        return not_applicable("no package of this layer is locked")
    if facts.packages is None or not facts.bundle.complete("dpkg_l"):
        return unknown()
    loose = [name for name in locked if name in facts.packages and not facts.packages[name].held]
    return failed("held", "not held: " + _some(loose)) if loose else passed(f"{len(locked)} packages held")
