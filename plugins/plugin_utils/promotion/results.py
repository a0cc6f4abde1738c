# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""From evidence to the result of a node and of a slot. Worst wins; no data is never a pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils import model
from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import short
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.clock import time_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.policy import Policy

FAIL_FAST = "FAIL_FAST"
FAIL = "FAIL"
ERROR = "ERROR"
HARDWARE_SUSPECT = "HARDWARE_SUSPECT"
DRIFTED = "DRIFTED"
INCONCLUSIVE = "INCONCLUSIVE"
PASS_WITH_FLAKE = "PASS_WITH_FLAKE"  # noqa: S105 - a result, not a password
PASS = "PASS"  # noqa: S105

RESULTS = (FAIL_FAST, FAIL, ERROR, HARDWARE_SUSPECT, DRIFTED, INCONCLUSIVE, PASS_WITH_FLAKE, PASS)  # worst first
PASSING = frozenset({PASS, PASS_WITH_FLAKE})
TAKEN_OUT = frozenset({HARDWARE_SUSPECT, DRIFTED})
BLAMING = frozenset({FAIL_FAST, FAIL, HARDWARE_SUSPECT})

CANARY = "canary"
BASELINE = "baseline"

# Findings elsewhere that are as clear: other devices than asked for, a wrong number.
FAST_RULES = frozenset({"container.devices_differ", "cuda.wrong_result"})

# A failing finding here, on a node that has exactly its release, is the release's own fault.
FAST_LAYERS = frozenset({model.KERNEL, model.DRIVER, model.DEVICE_NODES, model.CONTAINER_TOOLKIT, model.ENGINE})


# The rules that compare a node with the lock of its release, by the end of their names.
COMPARING_RULES = (".package_versions", ".packages_held", ".running_is_wanted", ".boot_default_is_wanted", ".os_is_wanted", ".configuration_is_provisioned")


@dataclass(frozen=True)
class Expected:
    """What the controller asked of a node in a slot, and what it knew of the node then."""

    node: str
    arm: str
    release: str
    nonce: str
    boot_id: str | None = None
    provisioned: bool = False  # provision_pool brought this node to this release, and the node has validated once
    differed: tuple[str, ...] = ()  # what already differed from the release in that validation
    container_images: tuple[str, ...] = ()  # digests that the release allows for canary containers


@dataclass(frozen=True)
class Answer:
    """What came back from a node: its bundle, and what the rules say about it."""

    bundle: Mapping[str, Any] = field(default_factory=dict)
    judgement: Mapping[str, Any] = field(default_factory=dict)
    missing: str = ""  # why there is no bundle
    error: str = ""  # our own fault: the bundle could not be read or judged


@dataclass(frozen=True)
class NodeResult:
    """One node's result; `rules` are the failing rules that decided it."""

    node: str
    arm: str
    result: str
    reason: str
    rules: tuple[str, ...] = ()


def worst(results: Sequence[str]) -> str:
    """The worst of some results; of none, INCONCLUSIVE."""
    return min(results, key=RESULTS.index, default=INCONCLUSIVE)


def node_result(expected: Expected, answers: Sequence[Answer], policy: Policy) -> NodeResult:
    """A node's result in a slot from its first answer and, where it failed, from its one retry."""
    first, *retries = [_one_answer(expected, answer, policy) for answer in answers]
    if first.result == FAIL and retries and retries[0].result == PASS:
        return NodeResult(expected.node, expected.arm, PASS_WITH_FLAKE, f"passed on the retry, after: {first.reason}", first.rules)
    return first


def settled(nodes: Sequence[NodeResult], suspects: Mapping[str, Sequence[str]]) -> list[NodeResult]:
    """The nodes' results beside each other. `suspects`: rules that made nodes of this release HARDWARE_SUSPECT in earlier slots."""
    compared = [_against_baseline(node, nodes) for node in nodes]
    return [_twice_suspect(node, compared, suspects) for node in compared]


def slot_result(nodes: Sequence[NodeResult], policy: Policy) -> tuple[str, str]:
    """The slot's result and its reason, from its settled nodes. The baseline is only there to compare with."""
    canaries = [node for node in nodes if node.arm == CANARY]
    if not canaries:
        return INCONCLUSIVE, "no canary was expected: all are out, or the pool has none"
    result = worst([node.result for node in canaries])
    answered = sum(node.result in PASSING for node in canaries)
    if result in PASSING and answered < policy.coverage:
        return INCONCLUSIVE, f"quorum missing: {answered} of {policy.coverage} canaries answered"
    deciding = [node for node in canaries if node.result == result]
    reasons = dict.fromkeys(node.reason for node in deciding)
    return result, "; ".join(f"{', '.join(node.node for node in deciding if node.reason == reason)}: {reason}" for reason in reasons)


def _one_answer(expected: Expected, answer: Answer, policy: Policy) -> NodeResult:
    def result(name: str, reason: str, rules: Sequence[str] = ()) -> NodeResult:
        return NodeResult(expected.node, expected.arm, name, reason, tuple(rules))

    if answer.missing:
        return result(INCONCLUSIVE, answer.missing)
    if answer.error:
        return result(ERROR, answer.error)
    if reason := _not_ours(expected, answer.bundle):
        return result(INCONCLUSIVE, reason)
    if reason := _clock_skew(answer.bundle, policy):
        return result(INCONCLUSIVE, reason)
    if differences := (*_other_release(expected, answer.bundle), *differences_in(answer.judgement)):
        return result(*_difference(expected, differences[0]))
    if expected.differed:
        return result(FAIL_FAST, f"directly after provisioning it differed from its release: {expected.differed[0]}")
    if answer.judgement["verdict"] == model.FAIL:
        return result(*_failure(answer.judgement))
    return result(*_unless_lowered(expected, answer, policy))


