# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Device nodes: /dev/nvidia*, as the kernel's drivers have registered them."""

from __future__ import annotations

import re
from typing import Mapping, Sequence

from ansible_collections.goldnode.gpu.plugins.module_utils.model import DEVICE_NODES
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.device_nodes import ALL_NODES
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.linux import DeviceNode
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown

# Linux Documentation/admin-guide/devices.txt: 195 char is nvidia's; the others have dynamic majors, registered by these names.
NVIDIA_MAJOR = 195
DYNAMIC = ("nvidia-uvm", "nvidia-nvswitch", "nvidia-nvlink", "nvidia-caps-imex-channels", "nvidia-caps")
NOT_PCI = "WSL and Tegra have other nodes for their GPU"
CONTROL, UVM, UVM_TOOLS, MODESET = "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset"
MIG_MANAGEMENT = (1, 2)  # mig/config and mig/monitor; the instances' minors are 3 and more
CREATE = (
    "Load the modules and create the nodes at boot, before the engine starts: nvidia-modprobe -u -c 0 in a systemd unit, nvidia_uvm in /etc/modules-load.d, or "
    "nvidia-persistenced; now: modprobe nvidia_uvm, nvidia-modprobe -u -c 0 (nvidia-modprobe must be installed setuid "
    "root). A udev or tmpfiles rule that removes "
    "or changes them must go."
)
# What an engine or libnvidia-container says of a path of the host; a program in a container that misses a node says nothing about the host.
_NOT_THERE = (
    r"(?:stat failed: |\bl?stat |adding custom device \"|CDI host device \"|mount entry \"?)"
    r"(?P<node>/dev/nvidia(?:-uvm-tools|-uvm|ctl|-modeset))\b[^\n]{0,60}no such (?:file|device)|could not load (?P<uvm>UVM) kernel module"
)
_CUDA_FAILS = r"CUDA_ERROR_UNKNOWN|cuInit[^\n]{0,60}\b999\b|unknown error|no CUDA-capable device|CUDA_ERROR_NO_DEVICE|failed call to cuInit"
_DENIED = r"insufficient permissions|/dev/nvidia[^\n]{0,80}(?:permission denied|not permitted)|(?:permission denied|not permitted)[^\n]{0,80}/dev/nvidia"


def _expected_nodes(facts: Facts) -> list[str]:
    """The control node, nvidia-uvm, and one for each GPU that no other driver has."""
    gpus = [gpu for gpu in facts.pci_gpus or () if gpu.driver in (None, "nvidia")]
    return [CONTROL, UVM, *(f"/dev/nvidia{index}" for index in range(len(gpus)))]


def missing_nodes(facts: Facts) -> list[str] | None:
    """The nodes that should be there and are not. None: not known; in a listing that is not complete a node that is not there proves nothing."""
    told = facts.stated_missing_nodes or (facts.missing_device_nodes if "missing_device_nodes" not in facts.bundle.stated else None) or frozenset()
    nodes = facts.device_nodes
    named = sorted(path for path in told if path not in (ALL_NODES, MODESET))
    if named:
        return named + sorted(told & {MODESET})
    if nodes is None or facts.pci_gpus is None:
        return _expected_nodes(facts) if nodes == {} else None
    missing = [path for path in _expected_nodes(facts) if path not in nodes]
    whole = facts.bundle.complete("ls_dev_nvidia") or nodes == {}
    return missing if whole or not missing else None


def wrong_majors(facts: Facts) -> list[str] | None:
    """The nodes that lead to no driver or to another one. None: not known."""
    if facts.device_nodes is None:
        return None
    nodes = sorted(facts.device_nodes.values(), key=lambda node: node.path)
    wrong = [words for node in nodes if (words := _wrong(facts, node))]
    judged = facts.majors is not None and all(node.kind and _expected_major(facts, node.path) is not None for node in nodes)
    return wrong if wrong or judged else None


def _wrong(facts: Facts, node: DeviceNode) -> str:
    """What is wrong with one node, in words; a bare name shows neither type nor major."""
    kinds = {"d": "a directory", "-": "a plain file", "l": "a symbolic link"}
    if node.kind in kinds:
        return f"{node.path} is {kinds[node.kind]}, not a character device"
    expected = _expected_major(facts, node.path)
    if not node.kind or (node.major and (expected is None or node.major == expected)):
        return ""
    return f"{node.path} has major {node.major}, its driver has {expected or 'registered none'}"


