# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Hardware: the GPU's memory: errors that ECC could not correct, rows and pages taken out of use."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.xid import MEMORY
from ansible_collections.goldnode.gpu.plugins.module_utils.model import HARDWARE
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.nvidia_smi import GpuLog
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.hardware.evidence import named, of_kind, quoted, silence, untold
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, passed, rule

RESET = "Drain the node and reset the GPU (nvidia-smi --gpu-reset -i <GPU>; with MIG or NVLink all its peers) or reboot it"
RMA = "Drain the node and have the GPU replaced (RMA, after NVIDIA's field diagnostics): a reset does not mend it."
PENDING = r"remapped rows/(?:pending|remapped row pending)$"
FAILURE = r"remapped rows/(?:remapping failure occurred|remapped row failure)$"
RETIRING = r"retired pages/(?:pending page blacklist|pending retirement|pending blacklist|pending)$"
UNCORRECTABLE = r"ecc errors/volatile/(?:[^/]*uncorrectable[^/]*|double bit/total|double bit/device memory)$"
UNCORRECTABLE_SAID = r"uncorrectable ECC error|CUDA_ERROR_ECC_UNCORRECTABLE|cudaErrorECCUncorrectable|ECC_DBE"


@rule(
    "hardware.row_remapping_failed",
    layer=HARDWARE,
    probes=("nvidia_smi_q", "dmesg"),
    symptom="Jobs on one GPU die again and again with ECC errors, also after a reset; nvidia-smi -q: 'Remapping Failure Occurred : Yes'; Xid 64.",
    cause="The GPU could not map out a bad memory row: its spare rows are used up, or its memory is broken.",
    fix=RMA,
    verify="nvidia-smi -q -d ROW_REMAPPER of the new GPU shows no failure.",
    source="NVIDIA GPU memory error management; Xid catalogue, Xid 64 and 157; leptonai/gpud #80",
)
def row_remapping_failed(facts: Facts, wanted: Wanted) -> Outcome:
    """No GPU has failed to map out bad memory"""
    broken = [log.pci or "GPU" for log in facts.smi_logs or () if (log.value(FAILURE) or "").lower() == "yes"]
    broken += [row.get("pci.bus_id") or "GPU" for row in facts.smi_query or () if row.get("remapped_rows.failure", "").lower() in ("1", "yes")]
    worn = [log.pci or "GPU" for log in facts.smi_logs or () if (log.value(r"sram threshold exceeded$") or "").lower() == "yes"]
    events = tuple(event for event in of_kind(facts, MEMORY) if event.code in (64, 157))
    if broken or worn or events:
        seen = "; ".join(
            [
                *(f"{gpu}: Remapping Failure Occurred: Yes" for gpu in broken),
                *(f"{gpu}: SRAM Threshold Exceeded: Yes" for gpu in worn),
                *([named(events)] * bool(events)),
            ]
        )
        cause = f"The GPU's memory could not be repaired by row remapping or page retirement ({seen}): the GPU is a candidate for replacement (RMA)."
        return failed("no remapping failure", seen, cause=cause, evidence=quoted(events))
    return passed() if any(log.value(FAILURE) for log in facts.smi_logs or ()) else untold(facts)


