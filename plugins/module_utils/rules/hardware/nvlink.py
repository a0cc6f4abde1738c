# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Hardware: NVLink between the GPUs, and the NVSwitches."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.xid import LINK, SXIDS
from ansible_collections.goldnode.gpu.plugins.module_utils.model import HARDWARE
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import xid
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.hardware.evidence import named, of_kind, quoted, silence
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, rule

# An application may cause 137; 149 is the link's own event, to which the others are reactions.
OF_APPLICATION = 137
OF_LINK_ITSELF = (149, 74, 136)
UNCORRECTABLE = r"uncorrectable NVLink error|cudaErrorNvlinkUncorrectable|CUDA_ERROR_NVLINK_UNCORRECTABLE"


@rule(
    "hardware.nvlink_errors",
    layer=HARDWARE,
    probes=("dmesg",),
    symptom="NCCL hangs or dies on several GPUs at once; Xid 74 (before Blackwell) or 144 to 150, often with Xid 45 on the other GPUs; links are inactive.",
    cause="An NVLink failed.",
    fix="Drain the node and reboot it (or reset all GPUs of the NVLink domain and restart the fabric manager) to recover; if it comes again on the same GPU or "
    "link, service that NVLink path: reseat bridge, GPU or baseboard, and have the part replaced (RMA).",
    verify="nvidia-smi nvlink -s shows all links with their speed, nvidia-smi nvlink -e no new errors.",
    source="NVIDIA Xid catalogue, Xid 74 and 144 to 150; NVIDIA/open-gpu-kernel-modules #1150 #1355",
)
def nvlink_errors(facts: Facts, wanted: Wanted) -> Outcome:
    """No NVLink has failed since boot"""
    events = tuple(event for event in of_kind(facts, LINK) if event.code != OF_APPLICATION and "Nonfatal" not in event.text)
    said = facts.said(UNCORRECTABLE)
    if not events:
        return failed("no NVLink error", said[1].group(0), cause=f"CUDA saw an {said[1].group(0)}: an NVLink failed.") if said else silence(facts)
    first = next((event for code in OF_LINK_ITSELF for event in events if event.code == code), events[0])
    others = ", ".join(dict.fromkeys(event.device for event in facts.xids or () if event.device != first.device))
    links = facts.bundle.text("nvidia_smi_nvlink") or ""
    down = ", and NVLinks are inactive" if "inactive" in links.lower() else ""
    consequence = f"; the Xids on {others} are only a consequence of it" if others else "; Xid 45 after it is only a consequence"
    cause = f"An NVLink fault on the GPU at {first.device}: {named((first,))}{down}{consequence}, not a fault of the application."
    return failed("no NVLink error", named(events), cause=cause, evidence=quoted(events))


@rule(
    "hardware.nvswitch_errors",
    layer=HARDWARE,
    probes=("dmesg",),
    symptom="All GPUs of an NVSwitch system lose CUDA or NCCL at once; the kernel log has SXid lines.",
    cause="An NVSwitch reported a fatal error.",
    fix="Drain the node, restart the fabric manager and reset all GPUs, or reboot; if the same switch or link reports again, have the baseboard "
    "serviced (RMA).",
    verify="After the reboot the kernel log has no fatal SXid, and nvidia-smi -q shows Fabric State: Completed.",
    source="NVIDIA Fabric Manager user guide, appendix D",
)
def nvswitch_errors(facts: Facts, wanted: Wanted) -> Outcome:
    """No NVSwitch has reported a fatal error since boot"""
    fatal = tuple(event for event in facts.sxids or () if _is_fatal(event))
    if fatal:
        name = SXIDS.get(fatal[0].code, ("not in the catalogue", True))[0]
        cause = f"The NVSwitch at {fatal[0].device} reported a fatal error: SXid {fatal[0].code} ({name}), {fatal[0].text}."
        return failed("no fatal SXid", f"SXid {fatal[0].code} on {fatal[0].device}", cause=cause, evidence=tuple(event.text for event in fatal[:3]))
    return silence(facts)


def _is_fatal(event: xid.Event) -> bool:
    """What the line says counts; where it says nothing, the catalogue."""
    words = event.text.lower()
    return "fatal" in words and "non-fatal" not in words if "fatal" in words else SXIDS.get(event.code, ("", False))[1]
