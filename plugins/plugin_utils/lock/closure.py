# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the chosen packages need within the owned families. Pure, and the same whatever the order of what comes in.

No backtracking search: each dependency takes the best candidate; where two dependencies ask for different versions of one package,
the narrower one is learnt and the whole is done again, so the result never depends on which was met first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.catalogue import Catalogue, Package, Relation
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.families import is_tool, layer_of


def closure(roots: Iterable[Package], catalogue: Catalogue, preferred: Mapping[str, str]) -> list[Package]:
    """Roots and all owned packages they need, sorted by layer and name. `preferred`: layer -> upstream version to take where there is one."""
    fixed = {package.name: package for package in roots}
    learnt: set[Relation] = set()
    while True:
        search = _Search(fixed, catalogue, preferred, learnt)
        clash = search.run()
        if clash is None:
            chosen = search.chosen.values()
            _refuse_conflicts(chosen)
            return sorted(chosen, key=lambda package: (package.layer, package.name))
        learnt.add(clash)


class _Search:
    """One pass: `chosen` grows until every owned dependency is met, or a clash is found."""

    def __init__(self, fixed: Mapping[str, Package], catalogue: Catalogue, preferred: Mapping[str, str], learnt: set[Relation]) -> None:
        self.fixed, self.catalogue, self.preferred, self.learnt = fixed, catalogue, preferred, learnt
        self.chosen = dict(fixed)

    def run(self) -> Relation | None:
        """The relation to learn when a choice made earlier does not satisfy it, None when all is met."""
        queue = deque(self.fixed[name] for name in sorted(self.fixed))
        while queue:
            package = queue.popleft()
            for group in package.depends:
                if self._is_met(group):
                    continue
                clash = self._clash(group, package)
                if clash is not None:
                    return clash
                found = self._pick(group, package)
                if found is not None:
                    self.chosen[found.name] = found
                    queue.append(found)
        return None

    def _is_met(self, group: tuple[Relation, ...]) -> bool:
        return any(package.meets(relation) for relation in group for package in self.chosen.values())

    def _clash(self, group: tuple[Relation, ...], package: Package) -> Relation | None:
        taken = [relation for relation in group if relation.name in self.chosen]
        if not taken or any(self._candidates(relation) for relation in group if relation.name not in self.chosen):
            return None
        relation = taken[0]
        if relation.name in self.fixed or relation in self.learnt or not self.catalogue.offering(relation):
            raise LockError(
                f"{package} needs {relation}, but {relation.name} {self.chosen[relation.name].version} is "
                f"{'pinned' if relation.name in self.fixed else 'needed by others'}; pin versions that belong together."
            )
        return relation

    def _pick(self, group: tuple[Relation, ...], package: Package) -> Package | None:
        """The best candidate, None where the dependency is left to the node. An alternative at the pinned version goes before an earlier one that is not."""
        owned = [relation for relation in group if layer_of(relation.name)]
        ranked = [
            ((self._is_pinned(one), -place, one.name == relation.name, one.origin == package.origin, one.key), one)
            for place, relation in enumerate(owned)
            for one in self._candidates(relation)
        ]
        if ranked:
            return max(ranked, key=lambda pair: pair[0])[1]
        if len(owned) < len(group) or all(is_tool(relation.name) for relation in owned):
            return None
        raise LockError(f"{package} needs {' | '.join(map(str, group))}, {self._why_not(owned)}.")

    def _why_not(self, owned: Iterable[Relation]) -> str:
        if any(self.catalogue.offering(relation) for relation in owned):
            return f"but others need {', '.join(map(str, sorted(self.learnt)))}; pin versions that belong together"
        return "which the pool's repositories do not have; add the repository or component that has it to package_sources.yml"

    def _candidates(self, relation: Relation) -> list[Package]:
        return [
            package
            for package in self.catalogue.offering(relation)
            if package.name not in self.chosen and all(package.meets(known) for known in self.learnt if known.name == package.name)
        ]

    def _is_pinned(self, package: Package) -> bool:
        return package.upstream == self.preferred.get(package.layer)


def _refuse_conflicts(chosen: Iterable[Package]) -> None:
    packages = sorted(chosen, key=lambda package: package.name)
    for package in packages:
        for relation in package.conflicts:
            for other in packages:
                if other.name != package.name and other.meets(relation):
                    raise LockError(f"{package} conflicts with {other}; pin versions that belong together.")
