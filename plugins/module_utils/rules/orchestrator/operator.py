# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The GPU operator: driver, toolkit and validators, each waiting for the one before."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.model import ORCHESTRATOR
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.orchestrator.evidence import KUBERNETES, quiet, said_by, stated_words
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, passed, rule, unknown

# Where distributions keep the containerd that the kubelet uses: distribution -> (configuration, socket).
CONTAINERD_PLACES = {
    "k3s": ("/var/lib/rancher/k3s/agent/etc/containerd/config.toml", "/run/k3s/containerd/containerd.sock"),
    "rke2": ("/var/lib/rancher/rke2/agent/etc/containerd/config.toml", "/run/k3s/containerd/containerd.sock"),
    "microk8s": ("/var/snap/microk8s/current/args/containerd-template.toml", "/var/snap/microk8s/common/run/containerd.sock"),
    "k0s": ("/etc/k0s/containerd.d/nvidia.toml", "/run/k0s/containerd.sock"),
}
SOCKET_MISSING = r"error signaling containerd|unable to dial[^\n]*containerd\.sock|containerd\.sock[^\n]*(?:no such file|connection refused)"
DRIVER_IN_USE = (
    r"could not unload nvidia driver kernel modules, driver is in use|driver is (?:already )?pre-?installed on the node"
    r"|modprobe: fatal: module nvidia[^\n]*is in use"
    r"|nvidia driver[^\n]*already (?:installed|loaded)|unable to (?:unload|remove)[^\n]*nvidia"
)


@rule(
    "orchestrator.operator_driver",
    layer=ORCHESTRATOR,
    probes=("pod_log", "gpu_operator_values"),
    symptom="nvidia-driver-daemonset restarts: 'Could not unload NVIDIA driver kernel modules, driver is in use'; the other pods of the operator stay in Init.",
    cause="The node has a driver of its own, installed on the host, and the GPU operator tries to install its driver container over it.",
    fix="helm upgrade gpu-operator nvidia/gpu-operator --set driver.enabled=false (toolkit.enabled=false too where the host has the toolkit), or remove the "
    "host's driver and reboot; "
    "one node: label nvidia.com/gpu.deploy.driver=false.",
    verify="The operator's validator is Running, and no driver pod runs on the node.",
    source="NVIDIA/gpu-operator #126, #381, #327; GPU Operator, Pre-installed NVIDIA GPU drivers",
)
def operator_driver(facts: Facts, wanted: Wanted) -> Outcome:
    """The operator's driver container meets no other driver"""
    said = said_by(facts, DRIVER_IN_USE)
    if said is None:
        return quiet(facts, "a second driver", ("pod_log",))
    if re.search(r"will not proceed", said):
        return passed(cause=f"The operator's driver pod found a driver on the host and stays out on purpose: {said}")
    return failed("one driver", said)


@rule(
    "orchestrator.operator_toolkit",
    layer=ORCHESTRATOR,
    probes=("pod_log", "gpu_operator_values", "containerd_config"),
    symptom="On k3s, rke2 or microk8s the operator's toolkit pod says 'Error signaling containerd', or pods say 'no runtime for \"nvidia\" is configured'.",
    cause="The operator's toolkit wrote the configuration of another containerd than the one that the kubelet uses: the distribution keeps its own socket "
    "and config.toml elsewhere.",
    fix="Name the distribution's paths in the operator's values: toolkit.env CONTAINERD_CONFIG and CONTAINERD_SOCKET, RUNTIME_CONFIG_SOURCE; then delete "
    "the toolkit's pod.",
    verify="grep nvidia in the containerd configuration that the kubelet's containerd reads.",
    source="NVIDIA/gpu-operator #406, #522, #473, #176; GPU Operator, custom configuration for containerd",
)
def operator_toolkit(facts: Facts, wanted: Wanted) -> Outcome:
    """The operator's toolkit configures the containerd that the kubelet uses"""
    name = _distribution(facts)
    said = said_by(facts, SOCKET_MISSING)
    told = "\n".join(filter(None, [facts.bundle.text("gpu_operator_values"), str(facts.bundle.stated.get("toolkit_env_containerd_config") or "")]))
    if name is None:
        return failed("the kubelet's containerd socket", said, confidence="medium") if said else quiet(facts, "containerd's socket", ("pod_log",))
    config, socket = CONTAINERD_PLACES[name]
    missing = said_by(facts, r"no runtime for \"?nvidia\"? is configured")
    if said or (missing and told and config not in told):
        return failed(f"{config} and {socket}", said or f"{missing}; {told.strip()[:200]}", cause=_elsewhere(name), remedy=_place(name))
    return passed(f"{name}: {config}") if config in told else quiet(facts, "containerd's socket", ("pod_log",))


