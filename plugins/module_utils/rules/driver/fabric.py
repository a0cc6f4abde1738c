# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Driver: its services: fabric manager and IMEX for NVSwitch systems, and the persistence daemon."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.gpus import NVSWITCHES
from ansible_collections.goldnode.gpu.plugins.module_utils.model import DRIVER
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.nvidia import VERSION
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.driver.generations import generations
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown

OTHER_VERSION = (
    rf"fabric ?manager (?:NVIDIA GPU driver interface )?version (?P<own>{VERSION}) (?:don't|doesn't|does not"
    rf"|do not) match with (?:NVIDIA )?driver version (?P<driver>{VERSION})"
)
NOTHING_TO_DO = r"NV_WARN_NOTHING_TO_DO|WARNING Nothing to do|no NVSwitch(?:es)? (?:device )?(?:found|detected)|(?:not|No) (?:supported )?NVSwitch"
NOT_READY = r"system not yet initialized|cudaErrorSystemNotReady|CUDA_ERROR_SYSTEM_NOT_READY|\b[Ee]rror:? 802\b|returned 802\b"
SUBNET = r"nvlsm[^\n.]{0,80}(?:fail|not|error)[^\n.]{0,60}|NVLSM_NOT|ib_umad[^\n.]{0,60}not[^\n.]{0,40}"
# Boards whose GPUs talk over NVSwitch: they do not compute before the fabric is set up.
SWITCHED = (
    r"\bNVSwitch|\bHGX\b|\bDGX\b(?! Spark| Station)|\bSXM\d?\b|80GB HBM3|\bH200\b(?! NVL)|\bH800\b(?! PCIe)|\bH20\b|\bB[23]00\b|\bGB[23]00\b"
    r"|\bp4de?\b|\bp5e?n?\b|\bp6\b"
)
UNSWITCHED = r"PCIe|\bNVL\b|bridge|GeForce|RTX|\bA40\b|\bA10\b|\bL40S?\b|\bT4\b"
TIMED_OUT = r"driver (?:rpc )?error: timed out|nvidia-smi[^\n]{0,40}(?:timed out|timeout)"
SLOW_S = 10.0


def has_nvswitch(facts: Facts) -> bool | None:
    """Whether GPUs are behind NVSwitches; None: not known."""
    stated = facts.bundle.stated.get("nvidia_smi_topo_has_nvswitch")
    if isinstance(stated, bool):
        return stated
    if any(device.identifier in NVSWITCHES for device in facts.pci_devices or ()):
        return True
    if facts.bundle.complete("lspci_nnk") and not any(one.name == "Blackwell" for one in generations(facts).values()):
        return False
    words = " ".join([facts.stated("gpu"), facts.stated("platform"), *(row.name for row in facts.smi_rows or ()), facts.bundle.text("nvidia_smi_list") or ""])
    if re.search(SWITCHED, words):
        return True
    return False if re.search(UNSWITCHED, words) else None


@rule(
    "driver.fabric_manager",
    layer=DRIVER,
    probes=("lspci_nnk", "fabricmanager_service", "dpkg_l", "proc_driver_nvidia_version", "journal"),
    symptom="On NVSwitch systems CUDA says 'system not yet initialized' (802), though nvidia-smi lists every GPU.",
    cause="The fabric manager does not run, or is not of exactly the driver's version.",
    fix="Install nvidia-fabricmanager at exactly the driver's version, and start it: systemctl enable --now nvidia-fabricmanager; hold it together with "
    "the driver.",
    verify="systemctl is-active nvidia-fabricmanager; dpkg -l nvidia-fabricmanager* shows the driver's version; nvidia-smi -q shows Fabric State: Completed.",
    source="NVIDIA fabric manager user guide; NVIDIA/gpu-operator #544 #610; wilicc/gpu-burn #92; aws-samples/aws-deep-learning-ami-ubuntu-dcv-desktop #33",
)
def fabric_manager(facts: Facts, wanted: Wanted) -> Outcome:
    """Where there are NVSwitches, the fabric manager runs at exactly the driver's version"""
    other = facts.told(OTHER_VERSION)
    if other and not _is_well(facts):  # the log may hold what an earlier start said
        return _other_version(other.group("own"), other.group("driver"))
    switches = has_nvswitch(facts)
    if facts.told(NOTHING_TO_DO) and switches is not True:
        cause = (
            "The fabric manager found no NVSwitch and has nothing to do (NV_WARN_NOTHING_TO_DO): on GPUs without NVSwitch, with an NVLink bridge or "
            "with none, its failure "
            "is expected and harmless; it is not needed, and may be disabled or removed (systemctl disable --now nvidia-fabricmanager)."
        )
        return not_applicable("there is no NVSwitch for the fabric manager to manage", cause=cause)
    needed = switches or wanted.pin("fabric_manager") is not None
    not_ready = facts.said(NOT_READY) or _fabric_state(facts)
    if switches is False and facts.said(NOT_READY):
        return _not_ready_without_switch(facts.driver_version)
    if not needed and not (not_ready and switches is None):
        return not_applicable("no NVSwitch on PCI and no fabric manager pinned") if switches is False else unknown()
    return _service(facts, bool(needed), not_ready is not None)


