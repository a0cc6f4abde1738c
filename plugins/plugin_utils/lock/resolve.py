# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""From a pool's files to its lock."""

from __future__ import annotations

import copy
import fnmatch
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError, apt, dnf
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.catalogue import Catalogue, Index, Package
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.closure import closure
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import LOCK_SUFFIX, make_lock
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.families import APT, DNF, DRIVER, ORDERS, TOOLKIT, Family, Root, families_for, module_family
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.pins import read_pins
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.sources import Repository, read_repositories
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.versions import is_range, kernel_matches, matches, nearest, upstream

# Distribution -> what fetches and checks one of its repositories for nodes of an architecture, in a directory of its own.
_READERS: dict[str, Callable[[Repository, str, Path], Index]] = {**dict.fromkeys(APT, apt.read_index), **dict.fromkeys(DNF, dnf.read_index)}


@dataclass(frozen=True)
class PoolFiles:
    """Where an inventory keeps what a lock is made of."""

    pool: str
    inventory: Path

    @property
    def pins(self) -> Path:
        return self.inventory / "group_vars" / self.pool / "pins.yml"

    @property
    def waivers(self) -> Path:
        return self.inventory / "group_vars" / self.pool / "waivers.yml"

    @property
    def sources(self) -> Path:
        return self.inventory / "group_vars" / self.pool / "package_sources.yml"

    @property
    def trust(self) -> Path:
        return self.inventory / "trust.yml"

    @property
    def lock(self) -> Path:
        return self.inventory / "locks" / f"{self.pool}{LOCK_SUFFIX}"


@dataclass(frozen=True)
class Offers:
    """What a pool's repositories hold now: their identities for a lock, and their owned packages."""

    identities: list[dict[str, object]]
    packages: list[Package]


def resolve_pool(files: PoolFiles) -> dict[str, Any]:
    """The lock of a pool as its pins and repositories are now; `LockError` says in one sentence why there is none."""
    written = read_pins(files.pins, files.pool, ranges=True)
    offers = read_offers(files, written["os"])
    try:
        pins, chosen = resolve(written, offers.packages)
    except LockError as error:
        raise LockError(f"pins.yml of pool {files.pool} ({files.pins}): {error}") from None
    return make_lock(files.pool, pins, written, offers.identities, chosen)


def read_offers(files: PoolFiles, platform: Mapping[str, Any]) -> Offers:
    """Fetches and checks the indexes of all repositories of a pool; `platform`: the pin `os`."""
    if platform["distribution"] not in _READERS:
        there = f'os.distribution is "{platform["distribution"]}"; lock_stack resolves for {", ".join(_READERS)}'
        raise LockError(f"pins.yml of pool {files.pool} ({files.pins}): {there}.")
    offers = Offers([], [])
    with tempfile.TemporaryDirectory(prefix="goldnode-lock-") as folder:
        Path(folder).chmod(0o755)
        for repository in read_repositories(files.sources, files.trust):
            here = Path(folder, repository.name)
            here.mkdir()
            index = _READERS[platform["distribution"]](repository, platform["arch"], here)
            offers.identities.append(index.identity)
            offers.packages.extend(index.packages)
    return offers


def resolve(written: Mapping[str, Any], packages: Iterable[Package]) -> tuple[dict[str, Any], list[Package]]:
    """Checked pins and what the repositories offer -> pins with ranges replaced, and all owned packages. Pure; the order of packages does not matter."""
    pins = copy.deepcopy(dict(written))
    catalogue = Catalogue(packages)
    pins["kernel"]["version"] = _settle_kernel(pins, catalogue)
    roots = [package for subject in _subjects(pins) for package in _settle(subject, pins, catalogue)]
    for index, module in enumerate(pins.get("extra_modules", [])):
        roots += _settled([_Offer(module_family(index, module["name"]), {}, pins, catalogue)])
    preferred = {DRIVER: upstream(pins["nvidia_driver"]["version"])}
    if pins["container_toolkit"]:
        preferred[TOOLKIT] = upstream(pins["container_toolkit"]["version"])
    _refuse_unsettled(pins)
    chosen = closure(roots, catalogue, preferred)
    _refuse_ambiguous(chosen, catalogue)
    return pins, chosen


def _refuse_unsettled(pins: Mapping[str, Any]) -> None:
    """A range that no package of the chosen families answers: containerd.io brings its own runc, and no index says which."""
    engine = pins["container_engine"]
    for part, version in pins[engine].items():
        if is_range(version):
            raise LockError(
                f'{engine}.{part} is "{version}", but no package of the pool\'s engine is {part} alone: containerd.io brings its own. '
                f"Write the exact version that its release names ({part} --version on a node shows it)."
            )


def _refuse_ambiguous(chosen: Iterable[Package], catalogue: Catalogue) -> None:
    """One name and version must mean one file: the package manager on a node would take either."""
    for package in chosen:
        for other in catalogue.named(package.name):
            if other.version == package.version and other.sha256 != package.sha256:
                raise LockError(
                    f"{package} is in repositories {package.repository} and {other.repository} with different content "
                    f"(SHA-256 {package.sha256[:12]} and {other.sha256[:12]}); a node would take either. Leave one of the two out of package_sources.yml."
                )


