# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Hardware: the GPU's place on PCI: on the bus, with address space, on a whole link."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.model import HARDWARE
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.hardware.evidence import silence, untold
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, passed, rule

LOST = r"GPU(?: at \S+| \S+)? has fallen off the bus|GPU is lost|GPU_IS_LOST|ERROR_GPU_IS_LOST"
NO_SPACE = (
    r"PCI I/O region assigned to your NVIDIA device is invalid:?\s+(?P<what>BAR\d is \w+ @ \w+ \((?P<device>[^)]+)\))?"
    r"|(?P<bar>BAR ?\d[^.]{0,60}(?:can't assign; no space|no space for|failed to assign)[^.]{0,40})"
)
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


@rule(
    "hardware.bar_has_address_space",
    layer=HARDWARE,
    probes=("dmesg", "lspci_nnk"),
    symptom="Some or all GPUs are missing in nvidia-smi, though lspci lists them; NVRM: 'This PCI I/O region assigned to your NVIDIA device is invalid'.",
    cause="Firmware or hypervisor gave the GPU no address space for a BAR.",
    fix="On bare metal enable Above 4G Decoding (64-bit MMIO) and resizable BAR support in the SBIOS, update it, and try pci=realloc (or "
    "pci=realloc=off) on the "
    "kernel's command line. In a VM boot with EFI firmware, give it a large enough 64-bit MMIO window (ESXi: pciPassthru.use64bitMMIO=TRUE and "
    "pciPassthru.64bitMMIOSizeGB; QEMU: a larger X-PciMmio64Mb or pci hole) with all memory reserved, and power-cycle the VM.",
    verify="lspci -vv shows an address and a size for each Region of each GPU; the kernel log has no invalid I/O region.",
    source="kernel-open/nvidia/nv-pci.c; NVIDIA/gpu-operator #492; NVIDIA/open-gpu-kernel-modules #862",
)
def bar_has_address_space(facts: Facts, wanted: Wanted) -> Outcome:
    """Each GPU has address space for its BARs"""
    words = facts.nvrm or ""
    invalid = [match.group("what") or match.group("bar") or "a PCI I/O region is invalid" for match in re.finditer(NO_SPACE, words) if _is_of_gpu(facts, match)]
    invalid += re.findall(UNASSIGNED, facts.bundle.text("lspci_nnk") or "")
    if invalid:
        quote = "; ".join(dict.fromkeys(item.strip() for item in invalid[:4]))
        cause = (
            f"The GPU's PCI address space is not assigned ({quote}): BIOS firmware or hypervisor did not give it a (64-bit) MMIO window for its BAR1, "
            "so the driver's probe of this GPU fails while others may work."
        )
        return failed("address space for each BAR", quote, cause=cause)
    return silence(facts)


def _is_of_gpu(facts: Facts, match: re.Match[str]) -> bool:
    """A BAR that the kernel could not place counts only if it is known to be a GPU's: other devices lose option ROMs without harm."""
    if not match.group("bar"):
        return True
    before = match.string[max(0, match.start() - 60) : match.start()]
    return any(gpu.address in before for gpu in facts.pci_gpus or ())


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
    pattern = r"\bnvidia \S+: (?:AER|PCIe Bus Error)[^\n]*(?:Uncorrect|severity=(?:Uncorrected|Fatal))[^\n]*|device \[10de:\w{4}\] error status/mask=\S+[^\n]*"
    found = [line for line in (facts.system_log or "").splitlines() if re.search(pattern, line) and not re.search(r"severity=Corrected", line)]
    fatal = [line.strip() for line in found if "device [10de" not in line or re.search(r"Uncorrected", facts.system_log or "")]
    if fatal:
        cause = f"The PCIe link of the GPU has uncorrected errors (AER): {fatal[0]}: bad seating, riser, retimer, slot or GPU."
        return failed("no uncorrected PCIe error", fatal[0], cause=cause, evidence=tuple(fatal[:3]))
    return silence(facts)


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
    narrow = [f"{log.pci or 'GPU'} x{now} of x{full}" for log in facts.smi_logs or () for now, full in [_width(log.value)] if now and full and now < full]
    rows = [row for row in facts.smi_query or () if row.get("pcie.link.width.current", "").isdigit() and row.get("pcie.link.width.max", "").isdigit()]
    narrow += [
        f"{row.get('pci.bus_id') or row.get('index') or 'GPU'} x{row['pcie.link.width.current']} of x{row['pcie.link.width.max']}"
        for row in rows
        if int(row["pcie.link.width.current"]) < int(row["pcie.link.width.max"])
    ]
    narrow += re.findall(r"LnkSta:[^\n]*Width x\d+ \(downgraded\)", facts.bundle.text("lspci_vv") or facts.bundle.text("lspci_nnk") or "")
    if narrow:
        return failed("all lanes", "; ".join(narrow), cause=f"The GPU's PCIe link is degraded: {'; '.join(narrow)} lanes.", confidence="medium")
    wide = [width for log in facts.smi_logs or () if (width := _width(log.value)) != (0, 0)]
    return passed() if wide or rows else untold(facts)


def _width(value: object) -> tuple[int, int]:
    """Current and greatest number of lanes of one GPU's log; 0 where it is not told."""
    texts = (value(rf"link widths?/(?:{word}|{word} link width)$") or "" for word in ("current", "max"))  # type: ignore[operator]
    now, full = (int(text.rstrip("xX")) if text.rstrip("xX").isdigit() else 0 for text in texts)
    return now, full
