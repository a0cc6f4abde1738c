# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The device plugin: does it run, see the driver, reach the kubelet, and keep its devices healthy."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.model import ORCHESTRATOR
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.orchestrator.evidence import NO_ORCHESTRATOR, PLUGIN, quiet, said_by
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown

NO_NVML = (
    r"could not load NVML|failed to (?:initialize|start|load) nvml|incompatible platform detected|detected non-nvml platform|no valid resources detected"
    r"|libnvidia-ml\.so\.1: cannot open|if this is a gpu node, did you (?:configure|set)"
    r"|nvml(?: init failed)?: (?:error_library_not_found|libnvidia-ml)"
)
UNHEALTHY = r"marked (?:as )?unhealthy|XidCriticalError|device will go unhealthy|marking device[^\n]*unhealthy|cannot allocate unhealthy devices"
NOT_REGISTERED = (
    r"could not (?:register|contact kubelet)|failed to register (?:device plugin|with kubelet)"
    r"|kubelet\.sock[^\n]*(?:connection refused|no such file|deadline exceeded)"
    r"|no healthy devices present|device-plugins[^\n]*permission denied"
)
REGISTERED = re.compile(r"Registered device plugin (?:for \S+ )?with Kubelet", re.I)


@rule(
    "orchestrator.device_plugin_sees_driver",
    layer=ORCHESTRATOR,
    probes=("device_plugin_log", "pod_log", "pod_manifest", "docker_info"),
    symptom="The device plugin says 'Incompatible platform detected' or 'Detected non-NVML platform: could not load NVML library', and the node has no "
    "nvidia.com/gpu.",
    cause="The device plugin's own container does not run under the NVIDIA runtime, so the driver's libraries (libnvidia-ml.so.1) are not in it: the default "
    "runtime is not nvidia, and "
    "the plugin's pod names no runtimeClassName.",
    fix="Set runtimeClassName: nvidia for the device plugin (helm --set runtimeClassName=nvidia; a RuntimeClass with handler nvidia must be there), or make "
    "nvidia the default runtime: "
    "nvidia-ctk runtime configure --runtime=containerd --set-as-default (k3s and rke2: --default-runtime=nvidia), restart containerd, and delete the "
    "plugin's pod.",
    verify="The plugin's log says 'Registered device plugin for nvidia.com/gpu with Kubelet'.",
    source="NVIDIA/k8s-device-plugin #479, #478, #406, #826, #1011, #23",
)
def device_plugin_sees_driver(facts: Facts, wanted: Wanted) -> Outcome:
    """The device plugin finds the driver's library"""
    said = said_by(facts, NO_NVML, ("device_plugin_log", "pod_log"))
    if said is None:
        return quiet(facts, "a missing NVML", ("device_plugin_log",))
    if facts.said(r"no runtime for \"?nvidia\"? is configured|RuntimeHandler \"?nvidia\"? not supported"):
        return unknown(f"{said}; the engine has no runtime nvidia, which comes first")
    runtime = f"; default runtime {facts.default_runtime}" if facts.default_runtime else ""
    return failed("NVML in the device plugin's container", said + runtime)


@rule(
    "orchestrator.gpus_allocatable",
    layer=ORCHESTRATOR,
    probes=("node_allocatable", "pod_events"),
    symptom="Pods that ask for nvidia.com/gpu stay Pending: 'Insufficient nvidia.com/gpu'.",
    cause="The node offers no nvidia.com/gpu: the device plugin does not run there, or has not registered its GPUs with the kubelet, or holds them all for "
    "unhealthy.",
    fix="kubectl -n <namespace> get pods -o wide shows whether the device plugin runs on the node (label, taint, nodeSelector), and kubectl logs of it says "
    "why it registers nothing; "
    "it needs runtimeClassName: nvidia or the nvidia default runtime. kubectl describe node shows Capacity and Allocatable.",
    verify="kubectl get node <node> -o jsonpath='{.status.allocatable}' shows nvidia.com/gpu.",
    source="NVIDIA/k8s-device-plugin README, #58, #75",
)
def gpus_allocatable(facts: Facts, wanted: Wanted) -> Outcome:
    """Kubernetes may allocate the node's GPUs"""
    if "node_allocatable" not in facts.bundle.probes:
        return not_applicable(NO_ORCHESTRATOR)
    offered, registered = facts.allocatable, facts.capacity
    if offered is None:
        return unknown()
    lost = {name: count - offered.get(name, 0) for name, count in (registered or {}).items() if count > offered.get(name, 0)}
    if lost:
        return failed("as many allocatable as there are", f"capacity {registered}, allocatable {offered}", cause=_held_back(lost))
    if not sum(offered.values()):
        return failed("nvidia.com/gpu above 0", " ".join((facts.bundle.text("node_allocatable") or "").split())[:200])
    return passed(f"{facts.allocatable_gpus} allocatable")