def _expected_major(facts: Facts, path: str) -> int | None:
    """The major that the node's driver has registered; 0 where it has none, None where that is not known."""
    name = next((name for name in DYNAMIC if path.startswith("/dev/" + name)), None)
    if name is None:
        return NVIDIA_MAJOR
    majors = facts.majors or {}
    return majors.get(name) or (0 if facts.bundle.complete("proc_devices") else None)


@rule(
    "device_nodes.present",
    layer=DEVICE_NODES,
    probes=("ls_dev_nvidia", "lspci_nnk"),
    symptom="CUDA: 'no CUDA-capable device is detected' (100) or 'unknown error' (999), though the driver is loaded; containers miss a device or do not start.",
    cause="A device node is missing: nothing created it at boot, or somebody removed it.",
    fix=CREATE,
    verify="ls -l /dev/nvidia* shows nvidiactl, nvidia-uvm and one node for each GPU.",
    source="nvidia-modprobe(1); NVIDIA/enroot #106, NVIDIA/nvidia-docker #139, NVIDIA/nvidia-container-toolkit #32",
)
def nodes_present(facts: Facts, wanted: Wanted) -> Outcome:
    """The control node, nvidia-uvm and one node for each GPU exist"""
    if facts.wsl or facts.tegra:
        return not_applicable(NOT_PCI)
    missing = missing_nodes(facts)
    if missing:
        return _missing(facts, missing)
    said = facts.said(_NOT_THERE)
    if said:
        node = said[1]["node"] or UVM
        if node not in (facts.device_nodes or {}):
            return _missing(facts, [node], evidence=(said[1].group(),))
    if missing is None:
        return _by_neighbours(facts)
    return passed(", ".join(sorted(facts.device_nodes or ())))


def _missing(facts: Facts, missing: list[str], **words: tuple[str, ...]) -> Outcome:
    """Which nodes, and what usually creates them."""
    listed = ", ".join(missing)
    if facts.device_nodes == {} and not facts.module_loaded:
        why = (
            "either the nvidia module is not loaded, or nothing has created the nodes since boot (no nvidia-modprobe, "
            "nvidia-persistenced or nvidia-smi has run)"
        )
        return failed(
            "all nodes", "no /dev/nvidia*", cause=f"There are no device nodes /dev/nvidia*: {why}.", remedy=CREATE, decided_by="lsmod | grep nvidia", **words
        )
    why = "nothing has created them since boot, or they were removed"
    if any(path.startswith(UVM) for path in missing):
        why = "the module nvidia_uvm is not loaded at boot and its nodes are not created, so CUDA cannot initialise although nvidia-smi works"
    return failed("all nodes", "missing: " + listed, cause=f"Device nodes are missing on the host: {listed}; {why}.", remedy=CREATE, **words)


def _by_neighbours(facts: Facts) -> Outcome:
    """A listing in excerpts that has its neighbours and not this node, where a program fails as it does without that."""
    nodes = facts.device_nodes or {}
    gpus = [path for path in nodes if re.match(r"/dev/nvidia\d+$", path)]
    if CONTROL in nodes and UVM not in nodes and facts.said(_CUDA_FAILS) and "nvidia_uvm" not in (facts.modules or ()):
        why = "the module nvidia_uvm is not loaded, so CUDA cannot initialise although nvidia-smi works"
        return failed("all nodes", "listed without " + UVM, cause=f"The listing of /dev/nvidia* has no {UVM}: {why}.", remedy=CREATE, confidence="medium")
    if gpus and "/dev/nvidia0" not in nodes and facts.said(r"No devices (?:were )?found"):
        why = f"it shows {', '.join(sorted(gpus))}, so the nodes were made with wrong minor numbers or the first one was removed (a udev rule)"
        return failed("all nodes", "listed without /dev/nvidia0", cause=f"The device node /dev/nvidia0 is missing: {why}.", remedy=CREATE, confidence="medium")
    return unknown()


@rule(
    "device_nodes.uvm_loaded",
    layer=DEVICE_NODES,
    probes=("lsmod", "proc_devices"),
    symptom="nvidia-smi works, and every CUDA program says 'unknown error' (999).",
    cause="The module nvidia_uvm is not loaded, without which CUDA does not initialise.",
    fix=CREATE,
    verify="grep nvidia_uvm /proc/modules; grep nvidia-uvm /proc/devices",
    source="nvidia-modprobe(1), option -u; NVIDIA/enroot #106",
)
def uvm_loaded(facts: Facts, wanted: Wanted) -> Outcome:
    """nvidia_uvm is loaded"""
    if facts.wsl or facts.tegra:
        return not_applicable(NOT_PCI)
    if "nvidia_uvm" in (facts.modules or ()) or "nvidia-uvm" in (facts.majors or {}):
        return passed()
    if not facts.is_not_loaded("nvidia_uvm") and not facts.bundle.complete("proc_devices"):
        return unknown()
    if facts.modules is not None and not facts.said(_CUDA_FAILS):
        return unknown("not loaded, and no CUDA program was seen that would load it")
    cause = "The kernel module nvidia_uvm is not loaded, without which CUDA cannot initialise (unknown error, 999), although nvidia-smi works."
    return failed("nvidia_uvm loaded", "nvidia_uvm is not loaded", cause=cause, remedy=CREATE)