def _distribution(facts: Facts) -> str | None:
    words = "\n".join([stated_words(facts), facts.bundle.text("gpu_operator_values") or "", facts.bundle.text("kubelet_log") or ""]).lower()
    return next((name for name in CONTAINERD_PLACES if name in words), None)


def _elsewhere(name: str) -> str:
    config, socket = CONTAINERD_PLACES[name]
    return (
        f"The operator's toolkit configures another containerd than the one of {name}, which reads {config} and listens on {socket}: it has no nvidia runtime."
    )


def _place(name: str) -> str:
    config, socket = CONTAINERD_PLACES[name]
    return (
        f"Set toolkit.env in the operator's values: CONTAINERD_CONFIG={config}, CONTAINERD_SOCKET={socket}, CONTAINERD_RUNTIME_CLASS=nvidia; helm "
        f"upgrade, then restart {name}."
    )


@rule(
    "orchestrator.operator_validation",
    layer=ORCHESTRATOR,
    probes=("pod_log", "pod_events"),
    symptom="Pods of the GPU operator stay in Init:0/4; the validator's log says 'failed to validate the driver, retrying' or 'waiting for … to be ready'.",
    cause="A validation of the GPU operator does not pass, and everything after it waits for it: driver, then toolkit, then CUDA, then plugin.",
    fix="kubectl -n gpu-operator logs <validator pod> -c driver-validation (toolkit-validation, cuda-validation, plugin-validation): the first that fails "
    "names the layer; "
    "then nvidia-smi on the node, the driver pod's log, and the toolkit pod's log.",
    verify="/run/nvidia/validations has driver-ready, toolkit-ready, cuda-ready, plugin-ready.",
    source="NVIDIA/gpu-operator #143, #297, #398; GPU Operator troubleshooting",
)
def operator_validation(facts: Facts, wanted: Wanted) -> Outcome:
    """The GPU operator's validations pass"""
    said = said_by(
        facts,
        r"failed to validate the (\w+)|(\w+)[- ](?:validation|validator)[^\n]{0,60}(?:fail|error|crashloop)|waiting for nvidia [^\n]*(?:ready|setup)"
        r"|(\w+)-ready[^\n]*not found",
        KUBERNETES,
    )
    if said is None or said_by(facts, r"all validations are successful", ("pod_log",)):
        return quiet(facts, "validations", ("pod_log",))
    step = next((name for name in ("driver", "toolkit", "cuda", "plugin", "container stack") if name in said.lower()), None)
    if step is None:
        return unknown(said)
    return failed(
        "the validation passes", said, cause=f"The GPU operator's {step} validation does not pass, and everything after it waits: {said}", confidence="medium"
    )


@rule(
    "orchestrator.security_context",
    layer=ORCHESTRATOR,
    probes=("pod_events", "pod_log"),
    symptom="The pods of the driver, the toolkit or the device plugin are not created: forbidden: violates PodSecurity, or unable to validate against any "
    "security context constraint.",
    cause="The cluster's admission policy (PodSecurity, an OpenShift SCC, a PSP) refuses the privileged pods that the GPU's infrastructure needs.",
    fix="kubectl label namespace gpu-operator pod-security.kubernetes.io/enforce=privileged; on OpenShift: oc adm policy add-scc-to-user privileged -z "
    "<service account>. "
    "Workload pods need neither.",
    verify="The DaemonSet's pods are created.",
    source="Kubernetes, Pod Security Admission; NVIDIA/gpu-operator #381",
)
def security_context(facts: Facts, wanted: Wanted) -> Outcome:
    """The GPU's infrastructure pods are admitted"""
    said = said_by(facts, r"violates PodSecurity[^\n]*|unable to validate against any (?:security context constraint|pod security policy)[^\n]*")
    return failed("the pods are admitted", said) if said else quiet(facts, "admission", ("pod_events",))