def _held_back(lost: dict[str, int]) -> str:
    words = ", ".join(f"{count} of {name}" for name, count in sorted(lost.items()))
    return f"The node's capacity is larger than what is allocatable: the device plugin holds {words} for unhealthy (an Xid), or no longer answers the kubelet."


@rule(
    "orchestrator.devices_healthy",
    layer=ORCHESTRATOR,
    probes=("device_plugin_log", "pod_events"),
    symptom="The node's allocatable nvidia.com/gpu falls, and the device plugin's log says XidCriticalError, 'device marked unhealthy'.",
    cause="The device plugin holds a GPU for unhealthy after a critical Xid, and does not take it back by itself.",
    fix="Look the Xid up and repair what it names (kernel log, nvidia-smi -q; drain and reset or reboot for the fatal ones), then restart the device "
    "plugin's pod, which takes the GPU back. "
    "An application's Xid can be left out by DP_DISABLE_HEALTHCHECKS=<xid>,… (xids, all).",
    verify="kubectl get node: allocatable is capacity again.",
    source="NVIDIA/k8s-device-plugin #189, #111; README, DP_DISABLE_HEALTHCHECKS",
)
def devices_healthy(facts: Facts, wanted: Wanted) -> Outcome:
    """The device plugin holds no GPU for unhealthy"""
    said = said_by(facts, UNHEALTHY, PLUGIN)
    if said is None or re.search(NOT_REGISTERED, said, re.I):
        return quiet(facts, "unhealthy devices", PLUGIN)
    xid = re.search(r"Xid\s*(?:=\s*)?(\d+)", said)
    number = f" {xid.group(1)}" if xid else ""
    return failed(
        "every GPU healthy", said, cause=f"The device plugin marked a GPU unhealthy after a critical Xid{number}, and does not take it back by itself: {said}"
    )


@rule(
    "orchestrator.device_plugin_registered",
    layer=ORCHESTRATOR,
    probes=("device_plugin_log", "kubelet_log", "pod_events"),
    symptom="After a restart of the kubelet or the node allocatable is 0, or pods end with UnexpectedAdmissionError: no healthy devices present.",
    cause="The device plugin is not registered with the kubelet: the kubelet deletes the plugins' sockets when it starts, and pods that it admits before "
    "the plugin has registered are refused.",
    fix="Restart the device plugin's pod (kubectl delete pod) and delete the pods that ended with UnexpectedAdmissionError; the plugin must mount the "
    "kubelet's real "
    "/var/lib/kubelet/device-plugins (k0s, microk8s and others have another root directory).",
    verify="ls /var/lib/kubelet/device-plugins shows nvidia-gpu.sock, and allocatable has nvidia.com/gpu.",
    source="kubernetes/kubernetes #125579, #133382, #118559; Kubernetes, Device plugins",
)
def device_plugin_registered(facts: Facts, wanted: Wanted) -> Outcome:
    """The device plugin is registered with the kubelet"""
    said = said_by(facts, NOT_REGISTERED)
    if said and REGISTERED.search(_after(facts.bundle.text("device_plugin_log") or "", said)):
        return passed("registered after a failed attempt")
    return failed("the plugin's socket, registered", said) if said else quiet(facts, "a failed registration")


def _after(log: str, line: str) -> str:
    """What a log says after the last time that it says this line; nothing where the line is not its own."""
    return log.rpartition(line)[2] if line in log else ""


