# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""MIG under Kubernetes: strategy, resource names, and the rights of the device plugin."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.model import ORCHESTRATOR
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.kubernetes import mig_profiles
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.orchestrator.evidence import KUBERNETES, PLUGIN, quiet, said_by
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown

MIXED_PROFILES = (
    r"more than one mig device type present|migEnabled=true was not configured correctly"
    r"|(?:all|some) (?:mig )?devices[^\n]*(?:same|different) (?:mig )?(?:type|profile|size)"
)
NO_INSTANCES = r"no mig devices associated with|mig[- ]?enabled[^\n]*no (?:mig )?devices|invalid MIG configuration[^\n]*no"
MEMORY_REFUSED = (
    r"(?:error getting (?:device memory|mig)[^\n]*|unable to add default resources[^\n]*|(?:visiting|getting)[^\n]*mig[^\n]*|error creating nvml\.Device[^\n]*)"
    r"insufficient permissions"
)
MONITOR = (
    "Add env NVIDIA_MIG_MONITOR_DEVICES=all to the device plugin (and to gpu-feature-discovery and dcgm-exporter), as NVIDIA's own manifests and "
    "Helm chart do, with SYS_ADMIN."
)
REPARTITION = (
    "Repartition every GPU with one profile (nvidia-smi mig -dci; nvidia-smi mig -dgi; nvidia-smi mig -cgi <profile> -C; mig-manager: label "
    "nvidia.com/mig.config=all-<profile>), "
    "or set MIG_STRATEGY=mixed and let pods ask for nvidia.com/mig-<profile>; then restart the device plugin."
)


@rule(
    "orchestrator.mig_strategy",
    layer=ORCHESTRATOR,
    probes=("device_plugin_log", "device_plugin_env", "nvidia_smi_list"),
    symptom="The device plugin panics: 'At least one device with migEnabled=true was not configured correctly: More than one MIG device type present on node'.",
    cause="MIG strategy single wants identical MIG profiles on all GPUs of the node, and the GPUs are partitioned into mixed sizes.",
    fix=REPARTITION,
    verify="The device plugin runs, and allocatable shows nvidia.com/gpu (single) or nvidia.com/mig-<profile> (mixed).",
    source="NVIDIA/gpu-operator #460; NVIDIA/k8s-device-plugin #253, #397; NVIDIA, MIG Support in Kubernetes",
)
def mig_strategy(facts: Facts, wanted: Wanted) -> Outcome:
    """The MIG layout fits the device plugin's strategy"""
    empty = said_by(facts, NO_INSTANCES, PLUGIN)
    if empty:
        return failed(
            "a MIG device on every GPU in MIG mode",
            empty,
            cause=f"MIG mode is enabled on a GPU that has no MIG device, which the device plugin's strategy refuses: {empty}",
            remedy=CREATE,
        )
    layout = _layout(facts)
    said = said_by(facts, MIXED_PROFILES, PLUGIN)
    if said or (facts.mig_strategy == "single" and len(set(layout)) > 1):
        return failed(
            "one profile on all GPUs", "; ".join(filter(None, [said, f"MIG devices {', '.join(sorted(set(layout)))}" if layout else ""])), cause=_mixed(layout)
        )
    if facts.mig_strategy is None:
        return quiet(facts, "MIG", ("device_plugin_log",))
    return passed(f"strategy {facts.mig_strategy}")


CREATE = (
    "Create MIG devices on it (nvidia-smi mig -cgi <profile> -C, mig-manager or mig-parted), or turn MIG mode off (nvidia-smi -i <gpu> -mig 0, "
    "reset or reboot); restart the plugin."
)


def _layout(facts: Facts) -> tuple[str, ...]:
    """Every MIG device's profile, as far as the evidence says."""
    listed = tuple(profile for gpu in facts.mig_profiles or () for profile in gpu)
    return listed or mig_profiles(str(facts.bundle.stated.get("mig_layout") or ""))


def _mixed(layout: tuple[str, ...]) -> str:
    seen = f" ({', '.join(sorted(set(layout)))})" if len(set(layout)) > 1 else ""
    return (
        f"MIG strategy single wants identical MIG profiles on all GPUs of the node, and the GPUs are partitioned into mixed sizes{seen}: the device "
        "plugin refuses to start."
    )


@rule(
    "orchestrator.mig_monitor",
    layer=ORCHESTRATOR,
    probes=("device_plugin_log", "device_plugin_env"),
    symptom="The device plugin stops on a node with MIG: 'error getting device memory info: Insufficient Permissions'.",
    cause="The device plugin's container has no access to the MIG monitor capability: NVIDIA_MIG_MONITOR_DEVICES=all is not set, so NVML may not read the "
    "GPU behind the MIG devices.",
    fix=MONITOR,
    verify="The device plugin's log shows the MIG devices.",
    source="NVIDIA/k8s-device-plugin #399, #229; NVIDIA Container Toolkit, MIG capabilities",
)
def mig_monitor(facts: Facts, wanted: Wanted) -> Outcome:
    """The device plugin may monitor MIG devices"""
    said = said_by(facts, MEMORY_REFUSED, PLUGIN)
    if said is None:
        return quiet(facts, "refused MIG devices", ("device_plugin_log",))
    value = (facts.device_plugin_settings or {}).get("NVIDIA_MIG_MONITOR_DEVICES")
    if value == "all":
        return unknown(
            f"{said}, with NVIDIA_MIG_MONITOR_DEVICES=all", decided_by="whether the plugin's container is privileged or has SYS_ADMIN: kubectl get pod -o yaml"
        )
    return failed("NVIDIA_MIG_MONITOR_DEVICES=all", said + ("" if value is None else "; it is not set"))


