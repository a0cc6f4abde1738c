# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Engine: containerd and CRI-O under Kubernetes, and the handler nvidia that a RuntimeClass names."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.engine_releases import CONTAINERD_CONFIG, CONTAINERD_FILES
from ansible_collections.goldnode.gpu.plugins.module_utils.model import ENGINE
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.versions import at_least
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.quotes import quote
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown

# containerd, CRI-O, dockershim.
NO_HANDLER = (
    r"no runtime for \\?\"(?P<what>nvidia[\w-]*)\\?\" is configured|failed to find runtime handler (?P<crio>nvidia[\w-]*) from runtime list"
    r"|RuntimeHandler \\?\"(?P<shim>nvidia[\w-]*)\\?\" not supported|runtime handler \\?\"?(?P<other>nvidia[\w-]*)\\?\"? (?:is )?not "
    r"(?:found|supported|configured)"
)
# containerd's and kubelet's words about a configuration that containerd does not take.
CONFIG = (
    r"expected containerd config version[^\n]*|unsupported (?:containerd )?config version[^\n]*|invalid plugin config[^\n]*|containerd[^\n]*failed "
    r"to load TOML[^\n]*"
    r"|no corresponding runtime configured in `?containerd\.runtimes`?[^\n]*|invalid plugin key URI[^\n]*"
)
NO_CRI = r"unknown service runtime\.v1(?:alpha2)?\.RuntimeService"
# k8s-device-plugin, without and with its advice.
NO_NVML = (
    r"could not load NVML library[^\n]*|Incompatible (?:platform|strategy) detected|did you configure the NVIDIA Container Toolkit|Detected non-NVML platform"
)
CGROUP_DRIVER = r"expected cgroupsPath to be of format \\?\"slice:prefix:name\\?\"[^\n]*"
HOOK_FAILS = (
    r"nvidia-container-cli(?:\.real)?: [^\n]*|/usr/local/nvidia/toolkit/nvidia-container-runtime[^\n]*no such file[^\n]*"
    r"|(?<![\w/.-])[\w/.-]*nvidia-container-runtime\\?\"?: [^\n]*not found[^\n]*"
)
REMOVED = r"not installed|uninstalled|removed|absent|none"
CONFIGURE = "nvidia-ctk runtime configure --runtime=containerd (--config=FILE for another file), then: systemctl restart containerd"


def config_file(facts: Facts) -> str:
    """Which file the distribution's containerd reads, where it is not the usual one."""
    distribution = f"{facts.bundle.stated.get('k8s_distribution', '')} {facts.bundle.text('containerd_config') or ''}".lower()
    return next((f" On {name} that is {file}." for name, file in CONTAINERD_FILES.items() if name in distribution), "")


def in_kubernetes(facts: Facts) -> bool:
    """Whether the node serves a kubelet: containerd's file is there under Docker too, with its CRI plugin off."""
    looked = any(facts.bundle.looked(name) for name in ("pod_events", "device_plugin_log", "kubelet_log", "node_allocatable"))
    return looked or "k8s_distribution" in facts.bundle.stated or any(run.get("engine") == "kubernetes" for run in facts.runs)


@rule(
    "engine.cri_config_taken",
    layer=ENGINE,
    probes=("containerd_config", "containerd_version", "kubelet_log"),
    symptom=(
        "kubelet: 'unknown service runtime.v1.RuntimeService'; containerd: 'expected containerd config version', 'invalid plugin config'; or the "
        "nvidia section has no effect."
    ),
    cause=(
        "containerd does not take its CRI configuration: its version and the plugin's name in it do not go together, it is broken, or the CRI "
        "plugin is disabled."
    ),
    fix=(
        'Begin from containerd config default > /etc/containerd/config.toml (version = 2 with "io.containerd.grpc.v1.cri" on 1.x, version = 3 '
        'with "io.containerd.cri.v1.runtime" '
        "on 2.x), take cri out of disabled_plugins, then " + CONFIGURE
    ),
    verify="containerd config dump | grep -A5 runtimes.nvidia, and journalctl -u containerd names no plugin that failed.",
    source="NVIDIA/nvidia-container-toolkit #410; NVIDIA/k8s-device-plugin pull 1145; containerd RELEASES.md, docs/cri/config.md",
)
def cri_config_taken(facts: Facts, wanted: Wanted) -> Outcome:
    """containerd takes the CRI configuration that it has"""
    config, said = facts.containerd_config, facts.engine_said(CONFIG) or facts.engine_said(NO_CRI)
    fault = _config_fault(facts)
    if said or (fault and (in_kubernetes(facts) or _configured_for_containerd(facts))):
        heard = quote(said) if said else ""
        cause = f"containerd does not take its CRI configuration: {'; '.join(filter(None, (fault, heard)))}."
        return failed("a CRI configuration of containerd's version", fault or heard, cause=cause)
    if not in_kubernetes(facts):
        return not_applicable("nothing here speaks of Kubernetes")
    if config is None:
        return unknown()
    return passed(f"version {config.version}")


