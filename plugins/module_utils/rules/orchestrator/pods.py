# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Pods: do they ask for a GPU, by the right runtime, and can they be scheduled."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.model import ORCHESTRATOR
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.orchestrator.evidence import NO_ORCHESTRATOR, quiet, said_by
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown

# Images of the GPU's own infrastructure, which ask for no GPU on purpose.
INFRASTRUCTURE = re.compile(r"device-plugin|gpu-operator|dcgm|gpu-feature-discovery|container-toolkit|mig-manager|nvidia-driver|/driver(?::|@)", re.I)
NO_GPU = (
    r"no cuda-capable device|no cuda gpus are available|could not (?:select|find) (?:a )?(?:cuda|gpu|device)|nvidia-smi[^\n]*(?:not found|no such file)"
    r"|cuda (?:is )?not available"
    r"|found no nvidia driver|libcuda\.so\.1[^\n]*cannot open|libnvidia-ml\.so\.1[^\n]*(?:cannot open|not found)|is_available\(\)?[^\n]*false|cpu only|no gpu"
)
SEES_GPUS = re.compile(r"\b(?:lists?|sees?|shows?|gets?|has)\b[^\n]{0,40}\b(?:all|every|\d+)\b[^\n]{0,20}gpu", re.I)
REQUEST = "Request nvidia.com/gpu in the container's limits (resources: limits: nvidia.com/gpu: 1)"
NOT_BY_ENVIRONMENT = (
    f"{REQUEST}; and keep pods without a request from all GPUs: set NVIDIA_VISIBLE_DEVICES=void for them, make runc the default runtime with "
    "runtimeClassName: nvidia where it is "
    "needed, or use DEVICE_LIST_STRATEGY=volume-mounts with accept-nvidia-visible-devices-envvar-when-unprivileged = false in config.toml."
)


@rule(
    "orchestrator.pod_requests_gpu",
    layer=ORCHESTRATOR,
    probes=("pod_manifest", "docker_info", "containerd_config"),
    symptom="A pod without limits sees every GPU of the node, or a pod that needs a GPU sees none.",
    cause="The pod has no nvidia.com/gpu in its limits, so Kubernetes neither reserves a GPU for it nor keeps it from the others' GPUs.",
    fix=NOT_BY_ENVIRONMENT,
    verify="nvidia-smi -L in the pod lists as many GPUs as it asks for.",
    source="NVIDIA/k8s-device-plugin #87; NVIDIA, Preventing unprivileged access to GPUs in Kubernetes",
)
def pod_requests_gpu(facts: Facts, wanted: Wanted) -> Outcome:
    """A pod that uses a GPU asks for it"""
    pod = facts.pod
    if pod is None or any(INFRASTRUCTURE.search(image) for image in pod.images):
        return not_applicable("no pod's manifest in the evidence" if pod is None else "the pod is a part of the GPU's infrastructure")
    if pod.gpus or pod.claims:
        return passed(", ".join(f"{name}: {count}" for name, count in pod.gpus.items()) or "resource claims")
    if not facts.bundle.text("pod_manifest") or not pod.images:
        return unknown("the manifest has no container")
    if _sees_gpus(facts):
        return failed("nvidia.com/gpu in the limits", "no request, and the pod sees the node's GPUs", cause=_seen_because(facts), remedy=NOT_BY_ENVIRONMENT)
    without = said_by(facts, NO_GPU)
    if without:
        return failed(
            "nvidia.com/gpu in the limits",
            without,
            cause=f"The pod does not request nvidia.com/gpu in its limits, so it gets no GPU: {without}",
            remedy=f"{REQUEST}.",
        )
    return unknown("the pod requests no GPU, and whether it needs one is not known")


