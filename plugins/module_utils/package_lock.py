# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Decisions about the packages of one layer of a lock: what differs, what a transaction may do, what apt is told. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.package_families import PACKAGE_GLOBS, layer_of
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.apt import Step
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.dpkg import Installed
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.rpm import lock_entry
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError


@dataclass(frozen=True)
class Package:
    """One package of the lock; `sha256` is of the .deb or .rpm, in hex."""

    name: str
    version: str
    architecture: str
    sha256: str

    @property
    def key(self) -> str:
        """As dpkg-query, and the format for rpm, name it."""
        return f"{self.name}:{self.architecture}"

    @property
    def argument(self) -> str:
        """As apt-get takes it."""
        return f"{self.name}={self.version}"

    @property
    def nevra(self) -> str:
        """As dnf takes it: exactly this epoch, version, release and architecture."""
        return lock_entry(self.name, self.version, self.architecture)

    @property
    def nvra(self) -> str:
        """As rpm takes it, and the name of its file."""
        return f"{self.name}-{self.version.rpartition(':')[2]}.{self.architecture}"

    @property
    def archive(self) -> str:
        """The file name that apt gives to the downloaded .deb."""
        return f"{self.name}_{self.version.replace(':', '%3a')}_{self.architecture}.deb"


def packages_of(stack: Mapping[str, Any], layer: str) -> list[Package]:
    """The packages of a layer, in the lock's order; RefusedError where the lock has none or lacks a field."""
    rows = [row for row in stack.get("packages") or [] if row.get("layer") == layer]
    if not rows:
        raise RefusedError(f"the lock of pool {stack.get('pool')} lists no package of layer {layer}; resolve it again with lock_stack")
    try:
        return [Package(row["name"], row["version"], row["architecture"], row["sha256"].rpartition(":")[2]) for row in rows]
    except KeyError as missing:
        raise RefusedError(f"a package of layer {layer} in the lock of pool {stack.get('pool')} has no {missing.args[0]}") from missing


def differing(packages: Iterable[Package], installed: Mapping[str, Installed]) -> list[Package]:
    """The packages that are not wholly installed at the locked version."""
    known = {package: installed.get(package.key) for package in packages}
    return [package for package, found in known.items() if not found or found.version != package.version or not found.complete]


def unheld(packages: Iterable[Package], installed: Mapping[str, Installed]) -> list[Package]:
    """The packages whose hold is missing."""
    return [package for package in packages if package.key not in installed or not installed[package.key].held]


def merged(packages: Iterable[Package], versions: Mapping[str, Sequence[str]], locks: Sequence[str]) -> dict[str, Installed]:
    """What rpm has of the packages: the locked version where it is among those of its name, and whole only if it replaced the others.

    Kernels are install-only: others beside the locked one are the ones to fall back to.
    """
    return {
        package.key: Installed(
            version=package.version if package.version in found else found[-1],
            held=package.nevra in locks,
            complete=len(found) == 1 or layer_of(package.name) == "kernel",
        )
        for package in packages
        if (found := versions.get(package.key))
    }


def duplicates(packages: Iterable[Package], versions: Mapping[str, Sequence[str]]) -> list[str]:
    """As rpm takes them, the versions beside a locked one that an interrupted upgrade did not take away; kernels are none."""
    return [
        replace(package, version=other).nvra
        for package in packages
        if layer_of(package.name) != "kernel" and package.version in versions.get(package.key, ())
        for other in versions[package.key]
        if other != package.version
    ]


def absent_from(index: Mapping[str, Sequence[str]], packages: Iterable[Package]) -> list[Package]:
    """The packages whose locked version no configured repository has."""
    return [package for package in packages if package.version not in index.get(package.name, ())]


def absence_sentence(index: Mapping[str, Sequence[str]], packages: Iterable[Package]) -> str:
    """Which locked versions the repositories lack, and what they have instead."""
    lacking = ", ".join(f"{p.name} {p.version} (there is: {', '.join(index.get(p.name, ())) or 'none'})" for p in packages)
    return f"the repositories do not have {lacking}; nothing was changed: restore the artefact or resolve the lock again with lock_stack"


def objections(steps: Iterable[Step], locked: Mapping[str, str]) -> list[str]:
    """Why a simulated transaction must not run: each removal, and each move of an owned package away from the lock (name -> version)."""
    found = []
    for step in steps:
        if step.new is None:
            found.append(f"it would remove {step.name} {step.old or ''}".rstrip())
        elif (step.name in locked or layer_of(step.name.partition(":")[0])) and locked.get(step.name) != step.new:
            found.append(f"it would bring {step.name} {step.new}, of which the lock has {locked.get(step.name, 'nothing')}")
    return found


def versions_text(packages: Iterable[Package], installed: Mapping[str, Installed]) -> str:
    """One line per package with what is there now, for a diff."""
    known = [(package, installed.get(package.key)) for package in packages]
    return "".join(f"{package.name} {found.version if found else 'absent'}{' held' if found and found.held else ''}\n" for package, found in known)


def locked_text(packages: Iterable[Package]) -> str:
    """The same lines as they are when the lock is met."""
    return "".join(f"{package.name} {package.version} held\n" for package in packages)


def preferences_text(layer: str, packages: Iterable[Package]) -> str:
    """apt_preferences(5) of a layer: each locked version above all, every other package of the family not at all.

    A stanza cannot join a version with an origin; the name and version of a stanza are the lock's, and the family's
    stanza takes every other version from every origin.
    """
    stanzas = [f"Package: {package.name}\nPin: version {package.version}\nPin-Priority: 1001\n" for package in packages]
    family = f"Package: {' '.join(PACKAGE_GLOBS[layer])}\nPin: release *\nPin-Priority: -1\n"
    return "\n".join(["# Written by goldnode.gpu.locked_packages from the lock; changes are lost.\n", *stanzas, family])


def locked_versions(stack: Mapping[str, Any]) -> dict[str, str]:
    """Versions by name over all layers of the lock."""
    return {row["name"]: row["version"] for row in stack.get("packages") or []}


def assert_locked(packages: Sequence[Package], installed: Mapping[str, Installed]) -> None:
    """Refuses where the package manager, asked again after the change, does not show what the lock lists, held."""
    wrong = differing(packages, installed) or unheld(packages, installed)
    if wrong:
        raise RefusedError(f"after the transaction the node has {versions_text(wrong, installed).strip()}, the lock has {locked_text(wrong).strip()}")