def _configured_for_containerd(facts: Facts) -> bool:
    """Whether somebody gave containerd's CRI plugin the NVIDIA runtime, which nobody does for Docker."""
    commands = facts.bundle.text("recent_commands") or facts.stated("recent_commands")
    return bool(re.search(r"nvidia-ctk runtime configure[^\n]{0,200}--runtime[= ]containerd", commands))


def _config_fault(facts: Facts) -> str | None:
    """What in the file cannot work on this containerd."""
    config, version = facts.containerd_config, facts.bundle.text("containerd_version")
    if config is None:
        return None
    if "cri" in config.disabled or "io.containerd.grpc.v1.cri" in config.disabled:
        return 'disabled_plugins = ["cri"] switches the CRI plugin off, as the package containerd.io ships it'
    newest = next((config_version for since, config_version in CONTAINERD_CONFIG if at_least(version, since)), None) if version else None
    if newest and config.version and config.version > newest:
        return f"version = {config.version} is newer than the {newest} that this containerd reads"
    if config.version == 2 and config.plugin_versions == {3}:
        return 'version = 2 with the plugin name "io.containerd.cri.v1.runtime" of version 3'
    if config.version and config.version >= 3 and config.plugin_versions == {2}:
        return f'version = {config.version} with the plugin name "io.containerd.grpc.v1.cri" of version 2'
    return None


@rule(
    "engine.cri_has_nvidia_handler",
    layer=ENGINE,
    probes=("pod_events", "containerd_config", "kubelet_log"),
    symptom="Pods stay in ContainerCreating: 'failed to get sandbox runtime: no runtime for \"nvidia\" is configured'.",
    cause="A RuntimeClass names the handler nvidia, and the containerd (or CRI-O) that the kubelet uses has none in its configuration.",
    fix=CONFIGURE,
    verify="crictl info | grep -A3 nvidia, or containerd config dump | grep nvidia, names the runtime; the pod starts.",
    source="NVIDIA/k8s-device-plugin #479; NVIDIA/gpu-operator #473; k3s-io/k3s #4391; NVIDIA/nvidia-container-toolkit #982",
)
def cri_has_nvidia_handler(facts: Facts, wanted: Wanted) -> Outcome:
    """The kubelet's engine has the runtime handler nvidia"""
    said, config = facts.engine_said(NO_HANDLER), facts.containerd_config
    if not said and not in_kubernetes(facts):
        return not_applicable("nothing here speaks of Kubernetes")
    if said:
        handler = next(filter(None, said[1].groups()), "nvidia")
        engine = "CRI-O" if said[1]["crio"] else "containerd"
        has_it = bool(config and handler in config.runtimes)
        seen = "the file that was seen has it, so that it was not restarted since or reads another file" if has_it else "none is configured"
        cause = (
            f"The {engine} that the kubelet uses has no runtime handler {handler} in its CRI configuration, which the RuntimeClass names: {seen} "
            f"({quote(said)})."
        )
        remedy = CONFIGURE.replace("containerd", "crio") if said[1]["crio"] else CONFIGURE
        return failed(f"runtime handler {handler}", quote(said), cause=cause, remedy=f"{remedy}.{config_file(facts)}")
    return passed(", ".join(sorted(config.runtimes))) if config and "nvidia" in config.runtimes else unknown()


@rule(
    "engine.device_plugin_runtime",
    layer=ENGINE,
    probes=("device_plugin_log", "containerd_config"),
    symptom=(
        "The device plugin finds no NVML ('Incompatible platform detected', 'could not load NVML library: libnvidia-ml.so.1') on a node whose nvidia-smi works."
    ),
    cause="containerd has no runtime handler nvidia, so the device plugin's pod runs in runc, whatever RuntimeClass it names.",
    fix=(
        "nvidia-ctk runtime configure --runtime=containerd (--set-as-default where the plugin names no runtimeClassName: nvidia), then: "
        "systemctl restart containerd"
    ),
    verify="kubectl describe node shows nvidia.com/gpu under Allocatable.",
    source="NVIDIA/k8s-device-plugin README, prerequisites; containerd/containerd #3843; NVIDIA/nvidia-docker #1468",
)
def device_plugin_runtime(facts: Facts, wanted: Wanted) -> Outcome:
    """The device plugin gets the driver's libraries from its runtime"""
    if not facts.bundle.looked("device_plugin_log"):
        return not_applicable("no log of the device plugin")
    said = facts.said(NO_NVML, lambda source: source == "device_plugin_log")
    if not said:
        return passed("the device plugin finds NVML")
    config = facts.containerd_config
    if config is None or not config.runtimes or "nvidia" in config.runtimes:
        return unknown("the device plugin finds no NVML, and what was seen of the engine does not lack the runtime nvidia")
    cause = (
        "The device plugin does not get the driver's libraries, since it cannot run in NVIDIA's runtime: containerd's configuration has no runtime nvidia "
        f"({quote(said)})."
    )
    return failed("the runtime nvidia in containerd", f"runtimes {', '.join(sorted(config.runtimes))}", cause=cause, confidence="medium")


