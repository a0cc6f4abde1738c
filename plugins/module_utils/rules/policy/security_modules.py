# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""SELinux and AppArmor: what they deny of the GPU, and which of their messages mean nothing."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.model import POLICY
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.symptoms import heard, nothing_heard

EACCES = r"nvml[^\n]{0,60}insufficient permissions|/dev/nvidia\S{0,60}[^\n]{0,60}permission denied|permission denied[^\n]{0,60}/dev/nvidia"

SELINUX_FIX = (
    "Run the container with --security-opt label=disable (Compose: security_opt: [label=disable]), or let containers use devices for good: "
    "setsebool -P container_use_devices on (or a policy module that allows container_t the type xserver_misc_device_t; restorecon -v /dev/nvidia*)."
)
UNCONFINED = "Run with --security-opt apparmor=unconfined (Compose: security_opt: [apparmor=unconfined])"
PROFILE_NOT_APPLIED = (
    r"unable to apply apparmor profile|apparmor failed to apply profile|apply apparmor profile:"
    r"|AppArmor enabled on system but the docker-default profile could not be loaded"
    r"|check if docker-default AppArmor profile was loaded|apparmor_parser: Unable to replace"
)
AUDIT_LOGS = ("audit_avc", "dmesg", "journal")


@rule(
    "policy.selinux_denies_devices",
    layer=POLICY,
    probes=("getenforce", "getsebool", "docker_info", *AUDIT_LOGS),
    symptom="In the container nvidia-smi says 'Failed to initialize NVML: Insufficient Permissions'; on the host all is well.",
    cause="SELinux is enforcing and does not let the confined domain of containers (container_t) open the GPU's device nodes.",
    fix=SELINUX_FIX,
    verify="ausearch -m avc shows no new denial, and nvidia-smi works in the container.",
    source="container-selinux, boolean container_use_devices; redhat-et/triton-dev-containers #61; fedora-selinux/selinux-policy #1695; "
    "NVIDIA/nvidia-container-toolkit troubleshooting",
)
def selinux_denies_devices(facts: Facts, wanted: Wanted) -> Outcome:
    """SELinux does not keep containers from devices"""
    denied = [denial for denial in facts.selinux_denials or () if denial.on_gpu_device and not denial.permissive]
    if denied and facts.selinux_mode != "permissive":
        return failed(
            "no denial on a GPU's device node", str(denied[0]), cause=f"SELinux: {denied[0]}: the policy does not let that domain use the GPU's device nodes."
        )
    if facts.selinux_mode is None:
        return not_applicable("the mode of SELinux is not known") if facts.bundle.probes.get("getenforce") is None and not wanted else unknown()
    if facts.selinux_mode != "enforcing":
        return passed(f"SELinux {facts.selinux_mode}")
    said = heard(facts, EACCES)
    if said:
        return _enforcing_and_refused(facts, said)
    return _by_boolean(facts)


def _enforcing_and_refused(facts: Facts, said: str) -> Outcome:
    """A container was refused by EACCES under enforcing SELinux: it is SELinux unless the nodes' own modes refuse too."""
    narrow = [path for path, node in (facts.device_nodes or {}).items() if node.mode is not None and node.mode & 0o006 != 0o006]
    if narrow:
        return unknown(f"{said}; the mode of {narrow[0]} refuses too")
    works = any("label" in str(run.get(key)) and run.get("rc") == 0 for run in facts.runs for key in ("note", "command"))
    return failed(
        "containers may open /dev/nvidia*",
        f"SELinux enforcing; {said}" + ("; with label=disable it works" if works else ""),
        cause="SELinux is enforcing and confines containers to container_t, which may not open the GPU's device nodes (EACCES: NVML says Insufficient "
        "Permissions).",
        confidence="high" if works else "medium",
    )


def _by_boolean(facts: Facts) -> Outcome:
    """Nobody was refused: what would happen to a container, by the engine's labels and the boolean."""
    if facts.docker_security_options is None:
        return unknown()
    if not any("selinux" in option for option in facts.docker_security_options):
        return passed("enforcing, but the engine does not label containers")
    usable = (facts.selinux_booleans or {}).get("container_use_devices")
    if usable is None:
        return unknown()
    return passed("container_use_devices on") if usable else failed("container_use_devices on", "container_use_devices --> off")