def _is_well(facts: Facts) -> bool:
    """Whether the service runs, at the driver's version."""
    service = facts.service("fabricmanager_service") or {}
    installed = [version for name, version in (facts.driver_packages or {}).items() if "fabric" in name]
    return service.get("ActiveState") == "active" and bool(installed) and installed[0] == facts.driver_version


def _fabric_state(facts: Facts) -> str | None:
    """The state of a GPU that waits for its fabric."""
    states = [state for log in facts.smi_logs or () if (state := log.value(r"fabric/state$"))]
    return next((state for state in states if state.lower() in ("in progress", "not started")), None)


def _service(facts: Facts, needed: bool, not_ready: bool) -> Outcome:
    service = facts.service("fabricmanager_service")
    absent = facts.bundle.absent("fabricmanager_service") or bool(service and service.get("LoadState") == "not-found")
    state = "not installed" if absent else (service or {}).get("ActiveState", "")
    installed = [version for name, version in (facts.driver_packages or {}).items() if "fabric" in name]
    driver = facts.driver_version
    if installed and driver and installed[0] != driver:
        return _other_version(installed[0], driver)
    if (state and state != "active") or (not_ready and state != "active"):
        return _not_running(facts, state, not_ready)
    if not_ready:
        return _not_ready(driver)
    if not state or not installed or driver is None:
        return unknown()
    return passed(f"fabric manager {installed[0]}")


def _other_version(own: str, driver: str) -> Outcome:
    cause = f"The fabric manager {own} does not match the driver {driver}: both must be of exactly the same full version, not only of the same branch."
    remedy = (
        f"Install nvidia-fabricmanager at exactly {driver} (or move the driver to {own}), start it (systemctl restart nvidia-fabricmanager), and pin "
        f"and hold both "
        "together; NVIDIA's repository has the matching version where the distribution's has not."
    )
    return failed(f"fabric manager {driver}", f"fabric manager {own}", cause=cause, remedy=remedy)


def _not_running(facts: Facts, state: str, not_ready: bool) -> Outcome:
    subnet = facts.told(SUBNET)
    effect = "so CUDA says 'system not yet initialized' (802)" if not_ready else "so CUDA will not initialise (802)"
    cause = (
        f"The GPUs are connected by NVSwitches and the fabric manager {f'is {state}' if state else 'does not run'}, {effect}, though nvidia-smi "
        f"lists every GPU."
    )
    if subnet or facts.told(NOTHING_TO_DO):
        seen = subnet.group(0) if subnet else "NV_WARN_NOTHING_TO_DO"
        cause += (
            f" It does not reach the NVSwitches ({seen}): on HGX B200 and later it needs the NVLink subnet manager (nvlsm) and the modules ib_umad and mlx5_ib."
        )
    remedy = (
        f"Install nvidia-fabricmanager at exactly the driver's version ({facts.driver_version or 'cat /proc/driver/nvidia/version'}) and start it: "
        f"systemctl enable --now "
        "nvidia-fabricmanager; if it fails, read journalctl -u nvidia-fabricmanager. On HGX B200 and later nvlsm must be installed and ib_umad loaded too."
    )
    return failed("nvidia-fabricmanager active", f"nvidia-fabricmanager {state or 'not seen'}", cause=cause, remedy=remedy)


def _not_ready_without_switch(driver: str | None) -> Outcome:
    cause = (
        f"CUDA says 'system not yet initialized' (802) on a machine where no NVSwitch is seen, with driver {driver or '(version not told)'}: the GPUs "
        f"belong to an NVSwitch "
        "board whose fabric is not reached from here (a VM), confidential computing is on and the GPUs are not set ready, or the driver cannot use the "
        "kernel's memory layout."
    )
    remedy = (
        "In a VM have the host's fabric manager (shared NVSwitch or vGPU mode) activate the partition; with confidential computing: nvidia-smi "
        "conf-compute -srs 1; else try "
        "options nvidia_uvm uvm_disable_hmm=1 (or the kernel option nokaslr) and a newer driver."
    )
    decided = "nvidia-smi -q | grep -A3 Fabric; nvidia-smi conf-compute -f; nvidia-smi topo -m"
    return failed("CUDA that initialises", "802", cause=cause, remedy=remedy, confidence="medium", decided_by=decided)


def _not_ready(driver: str | None) -> Outcome:
    cause = (
        "CUDA says 'system not yet initialized' (802) although the fabric manager runs: the NVLink fabric is not set up, since the fabric manager is of "
        "another version than "
        f"the driver ({driver or 'unknown'}), was restarted without a reset of the GPUs, or the VM or container has no access to the whole fabric."
    )
    remedy = (
        "Compare the versions of fabric manager and driver, reset all GPUs and restart nvidia-fabricmanager (or reboot), and wait for Fabric State: Completed."
    )
    return failed(
        "Fabric State: Completed", "802", cause=cause, remedy=remedy, decided_by="nvidia-smi -q | grep -A3 Fabric; journalctl -u nvidia-fabricmanager"
    )