@rule(
    "engine.cri_default_runtime",
    layer=ENGINE,
    probes=("containerd_config", "docker_info", "pod_events"),
    symptom="Pods and containers that ask for no GPU fail in NVIDIA's hook or runtime, after the GPU operator or the toolkit was removed.",
    cause="default_runtime_name (Docker: default-runtime) is still nvidia, an orphan of what was uninstalled.",
    fix='Reset default_runtime_name to "runc" and remove the nvidia section (Docker: default-runtime in daemon.json), then restart containerd or docker.',
    verify="crictl info | grep defaultRuntimeName says runc; a pod without GPU starts.",
    source="NVIDIA/gpu-operator #188",
)
def cri_default_runtime(facts: Facts, wanted: Wanted) -> Outcome:
    """No removed toolkit is still the default runtime"""
    config, docker = facts.containerd_config, (facts.docker_info or {}).get("DefaultRuntime")
    default = (config.default_runtime if config else None) or docker or (facts.docker_config or {}).get("default-runtime")
    if default is None:
        return unknown() if in_kubernetes(facts) else not_applicable("no default runtime was seen")
    if "nvidia" not in default:
        return passed(f"default runtime {default}")
    said = facts.engine_said(HOOK_FAILS)
    gone = facts.toolkit_absent or re.search(REMOVED, str(facts.bundle.stated.get("helm_gpu_operator", "")))
    asked = any(run.get("request") not in (None, "none") for run in facts.runs)
    if said and gone and not asked:
        file = "containerd's default_runtime_name" if config and config.default_runtime else "Docker's default-runtime"
        cause = (
            f"{file} is still {default}, left behind when the GPU operator or the container toolkit was uninstalled, so that every container goes "
            f"through NVIDIA's orphaned runtime: {quote(said)}."
        )
        remedy = f'Reset default_runtime_name to "runc" (Docker: remove default-runtime), remove the nvidia runtime and restart the engine.{config_file(facts)}'
        return failed("default runtime runc", default, cause=cause, remedy=remedy)
    return passed(f"default runtime {default}")


@rule(
    "engine.cri_cgroup_driver",
    layer=ENGINE,
    probes=("containerd_config", "pod_events"),
    symptom="'expected cgroupsPath to be of format \"slice:prefix:name\" for systemd cgroups', or pods with runtime nvidia are killed and restarted.",
    cause="The runtime nvidia has another cgroup driver (SystemdCgroup) than runc and the kubelet.",
    fix=(
        "Set SystemdCgroup in [plugins…containerd.runtimes.nvidia.options] to runc's value (true with the kubelet's cgroupDriver: systemd), then "
        "systemctl restart containerd"
    ),
    verify="containerd config dump shows one value of SystemdCgroup; kubelet's cgroupDriver is the same.",
    source="Kubernetes, Container runtimes: cgroup drivers",
)
def cri_cgroup_driver(facts: Facts, wanted: Wanted) -> Outcome:
    """NVIDIA's runtime has the cgroup driver of runc"""
    said = facts.engine_said(CGROUP_DRIVER)
    runtimes = facts.containerd_config.runtimes if facts.containerd_config else {}
    runc, nvidia = (runtimes.get(name, {}).get("SystemdCgroup") for name in ("runc", "nvidia"))
    if said or (runc is not None and nvidia is not None and runc != nvidia):
        heard = quote(said) if said else f"SystemdCgroup is {nvidia} for nvidia and {runc} for runc"
        return failed(
            "one cgroup driver", heard, cause=f"The runtimes nvidia and runc do not have the same cgroup driver (SystemdCgroup) as the kubelet: {heard}."
        )
    return passed(f"SystemdCgroup {nvidia}") if nvidia is not None else not_applicable("no two runtimes to compare")