@rule(
    "policy.selinux_denies_module",
    layer=POLICY,
    probes=("getenforce", *AUDIT_LOGS),
    symptom="modprobe: ERROR: could not insert 'nvidia': Permission denied, though root runs it; the audit log has avc: denied { module_load }.",
    cause="SELinux does not let the domain that loads the driver (a driver container, or modprobe under a service) load nvidia.ko from where it lies.",
    fix="Give the module file its label (restorecon -Rv /lib/modules), or load a policy module that allows module_load (audit2allow -M nvidia_load < denial; "
    "semodule -i nvidia_load.pp), "
    "or update container-selinux or rke2-selinux; setenforce 0 shows whether it is SELinux.",
    verify="modprobe nvidia works, and ausearch -m avc -c modprobe shows no new denial.",
    source="NVIDIA/gpu-operator #553, #2837; rancher/rke2-selinux #130; negativo17/nvidia-driver #16",
)
def selinux_denies_module(facts: Facts, wanted: Wanted) -> Outcome:
    """SELinux lets the driver's module be loaded"""
    denials = facts.selinux_denials
    if denials is None:
        return not_applicable("no log that has SELinux denials was looked at")
    denied = [denial for denial in denials if "module_load" in denial.permissions and not denial.permissive and "nvidia" in denial.path]
    if denied:
        return failed("nvidia.ko may be loaded", str(denied[0]), cause=f"SELinux does not let nvidia.ko be loaded: {denied[0]}.")
    return (
        passed("no denial of module_load")
        if any(facts.bundle.complete(name) for name in AUDIT_LOGS)
        else not_applicable("no denial of module_load in the logs that were shown")
    )


@rule(
    "policy.apparmor_denies_nvidia",
    layer=POLICY,
    probes=AUDIT_LOGS,
    symptom="Opening /dev/nvidia* or mounting in a container fails with 'permission denied', on the host all is well.",
    cause="An AppArmor profile has denied access to an NVIDIA file.",
    fix=f"Allow the path in the profile that the log line names (aa-logprof, apparmor_parser -r), or run the container under docker-default. {UNCONFINED} "
    "to see whether it is AppArmor.",
    verify='The kernel log shows no new apparmor="DENIED" with an NVIDIA path.',
    source="AppArmor wiki, audit messages; AbdBarho/stable-diffusion-webui-docker #682",
)
def apparmor_denies_nvidia(facts: Facts, wanted: Wanted) -> Outcome:
    """AppArmor has denied nothing of NVIDIA's since boot"""
    if facts.apparmor_denials is None:
        return unknown()
    denied = [denial for denial in facts.apparmor_denials if denial.on_gpu]
    if denied:
        words = f"AppArmor's profile {denied[0].profile or 'of the container'} has denied {denied[0].operation} of {denied[0].name}."
        return failed("no denial", denied[0].line, cause=words, evidence=tuple(denial.line for denial in denied[:3]))
    noise = facts.apparmor_denials
    about = (
        f"AppArmor's denials in the log ({noise[0].profile or noise[0].operation}: {noise[0].name or noise[0].operation}) touch no GPU file: noise, not a "
        "fault."
        if noise
        else ""
    )
    return (
        passed(cause=about)
        if facts.bundle.complete("dmesg")
        else not_applicable("the kernel log does not reach back to boot, and what is left of it shows none", cause=about)
    )


@rule(
    "policy.apparmor_profile_applies",
    layer=POLICY,
    probes=("lxc_config", "aa_status"),
    symptom="docker: error during container init: unable to apply apparmor profile, or: docker-default profile could not be loaded, apparmor_parser: "
    "Permission denied.",
    cause="Docker cannot load or apply its AppArmor profile docker-default on this node.",
    fix=f"{UNCONFINED}; on a host of its own: apt-get install apparmor, systemctl restart apparmor docker.",
    verify="docker run --rm hello-world starts.",
    source="AbdBarho/stable-diffusion-webui-docker #682; canonical/lxd #2255, #3723; docker/for-linux #1129; moby/moby #25488",
)
def apparmor_profile_applies(facts: Facts, wanted: Wanted) -> Outcome:
    """The engine's AppArmor profile can be applied"""
    said = heard(facts, PROFILE_NOT_APPLIED)
    if said is None:
        return nothing_heard(facts, "that an AppArmor profile cannot be applied")
    return failed("AppArmor's profile is applied", said, **(IN_GUEST if facts.nested else {}))


IN_GUEST = {
    "cause": "Docker runs nested in an LXC container and cannot load or apply its AppArmor profile docker-default there: the guest has no right to change "
    "AppArmor policy, or is "
    "unconfined without a namespace of its own. It is not the NVIDIA hook that fails.",
    "remedy": f"{UNCONFINED}; or hide AppArmor from the guest's Docker (mask /sys/module/apparmor/parameters/enabled, disable or purge apparmor in the "
    "guest), or give the guest "
    "nesting and the profile generated (features: nesting=1, security.nesting=true).",
}
