# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Judging: evidence and what is wanted in, one judgement out. Pure; a captured report, a fixture and a live node go through the same call."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.model import FAIL, LAYERS, NOT_APPLICABLE, PASS, RUNGS, UNKNOWN, Finding, all_needs
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

    @property
    def blamed(self) -> Finding | None:
        """The finding that says what is wrong first: the surest failure of the first broken layer."""
        return next((finding for finding in self.findings if finding.verdict == FAIL and finding.layer == self.first_broken_layer), None)

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
    rules = _by_layer()
    for layer in (name for name in ALL if name in layers):
        broken = [name for name, judged in verdicts.items() if judged.verdict == FAIL]
        found = [_finding(rule, facts, stack, _first_of(rule.all_needs, broken) if broken else None) for rule in rules[layer]]
        found.sort(key=_surest_failure_first)
        verdicts[layer] = _layer_verdict(found, _first_of(all_needs(layer), broken))
        findings.extend(finding for finding, _blocked in found)
    return Judgement(
        verdict=_node_verdict([judged.verdict for judged in verdicts.values()]),
        first_broken_layer=next((name for name, judged in verdicts.items() if judged.verdict == FAIL), None),
        rung=rung(evidence, facts),
        layers=verdicts,
        findings=tuple(findings),
    )


def _by_layer() -> dict[str, list[Rule]]:
    found: dict[str, list[Rule]] = {layer: [] for layer in ALL}
    for rule in RULES.values():
        found[rule.layer].append(rule)
    return found


def _first_of(needs: Collection[str], broken: Iterable[str]) -> str | None:
    """The first broken layer among those that are needed."""
    for name in broken:
        if name in needs:
            return name
    return None


def _finding(rule: Rule, facts: Facts, wanted: Wanted, blocker: str | None) -> tuple[Finding, str | None]:
    """One rule's finding, and the broken layer that kept it from being judged."""
    if blocker:
        return rule.blocked(blocker), blocker
    if not wanted and rule.silence.asked.isdisjoint(facts.bundle.holds):
        return rule.silence.finding, None
    return rule.finding(facts, wanted), None


def _surest_failure_first(found: tuple[Finding, str | None]) -> tuple[bool, bool, bool]:
    """Within a layer; else the findings stay in the order of the rules."""
    finding = found[0]
    return (finding.verdict != FAIL, finding.severity != "error", finding.confidence != "high")


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
    answer = facts.cuda_probe if isinstance(facts.cuda_probe, Mapping) else {}
    if dict(evidence["roots"]) != DEFAULT_ROOTS or answer.get("simulated") is True:
        return "simulated"
    return "hardware" if _is_real(evidence, facts, answer) else "booted"


def _is_real(evidence: Mapping[str, Any], facts: Facts, answer: Mapping[str, Any]) -> bool:
    """The kernel's list of GPUs and CUDA's are the same devices, and each computed the exact result for this nonce."""
    devices = answer.get("devices")
    computed = {
        (str(device.get("pci")).lower(), str(device.get("uuid")))
        for device in (devices if isinstance(devices, list) else ())
        if isinstance(device, Mapping) and device.get("ok") is True and device.get("checksum") is not None and device["checksum"] == device.get("expected")
    }
    fresh = answer.get("simulated") is False and bool(evidence.get("nonce")) and answer.get("nonce") == evidence.get("nonce")
    return fresh and bool(facts.kernel_gpus) and facts.kernel_gpus == computed