def _sees_gpus(facts: Facts) -> bool:
    """Whether a container that asked for nothing has GPUs: its own list, a note about it, or the runtime and the environment that give it all."""
    runs = [run for run in facts.runs if run.get("engine") in (None, "kubernetes")]
    listed = any(SEES_GPUS.search(str(run.get("note") or "")) or re.search(r"^GPU \d+: ", str(run.get("stdout") or ""), re.M) for run in runs)
    counted = str(facts.bundle.stated.get("container_nvidia_smi_list_count") or facts.bundle.stated.get("container_visible_gpus") or "0")
    return listed or counted.strip() not in ("0", "none", "None") or (facts.default_runtime == "nvidia" and _all_by_environment(facts))


def _all_by_environment(facts: Facts) -> bool:
    texts = [str(facts.bundle.stated.get("image_env") or ""), facts.bundle.text("pod_manifest") or ""]
    return bool(re.search(r"NVIDIA_VISIBLE_DEVICES[\"']?\s*(?:[=:]|\n\s*[\"']?value[\"']?:)\s*[\"']?all", "\n".join(texts)))


def _seen_because(facts: Facts) -> str:
    runtime = "nvidia is the default runtime" if facts.default_runtime == "nvidia" else "the pod's containers run under the NVIDIA runtime"
    environment = (
        "the container image or the pod sets NVIDIA_VISIBLE_DEVICES=all"
        if _all_by_environment(facts)
        else "NVIDIA_VISIBLE_DEVICES of the container image decides"
    )
    return f"The pod has no nvidia.com/gpu in its limits; {runtime} and {environment}, so it sees all GPUs of the node, past Kubernetes: no isolation."


@rule(
    "orchestrator.runtime_class",
    layer=ORCHESTRATOR,
    probes=("pod_events", "pod_manifest", "containerd_config", "docker_info"),
    symptom='A pod is refused: RuntimeClass "nvidia" not found; or it gets nvidia.com/gpu and has neither libraries nor nvidia-smi.',
    cause="The RuntimeClass nvidia does not exist in the cluster, or the pod does not name it where runc is the default runtime.",
    fix="Create it (apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: nvidia}, handler: nvidia; the GPU operator does by itself) and set "
    "runtimeClassName: nvidia in the pod, "
    "or make nvidia the default runtime, or enable CDI in the device plugin.",
    verify="kubectl get runtimeclass nvidia; nvidia-smi works in the pod.",
    source="k3s-io/k3s #4070, #8248; NVIDIA/k8s-device-plugin #406, #346; Kubernetes, RuntimeClass",
)
def runtime_class(facts: Facts, wanted: Wanted) -> Outcome:
    """The pod runs under the runtime that injects GPUs"""
    said = said_by(facts, r"runtimeclass[^\n]{0,60}not found|could not find runtimeclass[^\n]*")
    if said:
        return failed("RuntimeClass nvidia", said, cause=f"The RuntimeClass that the pod names does not exist in the cluster: {said}")
    pod, without = facts.pod, said_by(facts, NO_GPU)
    if pod is None or not pod.gpus:
        return quiet(facts, "a RuntimeClass")
    if not without or pod.runtime_class or facts.default_runtime == "nvidia":
        return passed(pod.runtime_class or "no runtimeClassName")
    if facts.default_runtime is None and not re.search(r"cannot open|not found|no such file", without):
        return unknown(f"{without}; which runtime is the engine's default is not known")
    return failed(
        "runtimeClassName: nvidia",
        f"{without}; no runtimeClassName, default runtime {facts.default_runtime or 'not known'}",
        cause=NOT_NAMED,
        confidence="medium",
    )


NOT_NAMED = (
    "The pod asks for nvidia.com/gpu and names no runtimeClassName, while the engine's default runtime is runc: nothing injects the driver's libraries, so "
    "the container has a GPU on "
    "paper only."
)