@rule(
    "hardware.row_remapping_pending",
    layer=HARDWARE,
    probes=("nvidia_smi_q", "dmesg"),
    symptom="Nothing more than an ECC error in the past; nvidia-smi -q: 'Remapped Rows … Pending : Yes', or retired pages pending; Xid 63.",
    cause="Bad memory was mapped out, but that only takes effect when the GPU is reset.",
    fix=RESET + "; no RMA yet: that is only for 'Remapping Failure Occurred : Yes'.",
    verify="nvidia-smi -q -d ROW_REMAPPER,PAGE_RETIREMENT shows Pending: No.",
    source="NVIDIA GPU memory error management; leptonai/gpud #80",
)
def row_remapping_pending(facts: Facts, wanted: Wanted) -> Outcome:
    """No GPU waits for a reset to map out bad memory"""
    waiting = [f"{log.pci or 'GPU'}: {_pending(log)}" for log in facts.smi_logs or () if _pending(log)]
    waiting += [f"{row.get('pci.bus_id') or 'GPU'}: {name} {row[name]}" for row in facts.smi_query or () for name in row if _is_pending(name, row[name])]
    events = tuple(event for event in of_kind(facts, MEMORY) if event.code in (63, 156))
    told = any(log.value(PENDING) or log.value(RETIRING) for log in facts.smi_logs or ())
    if told and not waiting:
        return passed()
    if waiting or events:
        seen = "; ".join(waiting) or named(events)
        cause = f"Uncorrectable memory errors led to row remapping (or page retirement) that is pending: it is not active until the GPU is reset ({seen})."
        return failed("nothing pending", seen, cause=cause, evidence=quoted(events))
    return untold(facts)


def _pending(log: GpuLog) -> str:
    """What one GPU has pending, with its count of errors; empty if nothing."""
    rows = (log.value(PENDING) or "").lower() == "yes"
    pages = (log.value(RETIRING) or "").lower() == "yes"
    count = log.value(r"remapped rows/(?:uncorrectable error|remapped row unc)$") or "?"
    return f"Remapped Rows Pending: Yes, Uncorrectable Error: {count}" if rows else "Retired Pages Pending: Yes" if pages else ""


def _is_pending(name: str, value: str) -> bool:
    return name in ("remapped_rows.pending", "retired_pages.pending") and value.lower() in ("1", "yes")


@rule(
    "hardware.uncorrectable_memory_error",
    layer=HARDWARE,
    probes=("dmesg", "nvidia_smi_q"),
    symptom="CUDA: 'uncorrectable ECC error encountered' (214), jobs on one GPU die or see 'out of memory'; Xid 48, 94, 95 or 140.",
    cause="The GPU's memory had an error that ECC could not correct.",
    fix=RESET + ", then look at the row remapper (nvidia-smi -q -d ROW_REMAPPER,ECC); if errors come again or remapping fails, have the GPU replaced (RMA). "
    "After Xid 94 (contained) only the named application dies; after 95 (uncontained) or 140 all of the GPU is suspect.",
    verify="After the reset the volatile uncorrectable ECC counts are 0, and stay so under load.",
    source="NVIDIA Xid catalogue, Xid 48, 94, 95, 140; NVIDIA/k8s-device-plugin #243 #267",
)
def uncorrectable_memory_error(facts: Facts, wanted: Wanted) -> Outcome:
    """No GPU had a memory error that ECC could not correct since the driver was loaded"""
    events = tuple(event for event in of_kind(facts, MEMORY) if event.code not in (63, 64, 92, 156, 157))
    counted = [
        f"{log.pci or 'GPU'}: {path.split('ecc errors/')[-1]} {value}"
        for log in facts.smi_logs or ()
        for path, value in log.all(UNCORRECTABLE).items()
        if _some(value)
    ]
    counted += [f"GPU {row.index} {row.pci}: Volatile Uncorr. ECC {row.ecc}" for row in facts.smi_rows or () if _some(row.ecc)]
    counted += [
        f"GPU {row.get('index', '')}: {name} {row[name]}"
        for row in facts.smi_query or ()
        for name in row
        if "uncorrected.volatile" in name and _some(row[name])
    ]
    said = facts.said(UNCORRECTABLE_SAID)
    if events or counted or said:
        seen = "; ".join([*([named(events)] * bool(events)), *counted[:3]]) or (said[1].group(0) if said else "")
        cause = f"The GPU's memory had an uncorrectable (double-bit) ECC error ({seen}): a hardware fault of its DRAM or SRAM, not of the application."
        return failed("no uncorrectable memory error", seen, cause=cause, evidence=quoted(events))
    return silence(facts)


def _some(value: str) -> bool:
    """A count above zero."""
    return bool(re.fullmatch(r"\d+", value)) and int(value) > 0
