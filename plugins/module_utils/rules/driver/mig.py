# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Driver: GPUs in slices (MIG)."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.model import DRIVER
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown

PENDING_SAID = r"MIG mode is in pending (?:enable|disable) state[^\n]*"
NO_INSTANCES = r"No MIG devices found|No GPU instances found"

# NVML lists only the instances that it can open.
WITHOUT_NODES = "the driver has MIG instances whose capability nodes are missing: see device_nodes"


@rule(
    "driver.mig_profile",
    layer=DRIVER,
    probes=("nvidia_smi_list", "proc_driver_nvidia_capabilities", "ls_dev_nvidia_caps"),
    symptom="Jobs that ask for a slice wait for ever, or see a whole GPU.",
    cause="The GPUs are not partitioned into the pinned MIG profile.",
    fix="Apply the profile on the idle node: nvidia-smi -mig 1, then nvidia-smi mig -cgi <profile> -C on every GPU; it does not survive a reboot by itself.",
    verify="nvidia-smi -L lists the pinned profile's devices below each GPU, and no others.",
    source="NVIDIA MIG user guide",
)
def mig_profile(facts: Facts, wanted: Wanted) -> Outcome:
    """Each GPU is wholly partitioned into the pinned MIG profile"""
    pinned = wanted.pin("mig", "profile")
    if pinned is None:
        return not_applicable("MIG is not pinned")
    if facts.missing_capability_nodes:
        return unknown(WITHOUT_NODES)
    if facts.mig_profiles is None:
        return unknown()
    right = [profiles for profiles in facts.mig_profiles if _is_as_pinned(profiles, pinned)]
    observed = "; ".join(", ".join(profiles) or "no MIG device" for profiles in facts.mig_profiles)
    return passed(observed) if facts.mig_profiles and len(right) == len(facts.mig_profiles) else failed(pinned, observed or "no GPU")


@rule(
    "driver.mig_instances",
    layer=DRIVER,
    probes=("nvidia_smi_query", "nvidia_smi_list", "proc_driver_nvidia_capabilities", "ls_dev_nvidia_caps"),
    symptom="CUDA: 'no CUDA-capable device is detected' (100) on a GPU that nvidia-smi lists; the device plugin offers no MIG device.",
    cause="MIG mode is enabled on a GPU that has no MIG device, so nothing can compute on it; or a change of the mode waits for a reset.",
    fix="Create instances (nvidia-smi mig -cgi <profile> -C), which a reboot removes, or disable MIG (nvidia-smi -mig 0); a pending change needs the "
    "GPU idle and a "
    "reset (nvidia-smi --gpu-reset) or a reboot.",
    verify="nvidia-smi -L lists MIG devices below each GPU whose MIG mode is Enabled; current and pending mode agree.",
    source="NVIDIA MIG user guide",
)
def mig_instances(facts: Facts, wanted: Wanted) -> Outcome:
    """Each GPU in MIG mode has MIG devices, and no change of the mode is pending"""
    pending = facts.told(PENDING_SAID)
    changing = [log.pci or "GPU" for log in facts.smi_logs or () if _differ(log.value(r"mig mode/current"), log.value(r"mig mode/pending"))]
    changing += [row.get("index", "GPU") for row in facts.smi_query or () if _differ(row.get("mig.mode.current"), row.get("mig.mode.pending"))]
    if pending or changing:
        seen = pending.group(0) if pending else "GPU " + ", ".join(changing)
        return failed("no pending change", seen, cause=f"A change of the MIG mode is pending and needs a reset of the GPU ({seen}).")
    if facts.missing_capability_nodes:
        return unknown(WITHOUT_NODES)
    empty = _empty(facts)
    if empty or facts.smi_says(NO_INSTANCES):
        where = f" of GPU {', '.join(empty)}" if empty else ""
        cause = f"MIG mode{where} is enabled, but there are no MIG devices (GPU and compute instances): CUDA finds no device on such a GPU."
        return failed("MIG devices", f"MIG enabled without instances{where}", cause=cause)
    if facts.gpus is None:
        return unknown()
    enabled = [gpu for gpu in facts.gpus if gpu.mig == "Enabled"]
    return passed(f"{len(enabled)} GPUs in MIG mode") if enabled else not_applicable("no GPU is in MIG mode")


def _is_as_pinned(profiles: tuple[str, ...], pinned: str) -> bool:
    """Whether a GPU's MIG devices are those of the pinned layout; how many of one profile fit is nvidia-smi's to say, so any number counts."""
    if pinned in ("all-disabled", "all-enabled"):
        return not profiles
    if pinned == "all-balanced":
        return len(set(profiles)) > 1
    named = [name.strip() for name in pinned.split("all-", 1)[-1].split(",")]
    return sorted(profiles) == sorted(named) if len(named) > 1 else bool(profiles) and set(profiles) == set(named)


def _differ(current: str | None, pending: str | None) -> bool:
    modes = ("Enabled", "Disabled")
    return current in modes and pending in modes and current != pending


def _empty(facts: Facts) -> list[str]:
    """Indices of the GPUs in MIG mode whose listing has no MIG device."""
    profiles = facts.mig_profiles or ()
    return [str(gpu.index) for gpu in facts.gpus or () if gpu.mig == "Enabled" and gpu.index < len(profiles) and not profiles[gpu.index]]