@rule(
    "device_nodes.major",
    layer=DEVICE_NODES,
    probes=("ls_dev_nvidia", "proc_devices"),
    symptom="open() of the node fails with ENXIO, CUDA says 'unknown error' (999); the node is there and its mode is right.",
    cause="A device node leads to another major than the one that its driver has registered, for example one made by hand or kept from another boot.",
    fix="Remove the wrong node and create it again: rm <node>; nvidia-modprobe -c 0 -u.",
    verify="The majors of ls -l /dev/nvidia* are those of grep nvidia /proc/devices.",
    source="Linux Documentation/admin-guide/devices.txt (195); nvidia-uvm's major is dynamic; negativo17/nvidia-driver #29, lf-edge/eve #6387",
)
def nodes_have_their_major(facts: Facts, wanted: Wanted) -> Outcome:
    """Each node is a character device with its driver's major"""
    wrong = wrong_majors(facts)
    if wrong is None:
        return unknown()
    if not wrong:
        return passed()
    cause = f"A device node does not lead to its driver: {'; '.join(wrong[:3])}. The major of nvidia-uvm is dynamic and may change at each boot."
    remedy = (
        "Remove the wrong files (rm, or rmdir where a bind mount of a missing path made a directory) and create the nodes "
        "anew: nvidia-modprobe -u -c 0; drop the mknod, "
        "udev or tmpfiles line with the old number, and recreate containers that hold the old node."
    )
    return failed("character devices with their drivers' majors", "; ".join(wrong), cause=cause, remedy=remedy)


@rule(
    "device_nodes.mode",
    layer=DEVICE_NODES,
    probes=("ls_dev_nvidia",),
    symptom="CUDA works for root and says 'no device', 'unknown error' or 'Insufficient Permissions' for everybody else, rootless containers included.",
    cause="A device node may not be read and written by all users.",
    fix="Set mode 0666 (the driver's default, NVreg_DeviceFileMode) and remove the udev rule or module option that narrows it; or give the users the group.",
    verify="ls -l /dev/nvidia* shows crw-rw-rw-, and nvidia-smi works for the user in question.",
    source=(
        "NVIDIA driver README, NVreg_DeviceFileMode; NVIDIA/nvidia-docker #1608, NVIDIA/nvidia-container-toolkit #210, openSUSE/nvidia-driver-G06 #52, "
        "j3soon/ros2-essentials #45 (VirtualGL)"
    ),
)
def nodes_are_open_to_all(facts: Facts, wanted: Wanted) -> Outcome:
    """Those who use the GPU may read and write its nodes"""
    nodes = facts.device_nodes or facts.container_device_nodes
    if not nodes:
        return unknown()
    needed = [node for path, node in sorted(nodes.items()) if node.mode is not None and not path.startswith((MODESET, "/dev/nvidia-cap", "/dev/nvidia-nv"))]
    narrow = [node for node in needed if (node.mode or 0) & 0o666 != 0o666 and node.kind == "c"]
    if not narrow:
        return passed("0666") if needed else unknown()
    listed = ", ".join(f"{node.path} {node.mode:04o} {node.owner}:{node.group}" for node in narrow[:3])
    if not (wanted or _somebody_is_denied(facts, narrow)):
        return unknown(f"{listed}: root and the group may use them, and nobody else was seen to try")
    cause = (
        f"The device nodes are not open to all users: {listed}; a user or rootless container without {_the_group(narrow)} is "
        f"denied{_by_option(facts)}{_by_decimal(narrow)}."
    )
    return failed("0666", ", ".join(f"{node.path} {node.mode:04o}" for node in narrow), cause=cause, remedy=_open(narrow))