def _not_ours(expected: Expected, bundle: Mapping[str, Any]) -> str:
    if bundle.get("nonce") != expected.nonce:
        return "identity: the bundle does not carry this slot's nonce"
    return ""


def _clock_skew(bundle: Mapping[str, Any], policy: Policy) -> str:
    if not bundle.get("clock") or not bundle.get("captured_at"):
        return "the bundle does not say when it was taken"
    skew = abs((time_of(bundle["clock"]) - time_of(bundle["captured_at"])).total_seconds())
    return f"the node's clock is {skew:.0f} s off, more than {policy.clock_skew_s} s" if skew > policy.clock_skew_s else ""


def differences_in(judgement: Mapping[str, Any]) -> tuple[str, ...]:
    """Where a node differs from its release: what the rules that compare it with the lock found, a sentence each."""
    return tuple(
        f"{finding['rule']}: {finding['observed']} instead of {finding['expected']}"
        for finding in judgement["findings"]
        if finding["verdict"] == model.FAIL and finding["rule"].endswith(COMPARING_RULES)
    )


def _other_release(expected: Expected, bundle: Mapping[str, Any]) -> tuple[str, ...]:
    seen = bundle.get("release")
    return () if seen == expected.release else (f"it reports release {short(seen)}",)


def _difference(expected: Expected, what: str) -> tuple[str, str]:
    if not expected.provisioned:
        return INCONCLUSIVE, f"not provisioned with {short(expected.release)} yet: {what}"
    if expected.differed:
        return FAIL_FAST, f"directly after provisioning it differed from its release: {expected.differed[0]}"
    return DRIFTED, f"it differs from its release and did not after provisioning: {what}"


def _failure(judgement: Mapping[str, Any]) -> tuple[str, str, tuple[str, ...]]:
    """The class of a failing judgement. A layer that another one blocks says nothing of its own."""
    layers = judgement["layers"]
    failing = [f for f in judgement["findings"] if f["verdict"] == model.FAIL and not layers.get(f["layer"], {}).get("blocked_by")]
    if not failing:
        return ERROR, "the judgement fails without a failing finding", ()
    result = worst([_class_of(finding) for finding in failing])
    deciding = [finding for finding in failing if _class_of(finding) == result]
    return result, f"{deciding[0]['rule']}: {deciding[0]['cause'] or deciding[0]['observed']}", tuple(f["rule"] for f in deciding)


def _class_of(finding: Mapping[str, Any]) -> str:
    if finding["layer"] == model.HARDWARE or "xid" in finding["rule"]:
        return HARDWARE_SUSPECT
    return FAIL_FAST if finding["layer"] in FAST_LAYERS or finding["rule"] in FAST_RULES else FAIL


def _unless_lowered(expected: Expected, answer: Answer, policy: Policy) -> tuple[str, str]:
    """A pass counts only from the boot, the container image and the rung that were asked for, and only if something was checked."""
    verdict, rung, boot_id = answer.judgement["verdict"], answer.judgement["rung"], answer.bundle.get("boot_id")
    if verdict != model.PASS:
        return INCONCLUSIVE, f"the verdict is {verdict}: {_unknowns(answer.judgement)}"
    if not any(finding["verdict"] == model.PASS for finding in answer.judgement["findings"]):
        return INCONCLUSIVE, "zero checks: nothing was looked at"
    if not boot_id or boot_id != (expected.boot_id or boot_id):
        return INCONCLUSIVE, "identity: the node has booted since the controller last saw it"
    if reason := _other_container_image(expected, answer.bundle):
        return INCONCLUSIVE, reason
    if model.RUNGS.index(rung) < model.RUNGS.index(policy.minimum_rung):
        return INCONCLUSIVE, f"rung {rung} is below the pool's minimum, {policy.minimum_rung}"
    return PASS, "passed"


def _unknowns(judgement: Mapping[str, Any]) -> str:
    rules = [finding["rule"] for finding in judgement["findings"] if finding["verdict"] == model.UNKNOWN]
    return ", ".join(rules[:3]) or "nothing was looked at"


def _other_container_image(expected: Expected, bundle: Mapping[str, Any]) -> str:
    used = sorted({str(run["image"]) for run in bundle.get("runs") or [] if run.get("image")})
    wrong = [image for image in used if not image.endswith(expected.container_images)]
    return f"identity: a run used the container image {wrong[0]}, which is not the release's" if wrong else ""


def _against_baseline(canary: NodeResult, nodes: Sequence[NodeResult]) -> NodeResult:
    same = [n for n in nodes if n.arm == BASELINE and n.result in BLAMING and set(n.rules) & set(canary.rules)]
    if canary.arm != CANARY or canary.result not in BLAMING or not same:
        return canary
    return replace(canary, result=INCONCLUSIVE, reason=f"baseline {same[0].node} failed the same way: {canary.reason}")


def _twice_suspect(canary: NodeResult, nodes: Sequence[NodeResult], earlier: Mapping[str, Sequence[str]]) -> NodeResult:
    if canary.arm != CANARY or canary.result != HARDWARE_SUSPECT:
        return canary
    now = {node.node: node.rules for node in nodes if node.arm == CANARY and node.result == HARDWARE_SUSPECT}
    same = sorted(node for node, rules in {**earlier, **now}.items() if node != canary.node and set(rules) & set(canary.rules))
    return replace(canary, result=FAIL_FAST, reason=f"the same as on {same[0]}: {canary.reason}") if same else canary
