# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The owned packages that a pool's repositories offer. Pure: text of Packages files in, candidates out (RPM's: primary.py)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.families import layer_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.versions import DPKG, Order, upstream
from debian.deb822 import Packages, PkgRelation

_NAME = re.compile(r"^Package: *(\S+)", re.MULTILINE)
# the driver branch in a package's name (nvidia-utils-550-server), and that of a driver's version (580.159.03)
_BRANCH = re.compile(r"-(\d{3})(?=-|$)")
_BRANCH_OF_VERSION = re.compile(r"(\d{3})\.")


@dataclass(frozen=True, order=True)
class Relation:
    """`name (operator version)`, one alternative of a dependency, or a provided name; without operator: any version."""

    name: str
    operator: str = ""
    version: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.operator} {self.version})" if self.operator else self.name


@dataclass(frozen=True)
class Package:
    """One version of a package in one repository; `filename` is where it lies below the repository's address."""

    name: str
    version: str
    architecture: str
    repository: str
    origin: str
    filename: str
    size: int
    sha256: str
    layer: str
    depends: tuple[tuple[Relation, ...], ...]
    provides: tuple[Relation, ...]
    conflicts: tuple[Relation, ...]
    order: Order

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def upstream(self) -> str:
        """The version that a person would pin."""
        return upstream(self.version)

    @property
    def successor(self) -> str | None:
        """The branch that a transitional package brings instead of the one in its name, by its version or its dependencies; None for all others.

        Ubuntu's nvidia-utils-550-server 580.159.03-0ubuntu1 is empty and needs nvidia-utils-580-server.
        """
        named = _BRANCH.search(self.name)
        if named is None:
            return None
        version = _BRANCH_OF_VERSION.match(self.upstream)
        branches = [version.group(1)] if version else []
        branches += [
            other.group(1)
            for group in self.depends
            for relation in group
            if (other := _BRANCH.search(relation.name)) and _without(other, relation.name) == _without(named, self.name)
        ]
        return next((branch for branch in branches if branch != named.group(1)), None)

    @property
    def key(self) -> Any:
        """What sorts versions of a package, in its package system's order."""
        return self.order.key(self.version)

    def meets(self, relation: Relation) -> bool:
        """Whether this package, or what it provides, satisfies the relation (to Debian an unversioned provision has no version, policy 7.5; to RPM any)."""
        return any(self._meets(relation, name, version) for name, version in self._offers())

    def _meets(self, relation: Relation, name: str, version: str) -> bool:
        return name == relation.name and (not relation.operator or self.order.satisfies(version, relation.operator, relation.version))

    def _offers(self) -> Iterator[tuple[str, str]]:
        yield self.name, self.version
        for provided in self.provides:
            yield provided.name, provided.version


def _without(branch: re.Match[str], name: str) -> str:
    return name[: branch.start()] + name[branch.end() :]


def parse_packages(text: str, repository: str, origin: str) -> Iterator[Package]:
    """The owned packages of one Packages file."""
    for paragraph in text.split("\n\n"):
        name = _NAME.search(paragraph)
        layer = layer_of(name.group(1)) if name else None
        if layer is not None:
            yield _checked(paragraph, repository, origin, layer)


def _checked(paragraph: str, repository: str, origin: str, layer: str) -> Package:
    try:
        package = _package(paragraph, repository, origin, layer)
        DPKG.key(package.version)
    except (KeyError, ValueError) as error:
        name = _NAME.search(paragraph)
        raise LockError(
            f"repository {repository}: its index describes {name.group(1) if name else 'a package'} wrongly ({' '.join(str(error).split())}); "
            "tell whoever keeps it, or leave the repository out of package_sources.yml."
        ) from None
    return package


def _package(paragraph: str, repository: str, origin: str, layer: str) -> Package:
    fields = Packages(paragraph)
    return Package(
        name=fields["Package"],
        version=fields["Version"],
        architecture=fields["Architecture"],
        repository=repository,
        origin=origin,
        filename=fields["Filename"],
        size=int(fields["Size"]),
        sha256=fields["SHA256"],
        layer=layer,
        depends=_groups(fields, "Pre-Depends") + _groups(fields, "Depends"),
        provides=_names(fields, "Provides"),
        conflicts=_names(fields, "Conflicts") + _names(fields, "Breaks"),
        order=DPKG,
    )


def _groups(fields: Packages, field: str) -> tuple[tuple[Relation, ...], ...]:
    parsed = PkgRelation.parse_relations(fields[field]) if field in fields else []
    return tuple(tuple(Relation(one["name"], *(one["version"] or ("", ""))) for one in group) for group in parsed)


def _names(fields: Packages, field: str) -> tuple[Relation, ...]:
    return tuple(relation for group in _groups(fields, field) for relation in group)


@dataclass(frozen=True)
class Index:
    """What a repository holds now: its identity for the lock, and its owned packages."""

    identity: dict[str, object]
    packages: tuple[Package, ...]


class Catalogue:
    """Candidates by name or provided name, the highest version first; the order in which packages came in does not matter.

    Transitional packages are no candidates: `transitional` holds them by name, to say why.
    """

    def __init__(self, packages: Iterable[Package]) -> None:
        by_name: dict[str, list[Package]] = {}
        self.transitional: dict[str, Package] = {}
        in_order = sorted(packages, key=lambda one: (one.name, one.repository, one.sha256))
        for package in sorted(in_order, key=lambda one: one.key, reverse=True):
            if package.successor is not None:
                self.transitional.setdefault(package.name, package)
                continue
            for name in {package.name, *(provided.name for provided in package.provides)}:
                by_name.setdefault(name, []).append(package)
        self._by_name = by_name

    def named(self, name: str) -> list[Package]:
        """The packages of exactly this name."""
        return [package for package in self._by_name.get(name, []) if package.name == name]

    def offering(self, relation: Relation) -> list[Package]:
        """The packages that satisfy a relation: those of that name before those that provide it."""
        found = [package for package in self._by_name.get(relation.name, []) if package.meets(relation)]
        return sorted(found, key=lambda package: package.name != relation.name)

    def names(self) -> list[str]:
        """All real and provided names."""
        return sorted(self._by_name)
