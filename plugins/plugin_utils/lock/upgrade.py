# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Newer stacks for a pool, each a complete lock that check_pins has nothing new against. Pure: what the repositories offer comes in.

The search is greedy and deterministic: one subject after the other (kernel, driver with its companions, toolkit, engine) goes to the newest
version of the allowed step with which the whole set still resolves and is said nothing worse of than the set before. So a proposal is always
compatible as a whole; a set that only works where two subjects move at once is found in the second round.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.catalogue import Catalogue
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.difference import Difference, differences, needs_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import make_lock
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.families import ORDERS, Family, families_for
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.resolve import Offers, kernel_releases, pool_facts, resolve
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.risk import KINDS, risk_class, step
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.versions import is_prerelease, kernel_flavour, upstream
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.check import Report
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.model import NOTE, Statement

Pins = dict[str, Any]
Check = Callable[[Mapping[str, Any]], Report]
# So many of the newest versions of a subject are tried before it is left where it is.
TRIED = 12
ROUNDS = 2


@dataclass(frozen=True)
class Proposal:
    """A newer stack: its class, its lock, what it changes and needs, what is no longer said of it, what is said of it now."""

    kind: str
    lock: Mapping[str, Any]
    differences: Sequence[Difference]
    settled: Sequence[Statement]
    said: Sequence[Statement]

    @property
    def needs(self) -> list[str]:
        """What the differences need of a node."""
        return needs_of(self.differences)


def proposals(lock: Mapping[str, Any], offers: Offers, check: Check) -> list[Proposal]:
    """At most one proposal of each class (patch, minor, major), none that is no further than the one before or that takes a package back.

    Where the archive has left the locked set, a class whose step reaches nothing that resolves has no proposal; `LockError` where none has.
    """
    catalogue = Catalogue(offers.packages)
    found: dict[str, Proposal] = {}
    refused: list[LockError] = []
    for kind in KINDS:
        try:
            made = _proposal(kind, lock, offers, catalogue, check)
        except LockError as error:
            refused.append(error)
            continue
        new = made.differences and all(made.lock["packages"] != one.lock["packages"] for one in found.values())
        if new and not _takes_back(made.lock, lock):
            found[made.kind] = made
    if len(refused) == len(KINDS):
        raise refused[-1]
    return [found[kind] for kind in KINDS if kind in found]


def _takes_back(new: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Whether a package would go to a lower version, or to other content under the same one: a mirror that fell back, or somebody who rebuilt."""
    key = ORDERS[new["pins"]["os"]["distribution"]].key
    former = {one["name"]: (key(one["version"]), one["sha256"]) for one in old["packages"]}
    pairs = [(former[one["name"]], (key(one["version"]), one["sha256"])) for one in new["packages"] if one["name"] in former]
    return any(now != was and now[0] <= was[0] for was, now in pairs)


def _proposal(kind: str, lock: Mapping[str, Any], offers: Offers, catalogue: Catalogue, check: Check) -> Proposal:
    before = check(lock["pins"])
    pins = _newest(kind, dict(lock["pins"]), offers, catalogue, check)
    settled_pins, packages = resolve(pins, offers.packages)
    new = make_lock(lock["pool"], settled_pins, settled_pins, offers.identities, packages)
    after = check(settled_pins)
    gone = [one for one in before.statements if not any(_same(one, other) for other in after.statements)]
    changed = [one for one in differences(new, lock) if one.about != "repositories"]
    return Proposal(risk_class(new, lock) if changed else kind, new, changed, gone, after.statements)


def _newest(kind: str, pins: Pins, offers: Offers, catalogue: Catalogue, check: Check) -> Pins:
    for _ in range(ROUNDS):
        before = pins
        for subject in ("kernel", "nvidia_driver", "container_toolkit", pins["container_engine"]):
            if pins.get(subject):
                pins = _step_up(subject, kind, pins, offers, catalogue, check)
        if pins == before:
            break
    return pins


def _step_up(subject: str, kind: str, pins: Pins, offers: Offers, catalogue: Catalogue, check: Check) -> Pins:
    """The pins with the newest version of one subject that holds together, else as they were."""
    now = upstream(pins[subject]["version"]) if subject != "kernel" else pins[subject]["version"]
    key = ORDERS[pins["os"]["distribution"]].key
    higher = {one for one in _versions(subject, pins, catalogue) if key(one) > key(now) and KINDS.index(step(one, now)) <= KINDS.index(kind)}
    known = check(pins).statements
    for version in sorted(higher, key=key, reverse=True)[:TRIED]:
        for wanted in _with_version(subject, kind, version, pins):
            tried = _tried(wanted, known, offers, check)
            if tried is not None:
                return tried
    return pins


def _tried(pins: Pins, known: Sequence[Statement], offers: Offers, check: Check) -> Pins | None:
    """The pins with ranges replaced, None where they do not resolve or something worse is said of them."""
    try:
        settled, _ = resolve(pins, offers.packages)
    except LockError:
        return None
    said = (one for one in check(settled).statements if one.severity != NOTE)
    return settled if all(any(_same(one, other) for other in known) for one in said) else None


def _same(one: Statement, other: Statement) -> bool:
    """The same thing said, whatever version is named in it; a note that became a warning is another."""
    return (one.rule, one.place, one.severity) == (other.rule, other.place, other.severity)


def _with_version(subject: str, kind: str, version: str, pins: Pins) -> Iterator[Pins]:
    """The pins with another version of a subject; where its engine comes with a runc of its own, which no range finds, the second holds."""
    made = copy.deepcopy(pins)
    made[subject]["version"] = version
    if subject == "nvidia_driver":
        for companion in ("fabric_manager", "imex"):
            if companion in made:
                made[companion]["version"] = version
    if subject not in ("docker", "containerd"):
        yield made
        return
    # what the engine runs on goes along as far as the class allows
    for parts in (("containerd", "runc"), ("containerd",)):
        along = copy.deepcopy(made)
        along[subject].update({part: _range(pins[subject][part], kind) for part in parts if part in pins[subject]})
        yield along


def _range(version: str, kind: str) -> str:
    """`1.7.24` -> what a patch (`1.7.*`), a minor (`1.*`) or a major step (`*`) may take."""
    kept = upstream(version).split(".")[: len(KINDS) - 1 - KINDS.index(kind)]
    return ".".join([*kept, "*"])


def _versions(subject: str, pins: Pins, catalogue: Catalogue) -> Iterator[str]:
    """The versions of a subject that the repositories have, in the form in which they are pinned."""
    if subject == "kernel":
        flavour = kernel_flavour(pins["kernel"]["version"])
        yield from (release for release in kernel_releases(pins, catalogue) if kernel_flavour(release) == flavour)
        return
    facts = pool_facts(pins)
    for family in families_for("engine" if subject == pins["container_engine"] else subject, facts):
        for name in _head_names(family, facts, catalogue):
            yield from (one.upstream for one in catalogue.named(name) if not is_prerelease(one.version))


def _head_names(family: Family, facts: Mapping[str, str], catalogue: Catalogue) -> list[str]:
    """The names that a family's first package can have: of every branch, where the name carries one."""
    template = family.roots[0].name
    if "{branch}" not in template:
        return [template.format_map(facts)]
    pattern = re.compile(re.escape(template.format_map({**facts, "branch": "\0"})).replace(re.escape("\0"), r"\d+"))
    return [name for name in catalogue.names() if pattern.fullmatch(name)]
