# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Hardware: the GPU's place on PCI: on the bus, with address space, on a whole link."""

from __future__ import annotations

import re
from typing import Mapping

from ansible_collections.goldnode.gpu.plugins.module_utils.model import HARDWARE
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.nvidia_smi import GpuLog
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.hardware.evidence import silence, untold
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, passed, rule

LOST = (
    r"GPU(?: at \S+| \S+)? has fallen off the bus|GPU is lost|GPU_IS_LOST|ERROR_GPU_IS_LOST|(?:nvidia"
    r"|vfio-pci) \S+: Unable to change power state from \w+ to D0, device inaccessible"
)
INVALID = r"PCI I/O region assigned to your NVIDIA device is invalid:?\s+(BAR\d is \w+ @ \w+ \([^)]+\))?"
NO_SPACE = r"(?<!\S)(\S+): (BAR ?\d+[^.]{0,60}?(?:can't assign; no space|no space for|failed to assign)(?: \[[^\]]*\])?)"
UNASSIGNED = r"Region \d: Memory at <(?:unassigned|ignored)>"


@rule(
    "hardware.gpu_fell_off_the_bus",
    layer=HARDWARE,
    probes=("dmesg", "nvidia_smi"),
    symptom="nvidia-smi says 'Unable to determine the device handle' or 'GPU is lost'; the kernel log has Xid 79.",
    cause="The GPU has fallen off the bus: the driver cannot reach it over PCIe any more (power, heat, seating, or a broken GPU).",
    fix="Drain the node and power-cycle it (a warm reboot is often not enough); if it comes again, check power supply and cables, temperature, seating and "
    "riser, SBIOS and VBIOS, try lower clocks (nvidia-smi -lgc) to confirm a power or thermal cause, and have the GPU replaced (RMA).",
    verify="After the power cycle the kernel log since boot holds no 'fallen off the bus'.",
    source="NVIDIA Xid catalogue, Xid 79 (docs.nvidia.com/deploy/xid-errors); NVIDIA/open-gpu-kernel-modules #507",
)
def gpu_fell_off_the_bus(facts: Facts, wanted: Wanted) -> Outcome:
    """No GPU has fallen off the bus since boot"""
    events = tuple(event for event in facts.xids or () if 79 in (event.code, event.cause))
    said = facts.told(LOST)
    if events or said:
        devices = ", ".join(dict.fromkeys(event.device for event in events))
        quote = f"Xid 79 on {devices}" if events else said.group(0) if said else ""
        cause = (
            f"The GPU{f' at {devices}' if devices else ''} has fallen off the bus ({quote}): it dropped off PCIe and the driver cannot reach it any more, "
            "whatever the kind of driver; power, heat (thermals), seating or riser, PCIe or its firmware (SBIOS), or a broken GPU."
        )
        return failed("no GPU fallen off the bus", quote, cause=cause, evidence=tuple(event.text for event in events[:3] if event.text))
    if re.search(r"\(rev ff\)", facts.bundle.text("lspci_nnk") or ""):
        return failed(
            "every GPU answers on PCI", "lspci: (rev ff)", cause="lspci reads only ones from the GPU (rev ff): it has fallen off the bus, or has no power."
        )
    return silence(facts)


# drivers/pci/setup-bus.c; a window of this size is a compute GPU's (its BAR1), other devices' small ones are lost without harm.
NO_WINDOW = r"bridge window \[mem size 0x[0-9a-f]+ 64bit pref\]: (?:can't assign; no space|failed to assign)"
LARGE_WINDOW = 1 << 32


def _is_large(window: str) -> bool:
    """Whether a prefetchable bridge window that got no place is as large as a compute GPU's memory needs it."""
    return int(window.partition("size ")[2].split()[0], 16) >= LARGE_WINDOW


@rule(
    "hardware.bar_has_address_space",
    layer=HARDWARE,
    probes=("dmesg", "lspci_nnk"),
    symptom="Some or all GPUs are missing in nvidia-smi, though lspci lists them; NVRM: 'This PCI I/O region assigned to your NVIDIA device is invalid'.",
    cause="Firmware or hypervisor gave the GPU no address space for a BAR.",
    fix="On bare metal enable Above 4G Decoding (64-bit MMIO) and resizable BAR support in the SBIOS, update it, and try pci=realloc (or "
    "pci=realloc=off; for a bridge window hpmmiosize) on the "
    "kernel's command line. In a VM boot with EFI firmware, give it a large enough 64-bit MMIO window (ESXi: pciPassthru.use64bitMMIO=TRUE and "
    "pciPassthru.64bitMMIOSizeGB; QEMU: a larger X-PciMmio64Mb or pci hole) with all memory reserved, and power-cycle the VM.",
    verify="lspci -vv shows an address and a size for each Region of each GPU; the kernel log has no invalid I/O region.",
    source="kernel-open/nvidia/nv-pci.c; NVIDIA/gpu-operator #492; NVIDIA/open-gpu-kernel-modules #862",
)
def bar_has_address_space(facts: Facts, wanted: Wanted) -> Outcome:
    """Each GPU has address space for its BARs"""
    words, gpus = facts.nvrm or "", {gpu.address for gpu in facts.pci_gpus or ()}
    invalid = [bar or "a PCI I/O region is invalid" for bar in re.findall(INVALID, words)]
    # Other devices lose option ROMs without harm: a BAR that the kernel could not place counts only if it is known to be a GPU's.
    invalid += [bar for device, bar in re.findall(NO_SPACE, words) if device in gpus or (invalid and f"PCI:{device}" in words)]
    invalid += [] if facts.smi_works else [window for window in re.findall(NO_WINDOW, facts.bundle.text("dmesg") or "") if _is_large(window)]
    invalid += re.findall(UNASSIGNED, facts.bundle.text("lspci_nnk") or "")
    if invalid:
        quote = "; ".join(dict.fromkeys(item.strip() for item in invalid[:4]))
        cause = (
            f"The GPU's PCI address space is not assigned ({quote}): BIOS firmware or hypervisor did not give it a (64-bit) MMIO window for it "
            "(BIOS settings, or a bridge window that is too small), "
            "so the driver's probe of this GPU fails while others may work."
        )
        return failed("address space for each BAR", quote, cause=cause)
    return silence(facts)


