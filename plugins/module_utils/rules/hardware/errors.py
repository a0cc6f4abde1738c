# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Hardware: GPUs that are in an error state, by their own word, by nvidia-smi's or by an Xid of no other rule; and the Xids that are none."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.nv_status import OF_THE_GPU, STATUSES
from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.xid import APPLICATION, GPU, XIDS
from ansible_collections.goldnode.gpu.plugins.module_utils.model import HARDWARE
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import nvrm
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.nvidia import pci_address
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.device_nodes import wrong_majors
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.hardware.evidence import named, of_kind, quoted, silence, untold
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule

BAD_FIELD = re.compile(r"\[?(GPU requires reset|Unknown Error|GPU is lost|Reset Required)\]?", re.I)
RELAYED = (
    r"detection error: nvml error: (?:unknown error|irq issue|timeout|memory error)|nvml error: (?:gpu requires reset|reset required"
    r"|insufficient (?:external )?power)"
)
RECOVERY = re.compile(r"to 0x\w+ \(((?:GPU Reset|Node Reboot|Drain)[^)]*)\)")
NO_HANDLE = r"Unable to determine the device handle for GPU\s?(?:\d+: )?(?P<device>[0-9A-Fa-f]+:[0-9A-Fa-f:]+\.\d): (?P<why>[^\n.]+)"


@rule(
    "hardware.gpu_error",
    layer=HARDWARE,
    probes=("dmesg",),
    symptom="Jobs on one GPU hang or die until it is reset; an Xid of NVIDIA's catalogue that asks for a reset, a reboot or support.",
    cause="The GPU reported an error of its own.",
    fix="Drain the node and reset the GPU (nvidia-smi --gpu-reset -i <GPU>) or reboot; contact the vendor if it comes again.",
    verify="After the reset the kernel log has no new Xid under load.",
    source="NVIDIA Xid catalogue (docs.nvidia.com/deploy/xid-errors)",
)
def gpu_error(facts: Facts, wanted: Wanted) -> Outcome:
    """No GPU has reported an error of its own since boot"""
    events = tuple(event for event in of_kind(facts, GPU) if event.code not in (54, 79))
    if not events:
        return _of_applications(facts)
    worst = XIDS[events[0].code]
    return failed(
        "no Xid of the GPU itself",
        named(events),
        cause=f"The GPU reported {named(events)}: an error of the GPU or its firmware, not of the application.",
        remedy=f"NVIDIA's catalogue says: {worst.action}. If it comes again, check temperature, power and seating, try another driver version, and "
        f"contact the vendor (RMA).",
        evidence=quoted(events),
        decided_by="the same load on the same GPU with another driver version: a fault that stays is the GPU's",
    )


def _of_applications(facts: Facts) -> Outcome:
    """No error of the GPU; Xids that applications cause are explained."""
    events, calm = of_kind(facts, APPLICATION), silence(facts)
    if not events:
        return calm
    cause = (
        f"{named(events)}: as a rule an error of the application that ran, or the consequence of an earlier Xid; by itself no fault of the node. "
        f"Restart the application; "
        "suspect the GPU only if it repeats this with different applications, and the driver if many nodes of one driver version do and others do not."
    )
    return calm._replace(cause=cause)


@rule(
    "hardware.gpu_in_error_state",
    layer=HARDWARE,
    probes=("nvidia_smi", "nvidia_smi_query"),
    symptom="nvidia-smi shows ERR!, [Unknown Error] or 'GPU requires reset' for one GPU; often no container with any GPU starts: 'nvml error: unknown error'.",
    cause="A GPU is in an error state.",
    fix="Drain the node and reset that GPU (nvidia-smi --gpu-reset -i <GPU>) or reboot, with a full power cycle if it stays; remove or replace (RMA) "
    "the GPU if it "
    "comes again. To go on with the others until then, unbind it: echo <address> > /sys/bus/pci/drivers/nvidia/unbind.",
    verify="nvidia-smi shows no ERR! and nvidia-smi -q no 'Reset Required: Yes'.",
    source="NVIDIA/dcgm-exporter #46 #604; NVIDIA/nvidia-docker #1553; nvidia-smi(1), GPU recovery action",
)
def gpu_in_error_state(facts: Facts, wanted: Wanted) -> Outcome:
    """nvidia-smi reads every field of every GPU, and no GPU asks for a reset"""
    bad = [*_in_table(facts), *_in_query(facts), *_in_log(facts), *_in_kernel_log(facts)]
    relayed = facts.told(RELAYED) if not (bad or facts.smi_works) else None
    if relayed:
        return _relayed(relayed.group(0))
    if bad:
        cause = (
            f"A GPU is in an error state ({'; '.join(bad[:4])}); tools that enumerate all GPUs, such as nvidia-container-cli, then fail for every "
            "container, also for healthy GPUs."
        )
        return failed("no GPU in an error state", "; ".join(bad), cause=cause)
    return passed(**_flicker(facts)) if facts.smi_rows or facts.gpus or facts.smi_logs else untold(facts)


def _flicker(facts: Facts) -> dict[str, str]:
    """What a GPU means that could not read one sensor just now."""
    rows = [row for row in facts.smi_rows or () if row.errors == 1]
    if not rows:
        return {}
    gpus = ", ".join(f"GPU {row.index} at {row.pci}" for row in rows)
    words = "one reading, of power or fan as a rule, that failed just then: transient and harmless while the GPU computes and all other fields are read"
    return {
        "cause": f"A single ERR! of {gpus} is {words}.",
        "remedy": "Nothing to repair; run nvidia-smi again, and reset the GPU only if ERR! spreads to other fields.",
    }


