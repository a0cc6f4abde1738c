# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a rule is, and the four answers that it can give.

A rule is one function `(facts, wanted) -> Outcome`; the decorator's words are its page in docs/rules. It needs evidence by probe name:
the judge answers `unknown` for it before it runs only if a layer that it needs is broken, everything else is the rule's own to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Callable, NamedTuple

from ansible_collections.goldnode.gpu.plugins.module_utils.model import FAIL, NOT_APPLICABLE, PASS, UNKNOWN, Finding, all_needs
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.bundle import Unseen
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted


class Outcome(NamedTuple):
    """What one rule says about one node; a failure's empty `cause` and `remedy` are taken from the rule's own words (model.Finding)."""

    verdict: str
    expected: str = ""
    observed: str = ""
    cause: str = ""
    remedy: str = ""
    evidence: tuple[str, ...] = ()
    confidence: str = "high"
    decided_by: str = ""


class Silence(NamedTuple):
    """What a rule asks of a bundle that holds nothing, and what it says then: it says the same of every bundle that holds none of what it asked for."""

    asked: frozenset[str]
    finding: Finding


# How the finding begins when a rule could not cope with the evidence: a fault of the rule, shown as such, and never a pass.
STUMBLED = "the rule itself failed on this evidence"


@dataclass(frozen=True)
class Rule:
    """A rule with the words of its page. `probes`: the evidence that decides; `needs`: layers beyond those that its own layer needs."""

    id: str
    layer: str
    judge: Callable[[Facts, Wanted], Outcome]
    probes: tuple[str, ...]
    needs: tuple[str, ...]
    severity: str
    title: str
    symptom: str
    cause: str
    fix: str
    verify: str
    source: str

    @cached_property
    def all_needs(self) -> frozenset[str]:
        """The layers that it needs by itself or through its own layer."""
        return all_needs(self.layer).union(self.needs, *(all_needs(name) for name in self.needs))

    @cached_property
    def silence(self) -> Silence:
        """Worked out by asking; rules are pure, so one that meets none of what it asked for goes the same way again."""
        unseen = Unseen()
        finding = self.finding(Facts(unseen), Wanted(None))
        return Silence(frozenset(unseen.asked), finding)

    def finding(self, facts: Facts, wanted: Wanted) -> Finding:
        """What the rule says; a failure's missing words are the rule's own."""
        verdict, expected, observed, cause, remedy, evidence, confidence, decided_by = self._outcome(facts, wanted)
        if verdict == FAIL:
            cause, remedy = cause or self.cause, remedy or self.fix
        seen = (*[name for name in self.probes if name in facts.bundle.probes], *evidence)
        return Finding(self.id, self.layer, verdict, self.severity, expected, observed, seen, cause, remedy, confidence, decided_by)

    def blocked(self, blocker: str) -> Finding:
        """The finding of a rule that cannot be judged while a layer is broken."""
        return Finding(self.id, self.layer, UNKNOWN, self.severity, observed=f"blocked by {blocker}")

    def _outcome(self, facts: Facts, wanted: Wanted) -> Outcome:
        try:
            return self.judge(facts, wanted)
        except Exception as error:
            return unknown(f"{STUMBLED} ({type(error).__name__}: {error}); please report it with the evidence")


RULES: dict[str, Rule] = {}


def rule(
    identifier: str,
    *,
    layer: str,
    probes: tuple[str, ...],
    symptom: str,
    cause: str,
    fix: str,
    verify: str,
    source: str,
    needs: tuple[str, ...] = (),
    severity: str = "error",
) -> Callable[[Callable[[Facts, Wanted], Outcome]], Callable[[Facts, Wanted], Outcome]]:
    """Registers the decorated function under its id, `<layer>.<condition>`, stable for ever; its docstring's first line is the page's title."""

    def register(function: Callable[[Facts, Wanted], Outcome]) -> Callable[[Facts, Wanted], Outcome]:
        if identifier in RULES or not identifier.startswith(layer + "."):
            raise ValueError(f"rule id {identifier!r} is taken or does not begin with its layer {layer!r}")
        title = (function.__doc__ or "").strip().splitlines()[0]
        RULES[identifier] = Rule(identifier, layer, function, probes, needs, severity, title, symptom, cause, fix, verify, source)
        return function

    return register


def passed(observed: object = "", **words: Any) -> Outcome:
    """All evidence was there and agrees."""
    return Outcome(PASS, observed=str(observed), **words)


def failed(expected: object, observed: object, **words: Any) -> Outcome:
    """The evidence contradicts what is expected. `evidence` may carry the lines that decided."""
    return Outcome(FAIL, expected=str(expected), observed=str(observed), **words)


def unknown(why: str = "", **words: Any) -> Outcome:
    """Could not look, or what was seen does not say."""
    return Outcome(UNKNOWN, observed=why or "the evidence that this rule needs was not collected or could not be read", **words)


def not_applicable(why: str, **words: Any) -> Outcome:
    """The question does not arise on this node: nothing is pinned, or the part is not there on purpose."""
    return Outcome(NOT_APPLICABLE, observed=why, **words)


def equals_pin(observed: object, pinned: object, what: str = "") -> Outcome:
    """The commonest rule: a fact against its pin. No pin is not_applicable, no fact is unknown."""
    if pinned is None:
        return not_applicable("nothing is pinned")
    if observed is None:
        return unknown()
    label = what + " " if what else ""
    if observed == pinned:
        return passed(f"{label}{observed}")
    return failed(f"{label}{pinned}", f"{label}{observed}")