@rule(
    "hardware.pcie_errors",
    layer=HARDWARE,
    probes=("dmesg",),
    symptom="GPU jobs hang or die, the GPU is lost now and then; the kernel log has AER lines of the GPU.",
    cause="The PCIe link to the GPU has uncorrected errors.",
    fix="Drain the node; reseat the GPU and its riser or retimer, update SBIOS and VBIOS, and replace the part whose errors stay.",
    verify="After a day of load the kernel log has no new AER line of the GPU.",
    source="Linux Documentation/PCI/pcieaer-howto.rst",
)
def pcie_errors(facts: Facts, wanted: Wanted) -> Outcome:
    """The kernel has reported no uncorrected PCIe error of a GPU"""
    lines = [line.strip() for line in (facts.system_log or "").splitlines() if _is_uncorrected(facts, line)]
    if lines:
        cause = f"The PCIe link of the GPU has uncorrected errors (AER): {lines[0]}: bad seating, riser, retimer, slot or GPU."
        return failed("no uncorrected PCIe error", lines[0], cause=cause, evidence=tuple(lines[:3]))
    return silence(facts)


def _is_uncorrected(facts: Facts, line: str) -> bool:
    """An AER line that the nvidia driver's device got, or that a port received from a GPU."""
    if re.search(r"\bnvidia [0-9a-f:.]+: (?:AER: )?PCIe Bus Error: severity=Uncorrected", line):
        return True
    received = re.search(r"Uncorrected \((?:Non-)?Fatal\) error (?:message )?received: (?:from )?(\S+)", line)
    return bool(received) and any(received.group(1) == gpu.address for gpu in facts.pci_gpus or ()) if received else False


@rule(
    "hardware.pcie_link",
    layer=HARDWARE,
    probes=("nvidia_smi_q",),
    symptom="Copies between host and GPU take a multiple of their time on one GPU only; training is slow though the GPU is busy.",
    cause="The GPU's PCIe link runs on fewer lanes than it could.",
    fix="Drain the node; reseat the GPU and its riser, look at the slot's bifurcation in the SBIOS, move the GPU to another slot to see whether the "
    "fault moves.",
    verify="nvidia-smi -q -d PCIE (or lspci -vv, LnkSta) shows the full width under load.",
    source="nvidia-smi(1), GPU Link information: the generation falls when idle, the width does not",
    severity="warning",
)
def pcie_link(facts: Facts, wanted: Wanted) -> Outcome:
    """Each GPU's PCIe link has all its lanes"""
    widths = {log.pci or "GPU": _width(log) for log in facts.smi_logs or ()}
    widths.update({row.get("pci.bus_id") or f"GPU {row.get('index', '')}": _queried_width(row) for row in facts.smi_query or ()})
    known = {gpu: (now, full) for gpu, (now, full) in widths.items() if now and full}
    narrow = [
        f"{gpu} x{now} of x{full}" for gpu, (now, full) in known.items() if now < full and (now * 4 <= full or any(one == most for one, most in known.values()))
    ]
    narrow += re.findall(r"LnkSta:[^\n]*Width x\d+ \(downgraded\)", facts.bundle.text("lspci_vv") or "")
    if narrow:
        return failed("all lanes", "; ".join(narrow), cause=f"The GPU's PCIe link is degraded: {'; '.join(narrow)} lanes.", confidence="medium")
    return passed(", ".join(f"x{now}" for now, _full in known.values())) if known else untold(facts)


def _width(log: GpuLog) -> tuple[int, int]:
    """Current and greatest number of lanes of one GPU's log; 0 where it is not told."""
    return _lanes(log.value(r"link widths?/(?:current|current link width)$")), _lanes(log.value(r"link widths?/(?:max|max link width)$"))


def _queried_width(row: Mapping[str, str]) -> tuple[int, int]:
    return _lanes(row.get("pcie.link.width.current")), _lanes(row.get("pcie.link.width.max"))


def _lanes(text: str | None) -> int:
    """`16x` or `16` -> 16."""
    match = re.match(r"\d+", text or "")
    return int(match.group()) if match else 0
