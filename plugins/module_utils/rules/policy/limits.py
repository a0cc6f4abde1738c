# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Limits of users and sandboxes: user namespaces, locked memory, performance counters, other runtimes."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.model import POLICY
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.policy.security_modules import EACCES
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, passed, rule, unknown
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.symptoms import ended_well, heard, in_container, line_of, nothing_heard

HOOK_REFUSED = r"nvidia-container-cli[^\n]*permission denied|nvidia-cdi-hook[^\n]*(?:exit (?:code|status):? 1|permission denied)"
SANDBOXES = re.compile(r"(?:--runtime|runtimeClassName)[\"']?\s*[=:\s]\s*[\"']?[\w./-]*?(runsc|gvisor|kata(?:-\w+)*|sysbox(?:-runc)?)\b", re.I)


@rule(
    "policy.user_namespace",
    layer=POLICY,
    probes=("docker_daemon_json", "docker_security_options", "ls_dev_nvidia"),
    symptom="A container in a user namespace (userns-remap, rootless, runAsNonRoot) says 'Insufficient Permissions' or its hook 'permission denied'; as "
    "root without it all works.",
    cause="The user that the container is mapped to may not open the device nodes or reach the container's files: user namespaces take the host's groups "
    "and root's rights away.",
    fix="Make the nodes 0666 (NVreg_DeviceFileMode=0666), or keep the groups (podman run --group-add keep-groups with crun; Kubernetes: "
    "securityContext.supplementalGroups with the "
    "group of /dev/nvidia*), or run this container with --userns=host.",
    verify="nvidia-smi works in the container as that user.",
    source="Docker, Isolate containers with a user namespace; podman-run(1), keep-groups; NVIDIA/nvidia-docker #1547; NVIDIA/nvidia-container-toolkit #648",
)
def user_namespace(facts: Facts, wanted: Wanted) -> Outcome:
    """The container's user may open the devices"""
    remapped = (facts.docker_config or {}).get("userns-remap") or any("userns" in option for option in facts.docker_security_options or ())
    said = heard(facts, f"{EACCES}|{HOOK_REFUSED}")
    if said is None:
        return nothing_heard(facts, "that its user may not open a device")
    if remapped:
        return failed(
            "devices open to the mapped user",
            f"userns-remap; {said}",
            cause=f"Docker maps containers into a user namespace (userns-remap): {said}",
            remedy=WITHOUT_REMAP,
        )
    if heard(facts, EACCES) is None:
        return unknown(f"{said}; whether the engine maps users is not known")
    return unknown(
        said,
        cause="The container may not open the GPU's device nodes (EACCES: NVML's Insufficient Permissions): their mode and group leave its user out, or "
        "SELinux or another security "
        "module denies it. A device cgroup would give Unknown Error instead.",
        decided_by="ls -lZ /dev/nvidia* and getenforce on the host",
    )


WITHOUT_REMAP = (
    "Run GPU containers with --userns=host (Compose: userns_mode: host), or take userns-remap out of daemon.json and restart Docker, or ask by CDI with "
    "nodes of mode 0666: "
    "the legacy hook does not work in a mapped namespace."
)


@rule(
    "policy.performance_counters",
    layer=POLICY,
    probes=("proc_driver_nvidia_params",),
    symptom="ncu, nsys or a profiler says ERR_NVGPUCTRPERM or CUPTI_ERROR_INSUFFICIENT_PRIVILEGES; the program itself runs.",
    cause="The driver keeps GPU performance counters for administrators (NVreg_RestrictProfilingToAdminUsers=1, its default), and the container's user has "
    "no CAP_SYS_ADMIN.",
    fix="Give this container the capability (docker run --cap-add SYS_ADMIN), or open the counters to all: options nvidia "
    "NVreg_RestrictProfilingToAdminUsers=0 in "
    "/etc/modprobe.d/nvidia-profiling.conf, update-initramfs -u, reboot.",
    verify="grep RmProfilingAdminOnly /proc/driver/nvidia/params says 0, or the profiler works with the capability.",
    source="NVIDIA, ERR_NVGPUCTRPERM; NVIDIA/gpu-operator #1158; openxla/xprof #63",
    severity="warning",
)
def performance_counters(facts: Facts, wanted: Wanted) -> Outcome:
    """Profilers may read the performance counters, where somebody asks for them"""
    found = facts.said(r"ERR_NVGPUCTRPERM|CUPTI_ERROR_INSUFFICIENT_PRIVILEGES|permission to access NVIDIA GPU Performance Counters", in_container)
    said = line_of(found[0].text, found[1].start()) if found else None
    if found and ended_well(facts, found[0].source):
        return passed(said or "", cause="A profiler was refused the GPU's performance counters, and the program went on without them: its computing is fine.")
    if said is None:
        return nothing_heard(facts, "that performance counters are closed")
    known = facts.profiling_for_admins_only
    return failed("open performance counters", said + ("; RmProfilingAdminOnly: 1" if known else ""))


