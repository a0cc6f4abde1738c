# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Container toolkit: releases with a known fault or a published vulnerability."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.toolkit_releases import (
    CUINIT_SUSPECTS,
    FAULTS,
    SWARM_BACK,
    SWARM_LOST,
    VULNERABILITIES,
    Fault,
)
from ansible_collections.goldnode.gpu.plugins.module_utils.model import CONTAINER_TOOLKIT
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.versions import at_least
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.container_toolkit.packages import NONE_HERE, without_toolkit
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.quotes import quote
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown

VERIFY = "nvidia-ctk --version prints a release without the fault, and the same container starts."
CUDA_UNKNOWN = r"CUDA_ERROR_UNKNOWN|cuInit[^\n]*\b999\b|CUDA unknown error|cudaErrorUnknown"


def between(version: str | None, since: tuple[int, ...], fixed: tuple[int, ...] | None) -> bool:
    """Whether a known version is `since` or newer and older than `fixed`."""
    return bool(at_least(version, since)) and (fixed is None or at_least(version, fixed) is False)


@rule(
    "container_toolkit.release_is_sound",
    layer=CONTAINER_TOOLKIT,
    probes=("nvidia_ctk_version",),
    symptom="GPU containers fail since an upgrade of the toolkit; nothing else was changed.",
    cause="This release of the container toolkit has a known fault.",
    fix="Move all the toolkit's packages together to a release without the fault, pin it and hold the packages.",
    verify=VERIFY,
    source="knowledge/toolkit_releases.py, each row with its report",
)
def release_is_sound(facts: Facts, wanted: Wanted) -> Outcome:
    """The toolkit's release shows none of its known faults"""
    if without_toolkit(facts, wanted):
        return not_applicable(NONE_HERE)
    shown = next(((fault, said) for fault in FAULTS if (said := _shows(facts, fault))), None)
    if shown:
        fault, said = shown
        cause = f"NVIDIA Container Toolkit {facts.toolkit_version or '(version not seen)'}: {fault.cause}"
        return failed("a release without this fault", said, cause=cause, remedy=fault.remedy)
    return unknown() if facts.toolkit_version is None else passed(facts.toolkit_version)


def _shows(facts: Facts, fault: Fault) -> str | None:
    """The words by which a fault shows, if the release has it."""
    version = facts.toolkit_version
    if not (between(version, fault.since, fault.fixed) or (version is None and fault.only_there)):
        return None
    said = facts.engine_said(fault.said)
    return quote(said) if said else None


@rule(
    "container_toolkit.swarm_resources",
    layer=CONTAINER_TOOLKIT,
    probes=("toolkit_config", "nvidia_ctk_version", "docker_info"),
    symptom="Swarm services see all GPUs or others than the generic resource that was assigned to them, since the toolkit was upgraded to 1.18.",
    cause="From 1.18.0 on mode auto means jit-cdi, which asks no swarm-resource variable before 1.19.0.",
    fix='Upgrade the toolkit\'s packages to 1.19.0 or later, or set nvidia-container-runtime.mode = "legacy" in /etc/nvidia-container-runtime/config.toml.',
    verify="A service with generic resource NVIDIA-GPU=<uuid> sees that GPU alone: nvidia-smi -L in its task.",
    source="NVIDIA/nvidia-container-toolkit #1599; release notes 1.18.0, 1.19.0",
)
def swarm_resources(facts: Facts, wanted: Wanted) -> Outcome:
    """The toolkit honours Swarm's generic resources"""
    resource = facts.toolkit_setting("", "swarm-resource") or facts.toolkit_setting("nvidia-container-runtime", "swarm-resource")
    if not (resource or any(run.get("engine") == "swarm" for run in facts.runs)):
        return not_applicable("no swarm-resource is set")
    if facts.toolkit_version is None:
        return unknown()
    mode = facts.toolkit_setting("nvidia-container-runtime", "mode") or "auto"
    if mode == "legacy" or not between(facts.toolkit_version, SWARM_LOST, SWARM_BACK):
        return passed(f"{facts.toolkit_version}, mode {mode}")
    in_swarm = re.search(r"Swarm:\s*active|\"LocalNodeState\":\s*\"active\"", facts.bundle.text("docker_info") or "")
    if resource and not in_swarm and not any(run.get("engine") == "swarm" for run in facts.runs):
        return not_applicable("this node is in no swarm, as far as was seen")
    return failed(
        "1.19.0 or later, or mode legacy",
        f"{facts.toolkit_version}, mode {mode}, swarm-resource {resource}",
        cause=(
            f"NVIDIA Container Toolkit {facts.toolkit_version} in mode {mode} uses jit-cdi, the default from 1.18 on, which ignores "
            f"swarm-resource ({resource or 'DOCKER_RESOURCE_GPU'}): Swarm's generic GPU resources have no effect."
        ),
    )


