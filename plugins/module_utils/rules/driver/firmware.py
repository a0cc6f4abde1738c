# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Driver: the GPU's firmware that it loads (GSP), and GPUs that it cannot initialise."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.nv_status import STATUSES
from ansible_collections.goldnode.gpu.plugins.module_utils.model import DRIVER
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import nvrm
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.hardware.evidence import silence
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, rule

GSP_XIDS = (119, 120)
TIMEOUT = r"Timeout (?:after \d+s of )?waiting for RPC (?:from|response from) (?:GPU\d+ )?GSP"
MISSING = (
    r"Direct firmware load for nvidia/\S*gsp\S* failed with error -?\d+|loading \S*nvidia/\S*gsp\S* failed with error -?\d+"
    r"|failed to load \S*(?:gsp\S*|firmware image)[^.]{0,60}|firmware: failed to load nvidia/\S+gsp\S*"
)
NOT_BOOTED = (
    r"Cannot initialize GSP firmware RM|_?kgspBootGspRm[^.]{0,80}|unexpected WPR2 already up|kgspWaitForGfwBootOk\w*: failed[^.]{0,60}"
    r"|failed to wait for GFW_BOOT[^.]{0,40}|GSP RM (?:heartbeat|bootup) (?:timed out|failed)"
)


@rule(
    "driver.gsp_firmware_present",
    layer=DRIVER,
    probes=("dmesg",),
    symptom="nvidia-smi: 'No devices were found'; the kernel log: firmware nvidia/<version>/gsp_*.bin could not be loaded.",
    cause="The firmware file that the module loads onto the GPU's GSP is missing or of another version.",
    fix="Install the firmware package of exactly the driver's version (nvidia-firmware-<branch>-<version>, firmware-nvidia-gsp, linux-firmware-nvidia), "
    "which puts "
    "gsp_*.bin into /lib/firmware/nvidia/<version>; renew the initramfs if the module loads from there; reboot.",
    verify="ls /lib/firmware/nvidia/<version>/gsp_*.bin; nvidia-smi -q shows the GSP Firmware Version.",
    source="NVIDIA driver README, GSP firmware; NVIDIA/open-gpu-kernel-modules #943",
)
def gsp_firmware_present(facts: Facts, wanted: Wanted) -> Outcome:
    """The module finds its GSP firmware"""
    match = facts.told(MISSING)
    if match:
        version = facts.driver_version or "the driver's version"
        cause = f"The GSP firmware file of {version} is missing or cannot be read ({match.group(0).strip()}), so the module cannot initialise the GPU."
        return failed("the GSP firmware", match.group(0).strip(), cause=cause)
    return silence(facts)


@rule(
    "driver.gsp_answers",
    layer=DRIVER,
    probes=("dmesg",),
    symptom="nvidia-smi and CUDA hang for 45 s at each call; the container hook says 'driver rpc error: timed out'; Xid 119 or 120.",
    cause="The driver's firmware on the GPU (GSP) hangs.",
    fix="Drain the node and power-cycle or reset the GPU; upgrade the driver to the newest release of its branch (the first releases of 525 hang; "
    "525.105.17 and newer do "
    "not), or turn the GSP off where the proprietary module allows it: options nvidia NVreg_EnableGpuFirmware=0; if it stays, test the GPU (RMA).",
    verify="The kernel log has no new Xid 119 or 120 under load.",
    source="NVIDIA Xid catalogue, Xid 119 and 120; NVIDIA/open-gpu-kernel-modules #446; NVIDIA/nvidia-docker #1648",
)
def gsp_answers(facts: Facts, wanted: Wanted) -> Outcome:
    """The GPU's GSP firmware answers the driver"""
    events = [event for event in facts.xids or () if event.code in GSP_XIDS or event.cause in GSP_XIDS]
    match = facts.told(TIMEOUT) or facts.told(NOT_BOOTED)
    if not events and not match:
        return silence(facts)
    seen = f"Xid {events[0].code} on {events[0].device}" if events else match.group(0).strip() if match else ""
    if events:
        cause = (
            f"The GSP firmware of driver {facts.driver_version or '(version not told)'} stopped answering on the GPU at {events[0].device} ({seen}, GSP "
            f"RPC timeout): a driver "
            "(GSP-RM) bug of some releases, or the GPU itself; every client times out because of it, the container hook too."
        )
        return failed("a GSP that answers", seen, cause=cause, decided_by="the same load with a newer driver, or with NVreg_EnableGpuFirmware=0")
    cause = (
        f"The driver could not boot the GSP firmware on the GPU ({seen}): the GPU is in a bad state left from before (needs a reset or full power "
        f"cycle), or its firmware (VBIOS) does not fit."
    )
    remedy = (
        "Power the node off completely and on (a VM: the host, since passthrough without function-level reset keeps the state), then try another driver "
        "version, the "
        "other kind of module, and a newer SBIOS and VBIOS; a GPU that still does not boot its GSP is broken (RMA)."
    )
    return failed("a GSP that boots", seen, cause=cause, remedy=remedy, confidence="medium", decided_by="a full power cycle; the GPU in another machine")


@rule(
    "driver.initialises_gpus",
    layer=DRIVER,
    probes=("dmesg",),
    symptom="nvidia-smi: 'No devices were found'; NVRM: 'RmInitAdapter failed!'; opening /dev/nvidia0 gives an I/O error.",
    cause="The driver cannot initialise the GPU.",
    fix="Power-cycle the machine; try another driver version and the other kind of module; in a VM check passthrough; look for hardware faults.",
    verify="The kernel log has no 'RmInitAdapter failed' since boot, and nvidia-smi -L lists the GPU.",
    source="NVIDIA/open-gpu-kernel-modules #326 #789; NVIDIA/gpu-operator #649; knowledge/nv_status.py",
)
def initialises_gpus(facts: Facts, wanted: Wanted) -> Outcome:
    """The driver initialises the GPUs"""
    failures = nvrm.adapter_failures(facts.nvrm or "")
    if not failures:
        return silence(facts)
    name, meaning = STATUSES.get(failures[0].status or 0, ("unknown", "no meaning is known for this status"))
    device = failures[0].device or "the GPU"
    virtual = facts.virtual_machine
    place = " In this VM the passthrough (IOMMU, BARs, MSI, a missing function-level reset) is the likely reason." if virtual else ""
    cause = (
        f"The driver {facts.driver_version or ''} cannot initialise the GPU {device}: RmInitAdapter failed! ({failures[0].code}), NV_ERR_{name}: "
        f"{meaning}.{place}"
    )
    remedy = (
        "Power the machine off and on (a VM: its host too)"
        + (
            ", check the hypervisor's passthrough: IOMMU on, whole IOMMU group, 64-bit MMIO, q35 and EFI, hidden hypervisor state, reset method"
            if virtual
            else ""
        )
        + "; then try another driver version or branch and the other kind of module (open or proprietary), update SBIOS, and check PCIe seating and "
        "power of the GPU."
    )
    return failed(
        "a GPU that initialises",
        f"RmInitAdapter failed! ({failures[0].code})",
        cause=cause,
        remedy=remedy,
        confidence="medium",
        decided_by="another driver version; the GPU in another machine",
    )