@rule(
    "policy.locked_memory",
    layer=POLICY,
    probes=("app_log",),
    symptom="NCCL or UCX over InfiniBand: ibv_reg_mr or ibv_create_cq failed: Cannot allocate memory; on the host it works.",
    cause="The container may lock too little memory (ulimit -l, RLIMIT_MEMLOCK): RDMA must pin its buffers.",
    fix="docker run --ulimit memlock=-1 --ulimit stack=67108864 (Compose: ulimits: {memlock: -1}); LimitMEMLOCK=infinity for the service of the engine, the "
    "kubelet or slurmd.",
    verify="ulimit -l in the container prints unlimited.",
    source="NVIDIA deep learning framework containers, run notes; getrlimit(2)",
)
def locked_memory(facts: Facts, wanted: Wanted) -> Outcome:
    """RDMA may lock the memory that it needs"""
    said = heard(
        facts,
        r"(?:ibv_\w+|\bmlx\d\w*|RDMA|UCX|libibverbs|openib)[^\n]{0,120}(?:cannot allocate memory|memlock)"
        r"|set max locked memory \(ulimit -l\)|memlock limits? (?:is|are) (?:set )?too low",
    )
    return failed("unlimited locked memory", said) if said else nothing_heard(facts, "that memory cannot be locked")


@rule(
    "policy.sandboxed_runtime",
    layer=POLICY,
    probes=("docker_info",),
    symptom="A container under gVisor (runsc), Kata or Sysbox sees no GPU or its sandbox does not start; the same container under runc works.",
    cause="The container runs under a sandbox that does not pass the GPU on.",
    fix="Run GPU containers under runc; or with gVisor turn on nvproxy (runsc --nvproxy) with a driver that runsc nvproxy list-supported-drivers names; "
    "with Kata pass the GPU by VFIO.",
    verify="The same container works under --runtime=runc and under the sandbox.",
    source="gVisor, GPU support; google/gvisor #12773, #9368; ray-project/ray #66161",
)
def sandboxed_runtime(facts: Facts, wanted: Wanted) -> Outcome:
    """A sandbox passes the GPU on"""
    said = heard(facts, r"nvproxy[^\n]*unsupported[^\n]*driver version[^\n]*|unsupported nvidia driver version: \S+")
    if said:
        return failed("a driver that gVisor's nvproxy knows", said, cause=f"gVisor's nvproxy does not know the host's driver version: {said}.")
    used = _sandbox(facts)
    refused = heard(facts, r"no cuda-capable device|couldn't communicate with the nvidia driver|failed to initialize nvml|nvidia-smi[^\n]*not found")
    if used and refused:
        return failed(
            "a runtime that passes the GPU on",
            f"{used}; {refused}",
            cause=f"The container runs under {used}, a sandbox that does not pass the GPU on by itself.",
        )
    return nothing_heard(facts, "that a sandbox refuses the GPU")


def _sandbox(facts: Facts) -> str | None:
    """The sandboxed runtime that a run or a pod names."""
    texts = [str(run.get("command") or "") for run in facts.runs] + [facts.bundle.text("pod_manifest") or ""]
    found = SANDBOXES.search("\n".join(texts))
    return found.group(1) if found else None