@rule(
    "orchestrator.mig_resources_are_current",
    layer=ORCHESTRATOR,
    probes=("node_allocatable", "nvidia_smi_list"),
    symptom="A pod that asks for nvidia.com/gpu is placed on a node whose GPUs are all in MIG mode, and gets no GPU.",
    cause="The node still offers nvidia.com/gpu from before MIG was enabled, beside the MIG resources: the kubelet keeps a resource that no plugin renews.",
    fix="Restart the device plugin on the node, and the kubelet if nvidia.com/gpu stays above 0 (or patch it away: kubectl proxy, PATCH "
    "node status); cordon the node while "
    "the MIG layout or strategy changes; ask for nvidia.com/mig-<profile> under strategy mixed.",
    verify="kubectl describe node: nvidia.com/gpu is 0 or gone under Capacity and Allocatable.",
    source="NVIDIA/gpu-operator #637",
)
def mig_resources_are_current(facts: Facts, wanted: Wanted) -> Outcome:
    """A node whose GPUs are all in MIG mode offers no whole GPU under strategy mixed"""
    offered = {name: count for name, count in (facts.allocatable or {}).items() if count}
    whole, slices = offered.get("nvidia.com/gpu", 0), [name for name in offered if "/mig-" in name]
    if not slices:
        return not_applicable("no MIG resources, or not known")
    if not whole:
        return passed(", ".join(sorted(slices)))
    if not facts.all_in_mig:
        return unknown(
            "nvidia.com/gpu beside MIG resources is right only where a GPU is not in MIG mode", decided_by="nvidia-smi -L: whether each GPU has MIG devices"
        )
    words = f"nvidia.com/gpu: {whole} beside {', '.join(sorted(slices))}"
    return failed(
        "MIG resources alone", words, cause=f"All GPUs are in MIG mode, and the node still offers whole GPUs ({words}): a stale resource of the device plugin."
    )


@rule(
    "orchestrator.mig_resource_name",
    layer=ORCHESTRATOR,
    probes=("pod_manifest", "node_allocatable", "device_plugin_env", "pod_events"),
    symptom="A pod stays Pending: Insufficient nvidia.com/gpu or nvidia.com/mig-<profile>, though the node has free MIG devices.",
    cause="The pod asks by a resource name that the node does not offer: the strategies name their resources differently (single: nvidia.com/gpu, mixed: "
    "nvidia.com/mig-<profile>).",
    fix="Ask for a name that allocatable shows: nvidia.com/mig-<profile>: 1 under strategy mixed, nvidia.com/gpu: 1 under single or none; or repartition "
    "the GPU with the profile asked for.",
    verify="kubectl describe node: the name in the pod's limits stands under Allocatable.",
    source="NVIDIA, MIG Support in Kubernetes; NVIDIA/gpu-operator #637",
)
def mig_resource_name(facts: Facts, wanted: Wanted) -> Outcome:
    """The pod asks by names that the node offers"""
    asked = set(facts.pod.gpus) if facts.pod else set()
    if not asked or facts.allocatable is None:
        return _by_strategy(facts, asked)
    offered = {name for name, count in facts.allocatable.items() if count}
    if not offered or asked <= offered:
        return passed(", ".join(sorted(asked)))
    words = f"The pod asks for {', '.join(sorted(asked - offered))}, and the node offers {', '.join(sorted(offered))}"
    return failed("a resource that the node offers", words, cause=f"{words}{_named_by(facts)}.")


def _by_strategy(facts: Facts, asked: set[str]) -> Outcome:
    """Without the node's list the strategy tells which names there are."""
    wrong = {name for name in asked if ("mig-" in name) != (facts.mig_strategy == "mixed")} if asked and facts.mig_strategy else set()
    pending = said_by(facts, r"insufficient nvidia\.com/", KUBERNETES)
    if wrong and pending:
        words = f"The pod asks for {', '.join(sorted(wrong))}, a name that is not there{_named_by(facts)}"
        return failed("a name of the strategy in use", pending, cause=f"{words}.", confidence="medium")
    return not_applicable("what the pod asks for and what the node offers are not both known")


def _named_by(facts: Facts) -> str:
    return (
        f" under MIG strategy {facts.mig_strategy}"
        if facts.mig_strategy
        else " (the MIG strategy decides: single nvidia.com/gpu, mixed nvidia.com/mig-<profile>)"
    )