@rule(
    "orchestrator.device_list_strategy",
    layer=ORCHESTRATOR,
    probes=("device_plugin_env", "toolkit_config"),
    symptom="A pod gets nvidia.com/gpu and still sees no GPU, or all of them; or the device plugin stops with 'invalid device list strategy'.",
    cause="The device plugin passes its devices in a way (deviceListStrategy) that the container toolkit is not told to accept.",
    fix="For volume-mounts set accept-nvidia-visible-devices-as-volume-mounts = true and accept-nvidia-visible-devices-envvar-when-unprivileged = false in "
    "/etc/nvidia-container-runtime/config.toml; for cdi-annotations or cdi-cri enable CDI in the engine; else DEVICE_LIST_STRATEGY=envvar; then restart the "
    "engine and the plugin.",
    verify="nvidia-smi -L in a pod with one nvidia.com/gpu lists one GPU.",
    source="NVIDIA, Read-only access to NVIDIA_VISIBLE_DEVICES; NVIDIA/k8s-device-plugin README",
)
def device_list_strategy(facts: Facts, wanted: Wanted) -> Outcome:
    """The device plugin and the toolkit agree how devices are passed"""
    said = said_by(facts, r"invalid (?:--)?device[- ]list[- ]strategy[^\n]*|unknown device list strategy", PLUGIN)
    if said:
        return failed("a strategy that this device plugin knows", said, cause=f"The device plugin does not know its deviceListStrategy: {said}")
    strategy = (facts.device_plugin_settings or {}).get("DEVICE_LIST_STRATEGY")
    if strategy is None:
        return not_applicable("the device plugin's DEVICE_LIST_STRATEGY is not known")
    config = facts.bundle.text("toolkit_config")
    if config is None or "volume-mounts" not in strategy:
        return passed(strategy) if "envvar" in strategy else unknown(f"{strategy}; whether the runtime accepts it was not looked at")
    accepts = re.search(r"^[ \t]*accept-nvidia-visible-devices-as-volume-mounts\s*=\s*true", config, re.M)
    return (
        passed(strategy)
        if accepts
        else failed("accept-nvidia-visible-devices-as-volume-mounts = true", f"DEVICE_LIST_STRATEGY={strategy}, and config.toml does not accept it")
    )


@rule(
    "orchestrator.shared_gpus",
    layer=ORCHESTRATOR,
    probes=("pod_events", "device_plugin_log", "pod_manifest"),
    symptom="A pod ends with UnexpectedAdmissionError: request for 'nvidia.com/gpu.shared: 2' too large: maximum request size for shared resources is 1.",
    cause="GPUs are shared (time-slicing or MPS), and a pod asks for more than one replica, which gives no more of a GPU; failRequestsGreaterThanOne "
    "refuses it.",
    fix="Ask for one: nvidia.com/gpu: 1 (with renameByDefault nvidia.com/gpu.shared: 1), or take sharing out of the device plugin's configuration for pods "
    "that need several GPUs.",
    verify="The pod is admitted.",
    source="NVIDIA/k8s-device-plugin README, Shared access to GPUs; #321",
)
def shared_gpus(facts: Facts, wanted: Wanted) -> Outcome:
    """No pod asks for several replicas of a shared GPU"""
    said = said_by(
        facts,
        r"maximum request size for shared resources is \d+|request for '[^']+' too large"
        r"|MPS[^\n]{0,80}(?:control daemon[^\n]*(?:not ready|failed)|unsupported)",
        PLUGIN,
    )
    if said is None:
        return quiet(facts, "shared GPUs", PLUGIN)
    if "MPS" in said:
        return failed("the MPS control daemon", said, cause=f"The device plugin shares by MPS, and its control daemon is not ready: {said}", remedy=MPS_FIX)
    return failed("a request for one replica", said)


MPS_FIX = (
    "Start the MPS control daemon (helm chart: the mps-control-daemon DaemonSet; node label nvidia.com/mps.capable=true), or share by "
    "time-slicing; MPS does not go with MIG."
)