@rule(
    "container_toolkit.cuda_beside_nvml",
    layer=CONTAINER_TOOLKIT,
    probes=("nvidia_ctk_version", "nvidia_smi"),
    symptom="In containers nvidia-smi works and CUDA fails: cuInit 999 CUDA_ERROR_UNKNOWN; on the host both work.",
    cause="Since toolkit 1.19.1 containers can be left without usable /dev/nvidia-uvm, while NVML, which does not need it, works.",
    fix=(
        "Compare the major of nvidia-uvm in /proc/devices with the one in the CDI specification and generate that again (nvidia-ctk cdi "
        "generate); else downgrade all the "
        "toolkit's packages to 1.19.0, or pass --device /dev/nvidia-uvm --device /dev/nvidia-uvm-tools beside the request."
    ),
    verify="A CUDA program in a container (not nvidia-smi alone) computes.",
    source="NVIDIA/nvidia-container-toolkit #1967, #1934, #1246",
)
def cuda_beside_nvml(facts: Facts, wanted: Wanted) -> Outcome:
    """Containers get CUDA, not NVML alone"""
    said = facts.said(CUDA_UNKNOWN, lambda source: source.startswith("run "))
    if any(run.report and run.report.end.ok for run in facts.container_runs or ()):
        return passed("containers compute")
    if not said:
        return not_applicable("no container says that cuInit fails with 999")
    if facts.said(CUDA_UNKNOWN, lambda source: source in ("cuda_probe", "app_log")) or facts.toolkit_setting("nvidia-container-cli", "no-cgroups"):
        return not_applicable("the host fails too, or no-cgroups is set: see those layers")
    if not between(facts.toolkit_version, *CUINIT_SUSPECTS) or facts.bundle.rc("nvidia_smi") != 0:
        return unknown("the toolkit's release is none of those suspected, or the host was not seen to be well")
    return failed(
        "cuInit succeeds",
        quote(said),
        cause=(
            f"NVIDIA Container Toolkit {facts.toolkit_version}: nvidia-smi works on the host and cuInit fails in containers, as reported since "
            "1.19.1 (1.19.0 works): "
            "/dev/nvidia-uvm is not injected, or with a major that is not the host's."
        ),
        confidence="low",
        decided_by="ls -l /dev/nvidia-uvm on the host and in the container; grep nvidia-uvm /proc/devices; the same container with --device /dev/nvidia-uvm",
    )


@rule(
    "container_toolkit.security_floor",
    layer=CONTAINER_TOOLKIT,
    probes=("nvidia_ctk_version",),
    severity="warning",
    symptom="None: containers work. A container image of somebody else's can leave its container.",
    cause="The node has a release with a published vulnerability, where its pool's lock has one without.",
    fix="Move the pool's pin to the newest release and roll it out: all the toolkit's packages together.",
    verify="nvidia-ctk --version prints the release in which it is fixed, or a later one.",
    source="knowledge/toolkit_releases.py",
)
def security_floor(facts: Facts, wanted: Wanted) -> Outcome:
    """The toolkit is free of known vulnerabilities, or the pool accepts them by its pin"""
    if without_toolkit(facts, wanted):
        return not_applicable(NONE_HERE)
    if facts.toolkit_version is None:
        return unknown()
    found = vulnerabilities(facts.toolkit_version)
    if not found:
        return passed(facts.toolkit_version)
    cause = f"NVIDIA Container Toolkit {facts.toolkit_version} has {', '.join(found)}."
    pinned = wanted.pin("container_toolkit", "version") if wanted else None
    if pinned and not vulnerabilities(pinned):
        return failed(f"the pinned {pinned}", facts.toolkit_version, cause=cause)
    return passed(facts.toolkit_version, cause=cause, remedy="Plan the upgrade of all the toolkit's packages to the newest release; nothing is broken by it.")


def vulnerabilities(version: str) -> list[str]:
    """What a release has, with the release that fixes it."""
    return [f"{row.identifier} (fixed in {'.'.join(map(str, row.fixed))})" for row in VULNERABILITIES if at_least(version, row.fixed) is False]