def _relayed(words: str) -> Outcome:
    """The container hook asked every GPU, and one did not answer properly."""
    cause = (
        f"The container hook found a GPU in an error state while it enumerated all GPUs of the host ({words}): one bad GPU blocks every container, "
        f"healthy GPUs too."
    )
    return failed(
        "no GPU in an error state",
        words,
        cause=cause,
        confidence="medium",
        decided_by="nvidia-smi on the host: ERR!, or a GPU that it cannot open; dmesg | grep Xid",
    )


def _in_table(facts: Facts) -> list[str]:
    """GPUs of which nvidia-smi's table cannot read a field, and one that it cannot open at all."""
    # NVML says the same of a GPU whose device node leads elsewhere.
    match = None if wrong_majors(facts) else facts.told(NO_HANDLE)
    unopened = [f"GPU at {pci_address(match.group('device'))}: {match.group('why').strip()}"] if match else []
    return [f"GPU {row.index} at {row.pci}: ERR!" for row in facts.smi_rows or () if row.errors > 1] + unopened


def _in_query(facts: Facts) -> list[str]:
    rows = facts.smi_query or ()
    return [f"GPU {row.get('index') or row.get('pci.bus_id') or '?'}: {match.group(1)}" for row in rows if (match := BAD_FIELD.search(", ".join(row.values())))]


def _in_log(facts: Facts) -> list[str]:
    """GPUs that ask for a reset or another action."""
    found = []
    for log in facts.smi_logs or ():
        action = log.value(r"gpu recovery action$") or "None"
        found += [f"{log.pci or 'GPU'}: GPU Recovery Action {action}"] if action.lower() not in ("none", "n/a") else []
        found += [f"{log.pci or 'GPU'}: Reset Required"] if (log.value(r"reset required$") or "").lower() == "yes" else []
    return found


def _in_kernel_log(facts: Facts) -> list[str]:
    """GPUs whose recovery action the driver has changed (Xid 154)."""
    events = [event for event in facts.xids or () if event.code == 154]
    return [f"{event.device}: {match.group(1)} (Xid 154)" for event in events if (match := RECOVERY.search(event.text))]


@rule(
    "hardware.gpu_initialises",
    layer=HARDWARE,
    probes=("dmesg", "nvidia_smi_list"),
    symptom="nvidia-smi lists all GPUs but one; NVRM: 'RmInitAdapter failed!' for that one.",
    cause="One GPU cannot be initialised, though the driver works with others.",
    fix="Drain the node and power-cycle it; swap the GPU with a good one: if the fault moves with it, have it replaced (RMA), else look at slot, riser "
    "and power.",
    verify="nvidia-smi -L lists as many GPUs as lspci -d 10de:, and the kernel log has no 'RmInitAdapter failed'.",
    source="NVIDIA/gpu-operator #1146: one of eight GPUs, status 0x72, was broken",
)
def gpu_initialises(facts: Facts, wanted: Wanted) -> Outcome:
    """The driver initialises each GPU, or none of them"""
    failures = nvrm.adapter_failures(facts.nvrm or "")
    if not failures or _told_otherwise(facts):
        return silence(facts)
    one = failures[0]
    served = len({gpu.pci for gpu in facts.gpus or ()} | {row.pci for row in facts.smi_rows or ()}) or len(
        re.findall(r"^GPU \d+:", facts.bundle.text("nvidia_smi_list") or "", re.M)
    )
    name, meaning = STATUSES.get(one.status or 0, ("unknown", "no meaning is known for this status"))
    if not served and one.status not in OF_THE_GPU:
        return not_applicable("RmInitAdapter failed and no other GPU is known to work: see the driver's rules")
    cause = (
        f"The GPU {one.device or 'that is missing'} does not initialise: RmInitAdapter failed! ({one.code}), NV_ERR_{name}: {meaning}; the driver serves "
        f"{served or 'no'} other GPU(s), so this GPU, its slot or its power is broken."
    )
    return failed(
        "every GPU initialises",
        f"RmInitAdapter failed! ({one.code})",
        cause=cause,
        confidence="medium",
        decided_by="the GPU in another slot, or another GPU in its slot",
    )


def _told_otherwise(facts: Facts) -> bool:
    """The module said itself that it is of the wrong kind or branch for the GPU."""
    return bool(
        facts.told(
            r"not supported by open nvidia\.ko|requires use of the NVIDIA open kernel modules|supported through the NVIDIA|is not supported by the NVIDIA"
        )
    )


@rule(
    "hardware.inforom",
    layer=HARDWARE,
    probes=("nvidia_smi",),
    symptom="nvidia-smi ends with 'WARNING: infoROM is corrupted at gpu …'; ECC settings and error counts of that GPU are lost.",
    cause="The GPU's infoROM is corrupted.",
    fix="Drain the node and power-cycle it; if the warning stays, contact the vendor: the infoROM must be written anew, or the GPU replaced (RMA).",
    verify="nvidia-smi prints no infoROM warning.",
    source="nvidia-smi(1), return code 14",
    severity="warning",
)
def inforom(facts: Facts, wanted: Wanted) -> Outcome:
    """Each GPU's infoROM is whole"""
    match = facts.told(r"infoROM is corrupted(?: at gpu (\S+))?|Xid [^\n]{0,40}: 93,|ERROR_CORRUPTED_INFOROM")
    if match:
        return failed("no corrupted infoROM", match.group(0), cause=f"The infoROM of a GPU is corrupted ({match.group(0)}).")
    return passed() if facts.smi_works else untold(facts)