def _somebody_is_denied(facts: Facts, narrow: list[DeviceNode]) -> bool:
    """A message about permissions, a run of another user than root that failed, or a user who is not in the nodes' group."""
    if facts.said(_DENIED):
        return True
    if any(run.get("user") not in (None, "root") and run.get("rc") != 0 for run in facts.runs):
        return True
    groups = facts.user_groups
    return groups is not None and "root" not in groups and not all(node.group in groups for node in narrow)


def _the_group(narrow: list[DeviceNode]) -> str:
    """The group that may, in words; a rootless namespace drops the supplementary groups of its user."""
    group = narrow[0].group
    return f"the group {group} (in a rootless namespace a supplementary group is not mapped)" if group not in ("", "root", "0") else "root's rights"


def _by_option(facts: Facts) -> str:
    options = facts.device_node_options or {}
    return f" (modprobe.d: {', '.join(f'{name}={value}' for name, value in options.items())})" if options else ""


def _by_decimal(narrow: list[DeviceNode]) -> str:
    """A mode that takes reading from its owner comes from a number without its leading zero."""
    return "; NVreg_DeviceFileMode was given in decimal and must be octal, with a leading 0" if any(not (node.mode or 0) & 0o400 for node in narrow) else ""


def _open(narrow: list[DeviceNode]) -> str:
    """The two ways: nodes for all, or the group for the user."""
    virtualgl = " VirtualGL narrowed them: unconfigure it with vglserver_config." if narrow[0].group == "vglusers" else ""
    group = narrow[0].group or "<group>"
    return (
        "Make them 0666: options nvidia NVreg_DeviceFileMode=0666 (and no NVreg_DeviceFileGID, no narrowing udev rule) in "
        "/etc/modprobe.d, renew the initramfs, reload the "
        f"module; now chmod 666 /dev/nvidia*. Or keep the group: usermod -aG {group}, podman run --group-add keep-groups "
        f"(crun), docker run --group-add {group}." + virtualgl
    )


@rule(
    "device_nodes.mig_capabilities",
    layer=DEVICE_NODES,
    probes=("proc_driver_nvidia_capabilities", "ls_dev_nvidia_caps", "nvidia_smi_list"),
    symptom="MIG devices are listed for root alone or not at all, and a container or a user cannot open its slice, though the instances exist.",
    cause="The capability nodes of the MIG instances below /dev/nvidia-caps are missing.",
    fix="Create them: nvidia-smi -L as root once after MIG was set up, or nvidia-modprobe -f /proc/driver/nvidia/capabilities/gpu<n>/mig/gi<n>/access and "
    "…/ci<n>/access for each instance; then restart what listed the devices before (the device plugin, nvidia-cdi-refresh).",
    verify="Each DeviceFileMinor below /proc/driver/nvidia/capabilities/gpu*/mig has its /dev/nvidia-caps/nvidia-cap<minor>.",
    source="NVIDIA MIG user guide, device nodes and capabilities; nvidia-modprobe(1), option -f",
)
def mig_capabilities(facts: Facts, wanted: Wanted) -> Outcome:
    """Where there are MIG instances, their capability nodes exist"""
    if facts.mig_capabilities and facts.missing_capability_nodes is not None:
        return _instances_have_nodes(facts.mig_capabilities, facts.missing_capability_nodes)
    devices = [profile for profiles in facts.mig_profiles or () for profile in profiles]
    if wanted.pin("mig") is None and not devices:
        return not_applicable("MIG is not pinned, and no MIG device is listed")
    if facts.capability_nodes is None:
        return unknown()
    slices = [minor for minor in facts.capability_nodes if minor not in MIG_MANAGEMENT]
    if slices:
        return passed(f"{len(slices)} nodes")
    cause = (
        f"The capability nodes of the MIG devices ({', '.join(devices[:3]) or 'pinned'}) are missing below /dev/nvidia-caps, so "
        "no container can open its slice."
    )
    return failed("capability nodes for the MIG devices", "none below /dev/nvidia-caps", cause=cause)


def _instances_have_nodes(instances: Mapping[str, int], missing: Sequence[str]) -> Outcome:
    """The driver's own list of instances against the nodes that are there."""
    if not missing:
        return passed(f"{len(instances)} nodes")
    without = [name for name, minor in instances.items() if f"/dev/nvidia-caps/nvidia-cap{minor}" in missing]
    cause = (
        f"{len(missing)} of the {len(instances)} capability nodes of the MIG instances are missing below /dev/nvidia-caps ({', '.join(missing[:3])}, of "
        f"{', '.join(without[:3])}): the driver has the instances, but no user or container can open them."
    )
    return failed("a node for each of the driver's MIG instances", "missing: " + ", ".join(missing), cause=cause)
