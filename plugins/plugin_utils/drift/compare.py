# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""One node's evidence against its lock, both ways: what the lock has and the node has not, and what the node has beyond it. Pure.

Packages and files are compared one by one here; for all else the rules that judge a node have the answer, and it is theirs that is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.package_families import layer_of
from ansible_collections.goldnode.gpu.plugins.module_utils.model import FAIL, UNKNOWN
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.apt_history import last_move
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.linux import Package
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import RULES

RELEASE, MISSING, VERSION, EXTRA, HOLD, REPOSITORY, CONFIGURATION, REBOOT = (
    "release",
    "package_missing",
    "package_version",
    "package_extra",
    "hold_lost",
    "repository",
    "configuration",
    "reboot_pending",
)
# Kind -> the rules whose failure is a difference of that kind.
JUDGED: dict[str, tuple[str, ...]] = {
    "system": ("kernel.os_is_wanted",),
    "kernel": ("kernel.running_is_wanted", "kernel.boot_default_is_wanted"),
    # the user space is compared as packages
    "module": ("driver.version_is_pinned", "driver.module_flavour"),
    "engine": ("engine.version_is_pinned", "engine.containerd_version", "engine.runc_version", "engine.restarted_since_change"),
    "cgroup": ("policy.cgroup_version",),
    "cdi_spec": ("container_toolkit.cdi_spec_is_of_driver", "container_toolkit.cdi_spec_devices"),
    "mig": ("driver.mig_profile",),
    "gpus": ("hardware.gpu_count", "hardware.gpu_model"),
}
KINDS = (RELEASE, MISSING, VERSION, EXTRA, HOLD, REPOSITORY, CONFIGURATION, REBOOT, *JUDGED)


class Difference(NamedTuple):
    """One thing in which a node is not its release; `moved_by` says what did it, "" where the node does not know."""

    kind: str
    subject: str
    expected: str
    observed: str
    moved_by: str = ""


@dataclass(frozen=True)
class Drift:
    """All differences of a node, and what could not be looked at: with `unseen`, no difference proves nothing."""

    differences: tuple[Difference, ...]
    unseen: tuple[str, ...]

    @property
    def state(self) -> str:
        """`drifted`, `golden`, or `unknown` where nothing differs as far as could be seen."""
        if self.differences:
            return "drifted"
        return "unknown" if self.unseen else "golden"


def drift(evidence: Mapping[str, Any], stack: Mapping[str, Any], release: str | None = None) -> Drift:
    """The drift of one node; `release`: the digest that its `/etc/goldnode/release` must hold, None: not compared."""
    facts, wanted = Facts(evidence), Wanted(stack)
    judged = {kind: [RULES[name].finding(facts, wanted) for name in names] for kind, names in JUDGED.items()}
    found = [
        *_release(evidence, release),
        *_packages(facts, stack),
        *_files(facts),
        *_reboot(facts),
        *(Difference(kind, one.rule, one.expected, one.observed) for kind, findings in judged.items() for one in findings if one.verdict == FAIL),
    ]
    return Drift(tuple(found), (*_unseen(facts), *(one.rule for findings in judged.values() for one in findings if one.verdict == UNKNOWN)))


def _release(evidence: Mapping[str, Any], release: str | None) -> Iterator[Difference]:
    if release is not None and evidence.get("release") != release:
        yield Difference(RELEASE, "/etc/goldnode/release", release, str(evidence.get("release") or "none"))


def _packages(facts: Facts, stack: Mapping[str, Any]) -> Iterator[Difference]:
    if not _lists_packages(facts):
        return
    there = {name: package for name, package in (facts.packages or {}).items() if package.installed}
    locked = {package["name"]: package for package in stack["packages"]}
    for name, package in locked.items():
        found = there.get(name)
        yield from _package(name, package["version"], found if found and found.is_of(package["architecture"]) else None, facts)
    for name in sorted(there.keys() - locked.keys()):
        if layer_of(name):
            yield Difference(EXTRA, name, "none", there[name].version, _mover(name, facts))


def _package(name: str, version: str, package: Package | None, facts: Facts) -> Iterator[Difference]:
    if package is None:
        yield Difference(MISSING, name, version, "none", _mover(name, facts))
    elif package.version != version:
        yield Difference(VERSION, name, version, package.version, _mover(name, facts))
    elif not package.held:
        yield Difference(HOLD, name, "held", "not held")


def _mover(name: str, facts: Facts) -> str:
    moved = last_move(facts.apt_transactions or (), name)
    return str(moved) if moved else ""


def _files(facts: Facts) -> Iterator[Difference]:
    for path, since in sorted((facts.configured_files or {}).items()):
        if since != "same":
            yield Difference(REPOSITORY if path.startswith("/etc/apt/sources.list") else CONFIGURATION, path, "as provisioned", since)


def _reboot(facts: Facts) -> Iterator[Difference]:
    if facts.bundle.looked("reboot_required") and not facts.bundle.absent("reboot_required"):
        yield Difference(REBOOT, "/run/reboot-required", "absent", "a reboot is pending")


def _lists_packages(facts: Facts) -> bool:
    return facts.packages is not None and facts.bundle.complete("dpkg_l")


def _unseen(facts: Facts) -> Iterator[str]:
    if not _lists_packages(facts):
        yield "dpkg_l: no whole list of packages"
    if facts.configured_files is None:
        yield "configuration: nothing was recorded when the node was provisioned"
    if not facts.bundle.looked("reboot_required"):
        yield "reboot_required: nobody looked"
