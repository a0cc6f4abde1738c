# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Judging: evidence and what is wanted in, one judgement out. Pure; a captured report, a fixture and a live node go through the same call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Collection, Iterable, Mapping

from ansible_collections.goldnode.gpu.plugins.module_utils.model import FAIL, LAYERS, NOT_APPLICABLE, PASS, RUNGS, UNKNOWN, Finding
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import RULES, Rule

ALL: tuple[str, ...] = tuple(LAYERS)
DEFAULT_ROOTS = {"procfs": "/proc", "sysfs": "/sys", "kernel_log": None}


@dataclass(frozen=True)
class LayerVerdict:
    """A layer's verdict; `blocked_by` is the broken layer because of which it could not be judged."""

    verdict: str
    blocked_by: str | None = None


@dataclass(frozen=True)
class Judgement:
    """What the evidence says about a node."""

    verdict: str
    first_broken_layer: str | None
    rung: str
    layers: Mapping[str, LayerVerdict]
    findings: tuple[Finding, ...]

    def as_dict(self) -> dict[str, Any]:
        """The judgement as the JSON mapping that modules return and reports hold."""
        return {
            "verdict": self.verdict,
            "first_broken_layer": self.first_broken_layer,
            "rung": self.rung,
            "layers": {name: {"verdict": layer.verdict, "blocked_by": layer.blocked_by} for name, layer in self.layers.items()},
            "findings": [finding.as_dict() for finding in self.findings],
        }


def judge(evidence: Mapping[str, Any], wanted: Mapping[str, Any] | None = None, layers: Collection[str] = ALL) -> Judgement:
    """Judge the named layers of one bundle against a lock (`goldnode_stack`) or against nothing but itself."""
    facts, stack = Facts(evidence), Wanted(wanted)
    verdicts: dict[str, LayerVerdict] = {}
    findings: list[Finding] = []
    for layer in (name for name in ALL if name in layers):
        broken = [name for name, judged in verdicts.items() if judged.verdict == FAIL]
        found = [_finding(rule, facts, stack, _blocker(rule, broken)) for rule in RULES.values() if rule.layer == layer]
        verdicts[layer] = _layer_verdict(found, _first_of(_all_needs(layer), broken))
        findings.extend(finding for finding, _blocked in found)
    return Judgement(
        verdict=_node_verdict([judged.verdict for judged in verdicts.values()]),
        first_broken_layer=next((name for name, judged in verdicts.items() if judged.verdict == FAIL), None),
        rung=rung(evidence, facts),
        layers=verdicts,
        findings=tuple(findings),
    )


def _all_needs(layer: str) -> set[str]:
    """What a layer needs, direct and indirect."""
    direct = set(LAYERS[layer])
    return direct.union(*(_all_needs(name) for name in direct))


def _first_of(needs: set[str], broken: Iterable[str]) -> str | None:
    return next((name for name in broken if name in needs), None)


def _blocker(rule: Rule, broken: Iterable[str]) -> str | None:
    """The first broken layer among those that a rule needs by itself or through its layer."""
    own = set(rule.needs).union(*(_all_needs(name) for name in rule.needs))
    return _first_of(_all_needs(rule.layer) | own, broken)


def _finding(rule: Rule, facts: Facts, wanted: Wanted, blocker: str | None) -> tuple[Finding, str | None]:
    """One rule's finding, and the broken layer that kept it from being judged."""
    if blocker:
        return Finding(rule.id, rule.layer, UNKNOWN, rule.severity, observed=f"blocked by {blocker}"), blocker
    outcome = rule.judge(facts, wanted)
    broken = outcome.verdict == FAIL
    seen = tuple(name for name in rule.probes if name in facts.bundle.probes)
    finding = Finding(
        rule=rule.id,
        layer=rule.layer,
        verdict=outcome.verdict,
        severity=rule.severity,
        expected=outcome.expected,
        observed=outcome.observed,
        evidence=seen + outcome.evidence,
        cause=outcome.cause or (rule.cause if broken else ""),
        remedy=outcome.remedy or (rule.fix if broken else ""),
        confidence=outcome.confidence,
        decided_by=outcome.decided_by,
    )
    return finding, None


def _layer_verdict(found: list[tuple[Finding, str | None]], blocker: str | None) -> LayerVerdict:
    """house.md: fail, else unknown that nothing blocked, else pass, else unknown; not_applicable if all are."""
    if blocker:
        return LayerVerdict(UNKNOWN, blocker)
    judged = [finding.verdict for finding, blocked_by in found if blocked_by is None]
    for verdict in (FAIL, UNKNOWN, PASS):
        if verdict in judged:
            return LayerVerdict(verdict)
    blockers = [blocked_by for _finding, blocked_by in found if blocked_by]
    if blockers:
        return LayerVerdict(UNKNOWN, blockers[0])
    return LayerVerdict(NOT_APPLICABLE if judged else UNKNOWN)


def _node_verdict(verdicts: list[str]) -> str:
    """The worst of the layers; a layer to which nothing applies says nothing."""
    for verdict in (FAIL, UNKNOWN, PASS, NOT_APPLICABLE):
        if verdict in verdicts:
            return verdict
    return UNKNOWN


def rung(evidence: Mapping[str, Any], facts: Facts) -> str:
    """How real the GPU is (lab.md); a rung already in the bundle, even one that nobody knows, can only lower it."""
    earned = _earned_rung(evidence, facts)
    claimed = evidence.get("rung") or earned
    return min(earned, claimed, key=RUNGS.index) if claimed in RUNGS else RUNGS[0]


def _earned_rung(evidence: Mapping[str, Any], facts: Facts) -> str:
    if not isinstance(evidence.get("roots"), Mapping) or not evidence.get("probe_version"):
        return "captured"
    answer = facts.cuda_probe or {}
    if dict(evidence["roots"]) != DEFAULT_ROOTS or answer.get("simulated") is True:
        return "simulated"
    return "hardware" if _is_real(evidence, facts, answer) else "booted"


def _is_real(evidence: Mapping[str, Any], facts: Facts, answer: Mapping[str, Any]) -> bool:
    """The kernel's list of GPUs and CUDA's are the same devices, and each computed the exact result for this nonce."""
    computed = {
        (str(device.get("pci")).lower(), device.get("uuid"))
        for device in answer.get("devices") or ()
        if device.get("ok") is True and device.get("checksum") is not None and device.get("checksum") == device.get("expected")
    }
    fresh = answer.get("simulated") is False and bool(evidence.get("nonce")) and answer.get("nonce") == evidence.get("nonce")
    return fresh and bool(facts.kernel_gpus) and facts.kernel_gpus == computed
