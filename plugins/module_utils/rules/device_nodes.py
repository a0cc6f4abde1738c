# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Device nodes: /dev/nvidia*, as the kernel's drivers have registered them."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.model import DEVICE_NODES
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown

# Linux Documentation/admin-guide/devices.txt: 195 char is nvidia's; nvidia-uvm has a dynamic major.
NVIDIA_MAJOR = 195
CREATE = "Create them at boot: nvidia-modprobe -c 0 -u (nvidia-persistenced does so too); a udev or tmpfiles rule that removes or changes them must go."


def missing_nodes(facts: Facts) -> list[str] | None:
    """The nodes that should be there and are not: one for each GPU, the control node, nvidia-uvm. None: not known."""
    if facts.device_nodes is None or facts.pci_gpus is None:
        return None
    expected = ["/dev/nvidiactl", "/dev/nvidia-uvm", *(f"/dev/nvidia{index}" for index in range(len(facts.pci_gpus)))]
    return [path for path in expected if path not in facts.device_nodes]


def wrong_majors(facts: Facts) -> list[str] | None:
    """The nodes that lead to no driver or to another one. None: not known."""
    if facts.device_nodes is None or facts.majors is None:
        return None
    uvm = facts.majors.get("nvidia-uvm")
    wrong = []
    for path, node in sorted(facts.device_nodes.items()):
        expected = uvm if path.startswith("/dev/nvidia-uvm") else NVIDIA_MAJOR
        if node.kind != "c" or node.major != expected:
            wrong.append(f"{path} is {node.kind} {node.major}, its driver has major {expected}")
    return wrong


@rule(
    "device_nodes.present",
    layer=DEVICE_NODES,
    probes=("ls_dev_nvidia", "lspci_nnk"),
    symptom="CUDA: 'no CUDA-capable device is detected' (100) or 'unknown error' (999), though the driver is loaded; containers miss a device.",
    cause="A device node is missing: nothing created it at boot, or somebody removed it.",
    fix=CREATE,
    verify="ls -l /dev/nvidia* shows nvidiactl, nvidia-uvm and one node for each GPU.",
    source="nvidia-modprobe(1); NVIDIA/enroot #106",
)
def nodes_present(facts: Facts, wanted: Wanted) -> Outcome:
    """The control node, nvidia-uvm and one node for each GPU exist"""
    missing = missing_nodes(facts)
    if missing is None:
        return unknown()
    return failed("all nodes", "missing: " + ", ".join(missing)) if missing else passed(", ".join(sorted(facts.device_nodes or ())))


@rule(
    "device_nodes.major",
    layer=DEVICE_NODES,
    probes=("ls_dev_nvidia", "proc_devices"),
    symptom="open() of the node fails with ENXIO, CUDA says 'unknown error' (999); the node is there and its mode is right.",
    cause="A device node leads to another major than the one that its driver has registered, for example one made by hand or kept from another boot.",
    fix="Remove the wrong node and create it again: rm <node>; nvidia-modprobe -c 0 -u.",
    verify="The majors of ls -l /dev/nvidia* are those of grep nvidia /proc/devices.",
    source="Linux Documentation/admin-guide/devices.txt (195); nvidia-uvm's major is dynamic",
)
def nodes_have_their_major(facts: Facts, wanted: Wanted) -> Outcome:
    """Each node is a character device with its driver's major"""
    wrong = wrong_majors(facts)
    if wrong is None:
        return unknown()
    return failed("character devices with their drivers' majors", "; ".join(wrong)) if wrong else passed()


@rule(
    "device_nodes.mode",
    layer=DEVICE_NODES,
    probes=("ls_dev_nvidia",),
    symptom="CUDA works for root and says 'no device' or 'unknown error' for everybody else, rootless containers included.",
    cause="A device node may not be read and written by all users.",
    fix="Set mode 0666 (the driver's default, NVreg_DeviceFileMode) and remove the udev rule or module option that narrows it.",
    verify="ls -l /dev/nvidia* shows crw-rw-rw-.",
    source="NVIDIA driver README, NVreg_DeviceFileMode; NVIDIA/nvidia-docker #1608",
)
def nodes_are_open_to_all(facts: Facts, wanted: Wanted) -> Outcome:
    """Each node has mode 0666"""
    if facts.device_nodes is None:
        return unknown()
    narrow = [f"{path} {node.mode:04o}" for path, node in sorted(facts.device_nodes.items()) if node.mode & 0o666 != 0o666]
    return failed("0666", ", ".join(narrow)) if narrow else passed("0666")


@rule(
    "device_nodes.mig_capabilities",
    layer=DEVICE_NODES,
    probes=("ls_dev_nvidia_caps",),
    symptom="MIG devices are listed, but a container or a user cannot open its slice.",
    cause="The capability nodes of the MIG devices below /dev/nvidia-caps are missing.",
    fix="Create them: nvidia-modprobe -f /proc/driver/nvidia/capabilities/mig/config, or nvidia-smi -L as root once after MIG was set up.",
    verify="ls /dev/nvidia-caps lists nvidia-cap nodes beyond 1 and 2.",
    source="NVIDIA MIG user guide, device nodes and capabilities",
)
def mig_capabilities(facts: Facts, wanted: Wanted) -> Outcome:
    """Where MIG is pinned, its capability nodes exist"""
    if wanted.pin("mig") is None:
        return not_applicable("MIG is not pinned")
    if not facts.bundle.looked("ls_dev_nvidia_caps"):
        return unknown()
    nodes = [line.rsplit("nvidia-cap", 1)[-1] for line in (facts.bundle.text("ls_dev_nvidia_caps") or "").splitlines()]
    slices = [number for number in nodes if number.isdigit() and int(number) > 2]
    return passed(f"{len(slices)} nodes") if slices else failed("capability nodes for the MIG devices", "none below /dev/nvidia-caps")