@rule(
    "orchestrator.pod_schedulable",
    layer=ORCHESTRATOR,
    probes=("pod_events", "node_allocatable", "pod_manifest"),
    symptom="A pod stays Pending: 0/3 nodes are available: 1 node(s) had untolerated taint {nvidia.com/gpu: present}, 2 Insufficient nvidia.com/gpu.",
    cause="The scheduler finds no node for the pod's GPU.",
    fix="kubectl describe pod lists each node's reason; kubectl describe node shows Allocatable and Allocated resources of nvidia.com/gpu.",
    verify="The pod is Scheduled.",
    source="Kubernetes, Taints and tolerations; NVIDIA/k8s-device-plugin #585",
)
def pod_schedulable(facts: Facts, wanted: Wanted) -> Outcome:
    """The scheduler finds a node for the pod"""
    said = said_by(facts, r"(?:nodes are available|FailedScheduling)[^\n]*")
    if said is None:
        return quiet(facts, "scheduling", ("pod_events",))
    if said_by(facts, r"Successfully assigned \S+ to ", ("pod_events",)):
        return passed("the pod waited, and was assigned to a node")
    reasons = [words for pattern, words in UNSCHEDULABLE if re.search(pattern, OTHER_TAINTS.sub("", said), re.I)]
    if not reasons:
        return unknown(said)
    cause, remedy = reasons[0]
    return failed("a node for the pod", said, cause=f"{cause}: {said}", remedy=remedy)


# Taints of nodes that are no GPU nodes, or that are down: tolerating them is no remedy.
OTHER_TAINTS = re.compile(r"\d+ node\(s\) had (?:untolerated )?taints? \{node(?:-role)?\.kubernetes\.io/[^}]*\}(?:, that the pod didn't tolerate)?")
UNSCHEDULABLE = (
    (
        r"taint[^\n]*nvidia\.com|untolerated taint|taints? that the pod didn't tolerate",
        (
            "The GPU node has a taint that the pod does not tolerate",
            "Give the pod the toleration (tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]), or take the taint from the node.",
        ),
    ),
    (
        r"didn't match Pod's node (?:affinity|selector)|didn't match node selector",
        (
            "No node has the label that the pod's nodeSelector or affinity names; the labels nvidia.com/gpu.* come from GPU feature discovery and node "
            "feature discovery (GFD, NFD)",
            "kubectl get nodes --show-labels | grep nvidia.com; start gpu-feature-discovery and node-feature-discovery on the node, or correct the selector.",
        ),
    ),
    (
        r"insufficient nvidia\.com/",
        (
            "No node has enough free GPUs of that resource name: either none is registered (allocatable 0: the device plugin does not run there), or others "
            "hold them, "
            "or the pod asks for more than one node has",
            "kubectl describe node: with allocatable 0 look at the device plugin's log; else free a GPU or ask for fewer; under MIG strategy mixed ask for "
            "nvidia.com/mig-<profile>.",
        ),
    ),
)


@rule(
    "orchestrator.limits_without_requests",
    layer=ORCHESTRATOR,
    probes=("pod_events", "pod_manifest"),
    symptom="The API server refuses a pod: Limit must be set for non overcommitable resources, or must be equal to requests.",
    cause="An extended resource cannot be overcommitted: nvidia.com/gpu must stand in the limits, and requests, if given, must be equal.",
    fix="Write nvidia.com/gpu under limits only (requests are taken from there), or the same number under both.",
    verify="kubectl apply accepts the manifest.",
    source="Kubernetes, Schedule GPUs",
)
def limits_without_requests(facts: Facts, wanted: Wanted) -> Outcome:
    """GPUs stand in the limits"""
    said = said_by(
        facts,
        r"limit must be set for non overcommit|must be equal to nvidia\.com/\S+ (?:limit|request)|must be less than or equal to nvidia\.com/\S+ limit"
        r"|fractional[^\n]*nvidia\.com|(?:resources|nvidia\.com)[^\n]{0,120}must be an integer",
    )
    if said:
        return failed("equal limits and requests", said)
    return passed("the manifest was accepted") if facts.bundle.text("pod_events") else not_applicable(NO_ORCHESTRATOR)
