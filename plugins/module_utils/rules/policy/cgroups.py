# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Device control groups: who may open /dev/nvidia*, who may change that, and what takes it away again.

The kernel's device controller answers EPERM, which NVML calls "Unknown Error"; file modes and security modules answer EACCES, which it calls
"Insufficient Permissions". So the two words tell the two kinds apart (nvml.h; NVIDIA/nvidia-docker #966).
"""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.model import POLICY
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, equals_pin, failed, not_applicable, passed, rule, unknown
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.symptoms import heard, nothing_heard

EPERM = r"failed to initialize nvml: unknown error|nvml[^\n]{0,60}unknown error|/dev/nvidia\S{0,60}[^\n]{0,40}(?:EPERM|operation not permitted)"
BLOCKED_IN_WSL = r"|GPU access blocked by the operating system"
CUDA_CANNOT_OPEN = EPERM + BLOCKED_IN_WSL + r"|no cuda-capable device is detected|cuda_error_no_device|cuda unknown error|cuda_error_unknown"
RULES_REFUSED = (
    r"bpf_prog_query\(BPF_CGROUP_DEVICE\) failed: (?:operation not permitted|permission denied)"
    r"|failed to add device rules:(?![^\n]*load program)[^\n]*(?:operation not permitted|permission denied)"
    r"|(?:write error|open failed): /sys/fs/cgroup/\S*devices\.allow: (?:operation not permitted|permission denied)"
)
NVIDIA_MAJOR = 195
RECREATE = "then create the container anew (docker compose up --force-recreate; kubectl delete pod)"
BY_CDI = "Ask by CDI (docker run --device nvidia.com/gpu=all) or name the nodes (--device /dev/nvidiactl --device /dev/nvidia0 …), so that runc knows them"
KEEP_DEVICES = (
    f"{BY_CDI}; or link the nodes below /dev/char (nvidia-ctk system create-dev-char-symlinks --create-all), or use the cgroupfs driver "
    f'("exec-opts": ["native.cgroupdriver=cgroupfs"] in daemon.json); {RECREATE}.'
)
NO_CGROUPS_ON = "sudo nvidia-ctk config --set nvidia-container-cli.no-cgroups=true --in-place"


@rule(
    "policy.cgroup_version",
    layer=POLICY,
    probes=("cgroup_fstype",),
    symptom="GPU containers lose their devices or never get them, after an upgrade or a change of the kernel command line.",
    cause="The node's cgroup hierarchy is not of the pinned version: a change of cgroup mode is a breaking change, it changes how devices are allowed.",
    fix="Set systemd.unified_cgroup_hierarchy on the kernel command line to what is pinned and reboot, or correct os.cgroup in pins.yml and lock again.",
    verify="stat -fc %T /sys/fs/cgroup prints cgroup2fs for version 2, tmpfs for version 1.",
    source="systemd(1), Linux cgroup-v2.rst",
)
def cgroup_version(facts: Facts, wanted: Wanted) -> Outcome:
    """The cgroup hierarchy has the pinned version"""
    return equals_pin(facts.cgroup_version, wanted.pin("os", "cgroup"), "cgroup version")


@rule(
    "policy.device_access_lost",
    layer=POLICY,
    probes=("recent_commands", "docker_info", "kubelet_log"),
    symptom="A running container says 'Failed to initialize NVML: Unknown Error' after it had worked; a new container works, and so does the host.",
    cause="The running container's device rules were written again by somebody who does not know the GPU's nodes, since the NVIDIA hook had allowed them "
    "unasked.",
    fix=KEEP_DEVICES,
    verify="nvidia-smi -L in a running container still lists the GPUs after systemctl daemon-reload.",
    source="NVIDIA/nvidia-docker #1730, #966, #515; NVIDIA/nvidia-container-toolkit #1227, #48; kubernetes/kubernetes #77073",
)
def device_access_lost(facts: Facts, wanted: Wanted) -> Outcome:
    """No running container loses its devices"""
    said = heard(facts, EPERM) or (heard(facts, CUDA_CANNOT_OPEN) if facts.device_access_was_lost else None)
    if said is None:
        return nothing_heard(facts, "that a device may not be opened")
    if facts.no_cgroups or facts.lxc_devices:
        return not_applicable("no-cgroups = true, or the rules of an LXC container, explain the refusal by themselves")
    if facts.device_reset:
        return failed("the devices stay open to a running container", said, cause=_lost_because(facts, facts.device_reset), remedy=_kept_by(facts.device_reset))
    if facts.device_access_was_lost:
        return failed("the devices stay open to a running container", said, cause=_lost_because(facts, None), remedy=KEEP_DEVICES, confidence="medium")
    return _refused_for_unknown_reason(facts, said)


def _lost_because(facts: Facts, trigger: str | None) -> str:
    """Who wrote the device rules again, as far as the evidence says."""
    driver = f", cgroup driver {facts.cgroup_driver}" if facts.cgroup_driver else ""
    if trigger and _by_update(trigger):
        who = f"`{trigger}` made runc write the running container's device cgroup anew from its own list"
    else:
        who = f"systemd re-applied the device policy of the running container's scope after {trigger or 'a systemctl daemon-reload or the like'}{driver}"
    return (
        f"{who}, and that does not have the /dev/nvidia* nodes, which the NVIDIA hook had allowed behind runc's back: opening them gives EPERM, and NVML says "
        f"Unknown Error. The GPU and the driver are fine, and a fresh container works."
    )


def _by_update(trigger: str) -> bool:
    return "update" in trigger.lower().split() or "cpu" in trigger.lower()


def _kept_by(trigger: str) -> str:
    if "cpu" not in trigger.lower():
        return KEEP_DEVICES
    return (
        "Run the device plugin with PASS_DEVICE_SPECS=true (--pass-device-specs, and privileged) or with CDI, so that the kubelet and runc know the device "
        "nodes; "
        "or set cpuManagerPolicy: none in the kubelet; then delete the pods so that they are created anew."
    )


def _refused_for_unknown_reason(facts: Facts, said: str) -> Outcome:
    """EPERM and nothing about when: two causes are left, both of them in the device cgroup, if the host itself is fine."""
    words = {
        "cause": "The container's device cgroup does not allow /dev/nvidia* (EPERM: NVML's Unknown Error), while the host is fine: either systemd dropped "
        "the nodes of "
        "a running container (systemctl daemon-reload, cgroup driver systemd), or no-cgroups = true keeps the hook of a rootful engine from allowing them.",
        "remedy": f"{KEEP_DEVICES} If config.toml says no-cgroups = true: set it to false for a rootful engine.",
        "decided_by": "grep no-cgroups /etc/nvidia-container-runtime/config.toml, and nvidia-smi in a fresh container: if that works, access was lost",
    }
    if not (facts.library_version or facts.gpus):
        return unknown(f"{said}; whether the host's own nvidia-smi works is not known", **words)
    return failed("the devices may be opened in the container", said, confidence="medium", **words)


@rule(
    "policy.no_cgroups_with_rootful_engine",
    layer=POLICY,
    probes=("toolkit_config", "docker_info"),
    symptom="Every container, a fresh one too, says 'Failed to initialize NVML: Unknown Error'; with --privileged it works.",
    cause="no-cgroups = true tells the NVIDIA hook not to open the device cgroup, so a rootful engine's container is refused the nodes.",
    fix="Set no-cgroups = false in /etc/nvidia-container-runtime/config.toml (sudo nvidia-ctk config --set nvidia-container-cli.no-cgroups=false --in-place) "
    "and restart the "
    "engine; a rootless engine takes a config.toml of its own below ~/.config/nvidia-container-runtime; or ask by CDI.",
    verify="docker run --rm --gpus all <image> nvidia-smi lists the GPUs.",
    source="NVIDIA/nvidia-container-toolkit #580; NVIDIA Container Toolkit install guide, rootless mode",
)
def no_cgroups_with_rootful_engine(facts: Facts, wanted: Wanted) -> Outcome:
    """A rootful engine's hook may open the device cgroup"""
    if facts.no_cgroups is None:
        return not_applicable("config.toml of the container toolkit was not looked at, or does not say no-cgroups")
    if not facts.no_cgroups:
        return passed("no-cgroups = false")
    if facts.rootless or facts.nested:
        return passed("no-cgroups = true, as an engine without the right to change device cgroups needs it")
    said = heard(facts, CUDA_CANNOT_OPEN)
    if said is None:
        return nothing_heard(facts, "that a device may not be opened")
    return failed("no-cgroups = false with a rootful engine", f"no-cgroups = true; {said}")


@rule(
    "policy.device_rules_refused",
    layer=POLICY,
    probes=("docker_security_options", "docker_info", "lxc_config", "toolkit_config"),
    symptom="nvidia-container-cli: mount error: failed to add device rules … bpf_prog_query(BPF_CGROUP_DEVICE) failed: operation not permitted, or "
    "write error: /sys/fs/cgroup/devices/…/devices.allow: operation not permitted.",
    cause="The engine runs without the right to change device cgroups (rootless, or nested in a container), and the toolkit is told to change them.",
    fix=f"Leave device cgroups alone: {NO_CGROUPS_ON}, and restart the engine.",
    verify="docker run --rm --gpus all <image> nvidia-smi lists the GPUs.",
    source="NVIDIA/libnvidia-container #154; NVIDIA/nvidia-docker #1155, #1146; moby/moby #38729; NVIDIA/nvidia-container-toolkit #139, #290",
)
def device_rules_refused(facts: Facts, wanted: Wanted) -> Outcome:
    """The NVIDIA hook may change the container's device rules, or is told not to"""
    said = heard(facts, RULES_REFUSED)
    if said is None:
        return nothing_heard(facts, "that device rules may not be changed")
    for known, words in ((facts.rootless, ROOTLESS), (facts.nested, NESTED)):
        if known:
            return failed("device rules that may be changed, or no-cgroups = true", said, **words)
    return failed("device rules that may be changed, or no-cgroups = true", said, confidence="medium", **ROOTLESS_OR_NESTED)


ROOTLESS = {
    "cause": "The engine is rootless: without root it may not change device cgroups (neither BPF_CGROUP_DEVICE nor devices.allow), and no-cgroups = false "
    "makes the NVIDIA hook try.",
    "remedy": f"Set no-cgroups = true: {NO_CGROUPS_ON} (for a rootless engine beside a rootful one in ~/.config/nvidia-container-runtime/config.toml), then "
    "systemctl --user restart docker; or ask by CDI, which needs no hook; the device nodes must then be open to the user (mode 0666).",
}
NESTED = {
    "cause": "The engine runs nested in an LXC container, which may not change device cgroups (BPF_CGROUP_DEVICE gives EPERM), and no-cgroups = false makes "
    "the NVIDIA hook try.",
    "remedy": f"In the LXC guest set no-cgroups = true in /etc/nvidia-container-runtime/config.toml ({NO_CGROUPS_ON}) and restart Docker; the guest's own "
    "configuration "
    "(lxc.cgroup2.devices.allow) already decides about the devices. Or upgrade to a toolkit that injects by CDI (1.18 and later), or make the guest "
    "privileged.",
}
ROOTLESS_OR_NESTED = {
    "cause": "The NVIDIA hook may not change the container's device cgroup (EPERM from BPF_CGROUP_DEVICE or devices.allow): the engine is rootless, or runs "
    "nested in a "
    "container (LXC, LXD, Docker in Docker), and no-cgroups = false makes the hook try.",
    "remedy": f"Set no-cgroups = true ({NO_CGROUPS_ON}) and restart the engine, or ask by CDI.",
    "decided_by": "docker info --format '{{.SecurityOptions}}' (name=rootless), and systemd-detect-virt --container",
}


FILTER_REFUSED = (
    r"device filters? program[^\n]*(?:load program: (?:invalid argument|permission denied)|BPF_PROG_ATTACH[^\n]*(?:can't attach program|invalid argument))"
)
NEWER_KERNEL = (
    "Boot a kernel of 5.6 or later, or upgrade libnvidia-container (the container toolkit, 1.18 and later changes no eBPF program), ask by CDI, or go back to "
    "cgroup v1 (systemd.unified_cgroup_hierarchy=0)."
)


@rule(
    "policy.device_filter_program",
    layer=POLICY,
    probes=("nvidia_ctk_version",),
    symptom="nvidia-container-cli: mount error: failed to add device rules: … unable to create new device filters program: load program: invalid argument "
    "(or permission denied).",
    cause="The kernel refuses the eBPF device filter that libnvidia-container writes in front of runc's: hardening of the eBPF JIT (net.core.bpf_jit_harden "
    "= 2) blanks the "
    "program that it reads back, or its library is too old for this kernel.",
    fix="Upgrade the container toolkit to 1.18 or later, which no longer changes eBPF programs (or ask by CDI); until then: sysctl -w "
    "net.core.bpf_jit_harden=1.",
    verify="docker run --rm --gpus all <image> nvidia-smi lists the GPUs.",
    source="NVIDIA/libnvidia-container #151, #176, #209; bottlerocket-os/bottlerocket #2504",
)
def device_filter_program(facts: Facts, wanted: Wanted) -> Outcome:
    """The kernel takes the device filter of the NVIDIA hook"""
    said = heard(facts, FILTER_REFUSED)
    if said is None:
        return nothing_heard(facts, "that a device filter does not load")
    cause = ""
    if "attach" in said.lower():
        running = f" {facts.kernel_release}" if facts.kernel_release else ""
        cause = (
            f"On cgroup v2 the kernel{running} does not let libnvidia-container replace the eBPF device filter of the container's cgroup (BPF_PROG_ATTACH: "
            "invalid argument): replacing needs Linux 5.6 (BPF_F_REPLACE)."
        )
    return failed("the eBPF device filter loads", said, cause=cause, remedy=NEWER_KERNEL if cause else "", confidence="medium")


@rule(
    "policy.cgroup_v2_support",
    layer=POLICY,
    probes=("cgroup_fstype", "docker_info", "nvidia_ctk_version"),
    symptom="nvidia-container-cli: container error: cgroup subsystem devices not found: unknown.",
    cause="The node runs with cgroup v2 (unified hierarchy), and libnvidia-container is too old for it: it looks for the devices controller, which only "
    "cgroup v1 has.",
    fix="Upgrade the container toolkit (libnvidia-container 1.8.0 and later know cgroup v2; CDI needs neither), or go back to cgroup v1 by "
    "systemd.unified_cgroup_hierarchy=0 on "
    "the kernel command line (update-grub, reboot), or set no-cgroups = true and pass the nodes by --device /dev/nvidia0 …",
    verify="stat -fc %T /sys/fs/cgroup, nvidia-container-cli --version, and docker run --rm --gpus all <image> nvidia-smi.",
    source="NVIDIA/nvidia-docker #1447, #1660; NVIDIA/libnvidia-container #111",
)
def cgroup_v2_support(facts: Facts, wanted: Wanted) -> Outcome:
    """The container toolkit knows the node's cgroup version"""
    said = heard(facts, r"cgroup subsystem devices not found")
    if said is None:
        return nothing_heard(facts, "that a cgroup subsystem is missing")
    observed = f"{said}; cgroup version {facts.cgroup_version or 'not known'}, container toolkit {facts.toolkit_version or 'not known'}"
    if facts.cgroup_version == 1:
        return failed("a devices controller in /sys/fs/cgroup", observed, confidence="medium", **HYBRID)
    return failed("a container toolkit that knows cgroup v2", observed)


HYBRID = {
    "cause": "The hook found no devices controller of cgroup v1: the hierarchy is hybrid, or /sys/fs/cgroup/devices is not mounted where the engine runs, "
    "and libnvidia-container "
    "took it for cgroup v1.",
    "remedy": "Boot into the unified hierarchy (cgroup v2: systemd.unified_cgroup_hierarchy=1, update-grub, reboot) with a container toolkit of 1.8.0 or "
    "later, or mount the "
    "devices controller; set no-cgroups = true meanwhile.",
}


@rule(
    "policy.lxc_device_rules",
    layer=POLICY,
    probes=("lxc_config", "proc_devices", "ls_dev_nvidia"),
    symptom="In an LXC container nvidia-smi says 'Unknown Error' or CUDA finds no device, though /dev/nvidia* is mounted there; often after an upgrade of "
    "the host's kernel or driver.",
    cause="The LXC container's configuration does not allow the majors of the GPU's device nodes.",
    fix="Allow each major of grep nvidia /proc/devices of the host: lxc.cgroup2.devices.allow: c <major>:* rwm (the major of nvidia-uvm is dynamic and "
    "changes), or pass the nodes "
    "as dev0: /dev/nvidia0 … (Proxmox 8.1 and later), and restart the container.",
    verify="nvidia-smi and a CUDA program work in the LXC container.",
    source="lxc.container.conf(5); Proxmox pct.conf(5); jammsen/proxmox-setup-scripts #7",
)
def lxc_device_rules(facts: Facts, wanted: Wanted) -> Outcome:
    """An LXC container may open the GPU's devices"""
    rules = facts.lxc_devices
    if rules is None:
        return not_applicable("no configuration of an LXC container in the evidence")
    refused = facts.said(CUDA_CANNOT_OPEN) is not None
    if refused and rules.keys == {"cgroup"} and facts.cgroup_version != 1:
        return failed("lxc.cgroup2.devices.allow", "lxc.cgroup.devices.allow alone", **WRONG_KEY)
    missing = _majors_not_allowed(facts, rules.majors if not rules.passed else None)
    if missing and not (refused or NVIDIA_MAJOR in (rules.majors or ()) or any("nvidia" in path for path in rules.mounted)):
        return not_applicable("the LXC container was given no GPU")
    if missing:
        observed = "; ".join(f"{name} has major {major}" for name, major in missing.items())
        return failed(
            "lxc.cgroup2.devices.allow for each major", f"{observed}, and the configuration allows {sorted(rules.majors or ())}", cause=_stale_major(missing)
        )
    if refused and rules.mounted and not {"/dev/nvidiactl", "/dev/nvidia-uvm"} <= rules.mounted:
        return failed("mount entries for nvidiactl, nvidia-uvm and each GPU", ", ".join(sorted(rules.mounted)), **NOT_MOUNTED)
    return passed("each known major is allowed") if facts.majors or facts.device_nodes else unknown("the host's majors are not known")


def _majors_not_allowed(facts: Facts, allowed: frozenset[int] | None) -> dict[str, int]:
    """The drivers whose major a configuration leaves out; nothing where it allows all, or where no major is known."""
    if allowed is None:
        return {}
    named = {name: major for name, major in (facts.majors or {}).items() if name in ("nvidia", "nvidia-frontend", "nvidia-uvm")}
    seen = {"nvidia-uvm" if "uvm" in path else "nvidia": node.major for path, node in (facts.device_nodes or {}).items() if node.major and "caps" not in path}
    return {name: major for name, major in {**seen, **named}.items() if major not in allowed}


def _stale_major(missing: dict[str, int]) -> str:
    names = " and ".join(f"{name} (major {major})" for name, major in missing.items())
    return (
        f"The LXC container's configuration does not allow {names}: lxc.cgroup2.devices.allow has no line for that major. The major of nvidia-uvm is dynamic "
        "and changes with the "
        "kernel, the driver or the order of modules."
    )


WRONG_KEY = {
    "cause": "The LXC configuration allows the devices under the key of cgroup v1 (lxc.cgroup.devices.allow), and the host runs with cgroup v2, which reads "
    "lxc.cgroup2.devices.allow "
    "only: every /dev/nvidia* node is refused with EPERM.",
    "remedy": "Write the lines as lxc.cgroup2.devices.allow: c 195:* rwm (and the major of nvidia-uvm, from /proc/devices of the host) in "
    "/etc/pve/lxc/<id>.conf and restart the container.",
}
NOT_MOUNTED = {
    "cause": "The LXC configuration does not bring all of the GPU's device nodes into the container: nvidiactl or nvidia-uvm has no lxc.mount.entry.",
    "remedy": "Add lxc.mount.entry: /dev/nvidia-uvm dev/nvidia-uvm none bind,optional,create=file (and the same for nvidiactl, nvidia-uvm-tools and each "
    "nvidia<N>) and restart the container.",
}
