# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Hardware: the GPU's power and heat."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.model import HARDWARE
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.hardware.evidence import silence, untold
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, passed, rule

SLOWDOWN = r"(?:throttle|event)s? reasons/(?:clocks (?:throttle|event) reason )?hw (?:thermal |power brake )?slowdown$"


@rule(
    "hardware.power_connected",
    layer=HARDWARE,
    probes=("dmesg",),
    symptom="lspci lists the GPU, nvidia-smi does not: 'No devices were found'; NVRM: 'does not have the necessary power cables connected'.",
    cause="The GPU's auxiliary power is not connected, or too weak.",
    fix="Switch the node off and check the GPU's auxiliary power cables at both ends (a PCIe cable does not fit an EPS socket) and the power supply.",
    verify="After the next start the kernel log has neither Xid 54 nor RmInitAdapter failures with status 0x1c.",
    source="NVIDIA open-gpu-kernel-modules, osinit.c; Xid catalogue, Xid 54",
)
def power_connected(facts: Facts, wanted: Wanted) -> Outcome:
    """Each GPU has its auxiliary power"""
    match = re.search(r"(?:GPU (\S+?): )?GPU does not have the necessary power cables connected|RmInitAdapter failed! \(0x\w+:0x1c:", facts.nvrm or "")
    events = [event for event in facts.xids or () if event.code == 54]
    if match or events:
        device = events[0].device if events else (match.group(1) if match else "") or ""
        seen = "Xid 54" if events else match.group(0) if match else ""
        cause = (
            f"The GPU{f' at {device}' if device else ''} does not have the necessary power cables connected ({seen}): its auxiliary power is "
            f"missing or too weak."
        )
        return failed("auxiliary power", seen, cause=cause)
    return silence(facts)


@rule(
    "hardware.hw_slowdown",
    layer=HARDWARE,
    probes=("nvidia_smi_q",),
    symptom="Jobs take a multiple of their time on this node; the GPU's clocks stay low under load.",
    cause="The hardware slows the GPU down: too hot, or the power brake is set.",
    fix="Check cooling (fans, airflow, inlet temperature, heat sink) and power supplies (a failed PSU sets the power brake), and the BMC's log; drain "
    "the node until then.",
    verify="nvidia-smi -q -d PERFORMANCE shows HW Slowdown, HW Thermal Slowdown and HW Power Brake Slowdown: Not Active under load.",
    source="nvidia-smi(1), clocks event reasons; a software power cap is normal under load",
    severity="warning",
)
def hw_slowdown(facts: Facts, wanted: Wanted) -> Outcome:
    """No GPU is slowed down by its hardware"""
    found = [
        f"{log.pci or 'GPU'}: {path.split('/')[-1]}" for log in facts.smi_logs or () for path, value in log.all(SLOWDOWN).items() if value.lower() == "active"
    ]
    for row in facts.smi_query or ():
        found += [
            f"{row.get('index', 'GPU')}: {name.split('.')[-1]}" for name, value in row.items() if re.search(r"\.hw_\w*slowdown", name) and value == "Active"
        ]
    if found:
        cause = (
            f"The hardware slows the GPU down ({'; '.join(found)}): overheating (thermal), or the power brake that a failing or overloaded power supply sets."
        )
        return failed("no hardware slowdown", "; ".join(found), cause=cause)
    return passed() if any(log.all(SLOWDOWN) for log in facts.smi_logs or ()) else untold(facts)