def _subjects(pins: Mapping[str, Any]) -> list[str]:
    subjects = ("kernel", "nvidia_driver", "fabric_manager", "nvlsm", "imex", "container_toolkit")
    return [subject for subject in subjects if pins.get(subject)] + ["engine"]


def _settle_kernel(pins: Mapping[str, Any], catalogue: Catalogue) -> str:
    """The kernel release that must run."""
    pin, key = pins["kernel"]["version"], ORDERS[pins["os"]["distribution"]].key
    releases = kernel_releases(pins, catalogue)
    found = [release for release in releases if kernel_matches(pin, release)]
    if not found:
        raise LockError(f'kernel.version is "{pin}"; the pool\'s repositories have {_listed(nearest(pin, releases, key))}. Write one of these.')
    return str(max(found, key=key))


def kernel_releases(pins: Mapping[str, Any], catalogue: Catalogue) -> list[str]:
    """The kernel releases that the repositories have an image of, as `uname -r` prints them."""
    facts = pool_facts(pins)
    return [release for family in families_for("kernel", facts) for release in _releases(family.roots[0], facts, catalogue)]


def _releases(image: Root, facts: Mapping[str, str], catalogue: Catalogue) -> list[str]:
    """apt's packages carry the release in their names (a name without a number is a metapackage), RPM's in their versions."""
    if image.suffix:
        return [f"{package.version}{image.suffix.format_map(facts)}" for package in catalogue.named(image.name)]
    prefix = image.name.removesuffix("{kernel}")
    names = [name for name in catalogue.names() if name.startswith(prefix) and catalogue.named(name)]
    return [release for release in (name.removeprefix(prefix) for name in names) if release[:1].isdigit()]


def pool_facts(pins: Mapping[str, Any]) -> dict[str, str]:
    """What the family tables decide by, and what their name templates hold."""
    driver = pins["nvidia_driver"]
    return {
        "distribution": pins["os"]["distribution"],
        "arch": pins["os"]["arch"],
        "kernel": pins["kernel"]["version"],
        # 5.14.0-570.12.1.el9_6.x86_64 -> 5.14.0-570.12.1, as prebuilt modules name it
        "abi": re.sub(r"\.el\d.*", "", pins["kernel"]["version"]),
        "driver": upstream(driver["version"]),
        "modules": driver["modules"],
        "build": driver["build"],
        "branch": driver["version"].rpartition(":")[2].partition(".")[0],
        "engine": pins["container_engine"],
    }


def _settle(subject: str, pins: dict[str, Any], catalogue: Catalogue) -> list[Package]:
    """The root packages of a subject; ranges in `pins` become what was chosen."""
    if subject == "fabric_manager":
        # both were written alike; where that was a range, the driver's choice holds
        pins[subject]["version"] = pins["nvidia_driver"]["version"]
    facts = pool_facts(pins)
    offers = [_Offer(family, facts, pins, catalogue) for family in families_for(subject, facts)]
    if not offers:
        raise LockError(f"{subject}: no packages are known for {facts['distribution']} with {facts['modules']} modules and build {facts['build']}.")
    return _settled(offers)


def _settled(offers: Sequence[_Offer]) -> list[Package]:
    """The packages of the first family that one origin has whole."""
    for offer in offers:
        whole = {origin: choice for origin in offer.origins() if (choice := offer.whole(origin)) is not None}
        if len(whole) > 1:
            raise LockError(_ambiguous(whole))
        for choice in whole.values():
            offer.settle(choice)
            return choice.packages
    raise LockError(f"{max(offers, key=_Offer.nearness).missing()}. Write one of these, or add the repository that has it to package_sources.yml.")


def _ambiguous(whole: Mapping[str, _Choice]) -> str:
    offered = " and ".join(f"{choice.packages[0]} of origin {origin}" for origin, choice in sorted(whole.items()))
    return f"both {offered} are what is pinned. Write the whole package version that is meant, or leave one of the repositories out of package_sources.yml."


@dataclass(frozen=True)
class _Choice:
    """Root packages of a family from one origin, and what ranges became: dotted pin -> version."""

    packages: list[Package]
    settled: Mapping[str, str]