@rule(
    "driver.persistence",
    layer=DRIVER,
    probes=("persistenced_service", "nvidia_smi_query", "nvidia_smi"),
    symptom="nvidia-smi and the first CUDA call take many seconds; containers sometimes do not start: 'driver rpc error: timed out'.",
    cause="Persistence mode is off and nvidia-persistenced does not run: each call initialises every GPU from cold.",
    fix="systemctl enable --now nvidia-persistenced (or nvidia-smi -pm 1 at each boot); systemctl status says why it stopped.",
    verify="nvidia-smi --query-gpu=persistence_mode --format=csv shows Enabled, and nvidia-smi takes less than a second.",
    source="NVIDIA driver persistence guide; NVIDIA/nvidia-container-toolkit #202, NVIDIA/nvidia-docker #628 #723, bottlerocket-os/bottlerocket #3960",
)
def persistence(facts: Facts, wanted: Wanted) -> Outcome:
    """Nothing waits for GPUs that are initialised from cold each time"""
    waited = _waited(facts)
    explained = any(event.code in (79, 119, 120) for event in facts.xids or ())
    if waited and facts.persistence is not True and not explained:
        return _from_cold(waited, off=facts.persistence is False)
    if facts.persistence is None:
        return unknown()
    return passed("persistence mode on") if facts.persistence else not_applicable("persistence mode is off, and nothing waits for it")


def _waited(facts: Facts) -> str:
    """What took too long; empty if nothing did."""
    timed_out = facts.said(TIMED_OUT)
    if timed_out:
        return timed_out[1].group(0)
    killed = facts.bundle.error("nvidia_smi") or ""
    if killed.startswith("killed after"):
        return f"nvidia-smi was {killed}"
    return f"nvidia-smi took {facts.smi_seconds:.0f} s" if facts.smi_seconds is not None and facts.smi_seconds >= SLOW_S else ""


def _from_cold(seen: str, off: bool) -> Outcome:
    known = "Persistence mode is off and no nvidia-persistenced runs" if off else "Persistence mode is probably off (it was not looked at)"
    cause = f"{known}, so the driver initialises every GPU from cold at each call, longer than the container hook waits ({seen}); else the driver hangs."
    remedy = (
        "Start the persistence daemon: systemctl enable --now nvidia-persistenced (or nvidia-smi -pm 1); if it still takes long, look for Xid lines in dmesg: "
        "a GPU or its GSP firmware that hangs needs a reset."
    )
    decided = "" if off else "time nvidia-smi, before and after nvidia-smi -pm 1"
    return failed("GPUs that stay initialised", seen, cause=cause, remedy=remedy, confidence="high" if off else "medium", decided_by=decided)


@rule(
    "driver.persistence_daemon",
    layer=DRIVER,
    probes=("persistenced_service",),
    symptom="The first CUDA call after a pause takes seconds, clocks and ECC counters are reset, nvidia-smi is slow.",
    cause="nvidia-persistenced is installed but does not run.",
    fix="systemctl enable --now nvidia-persistenced; systemctl status says why it stopped.",
    verify="systemctl is-active nvidia-persistenced",
    source="nvidia-persistenced(1); NVIDIA/nvidia-container-toolkit #202",
)
def persistence_daemon(facts: Facts, wanted: Wanted) -> Outcome:
    """The persistence daemon runs where it is installed"""
    service = facts.service("persistenced_service")
    if service is None:
        return unknown()
    if service.get("LoadState") == "not-found":
        return not_applicable("nvidia-persistenced is not installed")
    state = service.get("ActiveState", "")
    return passed(state) if state == "active" else failed("active", f"nvidia-persistenced {state}")


@rule(
    "driver.imex",
    layer=DRIVER,
    probes=("imex_service", "journal"),
    symptom="On GB200 and other multi-node NVLink systems CUDA or NCCL cannot share memory between nodes; no /dev/nvidia-caps-imex-channels.",
    cause="The IMEX service, which sets up memory sharing over multi-node NVLink, does not run.",
    fix="Install nvidia-imex at exactly the driver's version, list all nodes of the NVLink domain in /etc/nvidia-imex/nodes_config.cfg, and start it on "
    "every node.",
    verify="nvidia-imex-ctl -N shows all nodes READY; ls /dev/nvidia-caps-imex-channels",
    source="NVIDIA IMEX service guide",
)
def imex(facts: Facts, wanted: Wanted) -> Outcome:
    """The IMEX service runs where it is installed and enabled"""
    service = facts.service("imex_service")
    said = facts.told(r"nvidia-imex\S*: [^\n]{0,80}(?:error|fail|mismatch)[^\n]{0,80}")
    if said or (service and service.get("ActiveState") == "failed"):
        seen = said.group(0) if said else "nvidia-imex failed"
        return failed("nvidia-imex active", seen, cause=f"The IMEX service does not work ({seen}): nodes of one NVLink domain cannot share memory.")
    return passed("active") if service and service.get("ActiveState") == "active" else not_applicable("no IMEX service is in use")