class _Offer:
    """What the repositories have of one family."""

    def __init__(self, family: Family, facts: Mapping[str, str], pins: dict[str, Any], catalogue: Catalogue) -> None:
        names = [root.name.format_map(facts) for root in family.roots]
        self.roots = [(root, _named(name, catalogue), name) for root, name in zip(family.roots, names)]
        self.facts, self.pins, self.transitional = facts, pins, catalogue.transitional

    def origins(self) -> list[str]:
        """The origins that have the family's first package: all of a family comes from one of them."""
        return sorted({package.origin for package in self.roots[0][1]})

    def whole(self, origin: str) -> _Choice | None:
        """All root packages from this origin at the pinned versions, None where a required one is not there."""
        found: list[Package] = []
        settled: dict[str, str] = {}
        for pin in dict.fromkeys(root.pin for root, _, _ in self.roots):
            group = [(root, [one for one in packages if one.origin == origin]) for root, packages, _ in self.roots if root.pin == pin]
            chosen = _newest(group, found) if pin is None else self._at_one_version(group)
            if chosen is None:
                return None
            found += chosen
            if pin is not None and is_range(self._pinned(pin)):
                settled[pin] = chosen[0].upstream
        return _Choice(found, settled)

    def settle(self, choice: _Choice) -> None:
        """Writes what ranges became into the pins."""
        for pin, version in choice.settled.items():
            place, key = self._place(pin)
            place[key] = version

    def _pinned(self, pin: str) -> str:
        place, key = self._place(pin)
        return str(place[key])

    def _place(self, pin: str) -> tuple[Any, str]:
        """The mapping that holds a dotted pin (`extra_modules.0.version`), and its last key."""
        *path, key = pin.split(".")
        place: Any = self.pins
        for step in path:
            place = place[int(step)] if step.isdigit() else place[step]
        return place, key

    def _matching(self, root: Root, packages: list[Package]) -> list[Package]:
        return packages if root.pin is None else [one for one in packages if matches(self._pinned(root.pin), self._version(root, one))]

    def _version(self, root: Root, package: Package) -> str:
        return f"{package.version}{root.suffix.format_map(self.facts)}"

    def _at_one_version(self, group: Sequence[tuple[Root, list[Package]]]) -> list[Package] | None:
        """The highest version that the pin allows and all required packages have; siblings may differ after the hyphen only, a kernel's not at all."""
        there = [(root, self._matching(root, packages) if root.suffix else packages) for root, packages in group]
        for head in self._matching(*group[0]):
            found = [(root, _sibling(packages, head)) for root, packages in there]
            if all(package or not root.required for root, package in found):
                return [package for _, package in found if package]
        return None

    def nearness(self) -> tuple[int, int, int, int]:
        """How near this family is: most names as transitional packages, fewest absent altogether, then most at the pinned version, then of its branch."""
        required = [(root, packages) for root, packages, _ in self.roots if root.required]
        return (
            sum(name in self.transitional for root, _, name in self.roots if root.required),
            -sum(not packages for _, packages in required),
            sum(bool(self._matching(*one)) for one in required),
            sum(self._of_branch(*one) for one in required),
        )

    def _of_branch(self, root: Root, packages: list[Package]) -> bool:
        """Whether a version there begins with the pin's first number: 535.274.02 where 535.261.03 is pinned."""
        branch = upstream(self._pinned(root.pin)).partition(".")[0] if root.pin else None
        return any(one.upstream.partition(".")[0] == branch for one in packages)

    def missing(self) -> str:
        """What is pinned and what there is instead, for the first required package of each pin that is not there."""
        texts: dict[str | None, str] = {}
        for root, packages, name in self.roots:
            if root.required and not self._matching(root, packages):
                wanted = f'{root.pin} is "{self._pinned(root.pin)}"' if root.pin else "needed too"
                here = [self._version(root, one) if root.suffix else one.upstream for one in packages]
                there = nearest(self._pinned(root.pin) if root.pin else "0", here, ORDERS[self.pins["os"]["distribution"]].key)
                texts.setdefault(root.pin, f"{wanted}: the pool's repositories have {name} {_listed(there)}{self._instead(name)}")
        return "; ".join(texts.values()) or f"{self.roots[0][2]} and what belongs to it are not there at one version from one origin"

    def _instead(self, name: str) -> str:
        dummy = self.transitional.get(name)
        return f" (only {dummy}, a transitional package that brings branch {dummy.successor})" if dummy else ""


def _newest(group: Sequence[tuple[Root, list[Package]]], pinned: Sequence[Package]) -> list[Package] | None:
    """The highest version of each that fits the pinned packages of the family, but that of theirs where there is one."""
    group = [(root, [one for one in packages if _fits(one, pinned)]) for root, packages in group]
    if any(root.required and not packages for root, packages in group):
        return None
    upstreams = {package.upstream for package in pinned}
    return [next((one for one in packages if one.upstream in upstreams), packages[0]) for _, packages in group if packages]


def _fits(package: Package, pinned: Sequence[Package]) -> bool:
    """Whether the pinned packages are of the versions that this one asks for (Ubuntu builds a kernel's prebuilt modules anew for each driver)."""
    names = {one.name for one in pinned}
    asked = [group for group in package.depends if any(relation.name in names for relation in group)]
    return all(any(one.meets(relation) for relation in group for one in pinned) for group in asked)


def _named(name: str, catalogue: Catalogue) -> list[Package]:
    """The packages of a name; where it holds a pinned range, those of all names that fit."""
    names = fnmatch.filter(catalogue.names(), name) if is_range(name) else [name]
    return [package for one in names for package in catalogue.named(one)]


def _sibling(packages: Sequence[Package], head: Package) -> Package | None:
    alike = [package for package in packages if package.upstream == head.upstream]
    return next((package for package in alike if package.version == head.version), alike[0] if alike else None)


def _listed(versions: Sequence[str]) -> str:
    return ", ".join(versions) or "none"
