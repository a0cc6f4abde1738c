# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Driver: whether its branch and its kind of module are those that the GPUs need."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge import driver_branches
from ansible_collections.goldnode.gpu.plugins.module_utils.model import DRIVER
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.nvidia import VERSION
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import packages
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, equals_pin, failed, not_applicable, passed, rule, unknown

NEEDS_PROPRIETARY = r"not supported by (?:the )?open nvidia\.ko because it does not include the required GPU System Processor"
NEEDS_OPEN = r"requires use of (?:the )?NVIDIA open kernel modules"
LEGACY = r"The (?:NVIDIA )+(?P<gpu>.{2,60}?) GPU installed in this system is supported through the NVIDIA (?P<branch>\d+)\S* legacy"
UNSUPPORTED = (
    rf"installed in this (?:system|vGPU host(?: system)?) is not supported by the (?:NVIDIA )?(?P<version>{VERSION}) (?:NVIDIA )?(?:Linux graphics )?driver"
)
DEVICE = r"The NVIDIA GPU (?P<address>\S+) \(PCI ID: (?P<id>[0-9a-fA-F:]+)\)"


def named_gpus(facts: Facts) -> str:
    """The GPUs of known generation, for sentences: `0000:03:00.0 (Pascal)`."""
    return ", ".join(f"{name} ({one.name})" for name, one in (facts.architectures or {}).items()) or "the GPU"


def refused_gpu(facts: Facts) -> str:
    """The GPU that the module names when it refuses one, with its generation."""
    match = facts.told(DEVICE)
    if not match:
        return named_gpus(facts)
    one = driver_branches.of_device(match.group("id"))
    return f"{match.group('address')} (PCI ID {match.group('id')}{f', {one.name}' if one else ''})"


@rule(
    "driver.module_kind_fits_gpu",
    layer=DRIVER,
    probes=("dmesg", "proc_driver_nvidia_version", "lspci_nnk"),
    symptom="nvidia-smi: 'No devices were found', though the module is loaded and bound to the GPU; NVRM names the kind of module, then 'RmInitAdapter "
    "failed!'.",
    cause="The kernel module is of the wrong kind (open or proprietary) for the GPU.",
    fix="Install the other kind of module of the same branch, and reboot.",
    verify="nvidia-smi -L lists the GPU; modinfo -F license nvidia says 'Dual MIT/GPL' for the open module, 'NVIDIA' for the proprietary one.",
    source="NVIDIA data centre driver installation guide, kernel modules; zzzhouuu/truenas-nvidia-drivers #20; NVIDIA/open-gpu-kernel-modules #862",
)
def module_kind_fits_gpu(facts: Facts, wanted: Wanted) -> Outcome:
    """The module is of a kind, open or proprietary, that the GPUs can use"""
    flavour, generations = facts.loaded_module_flavour, facts.architectures
    if facts.told(NEEDS_PROPRIETARY):
        return _needs_proprietary(facts, "NVRM: not supported by open nvidia.ko")
    if facts.told(NEEDS_OPEN):
        return _needs_open(facts, "NVRM: requires use of the NVIDIA open kernel modules")
    if flavour is None or generations is None:
        return unknown()
    misfits = [one for one in generations.values() if flavour not in one.modules]
    if misfits and not facts.smi_works:
        return _needs_proprietary(facts, f"{flavour} module") if flavour == "open" else _needs_open(facts, f"{flavour} module")
    return passed(f"{flavour} module, {named_gpus(facts)}")


def _needs_proprietary(facts: Facts, seen: str) -> Outcome:
    cause = (
        f"The open kernel module (nvidia.ko) is loaded, but the GPU {refused_gpu(facts)} has no GSP and is not supported by it: "
        "open modules serve Turing and newer only, older ones (Maxwell, Pascal, Volta) need the proprietary module."
    )
    remedy = (
        "Install the proprietary kernel module of the same branch, at most 580, instead of the open one (Ubuntu: nvidia-driver-580 without -open; Debian: "
        "nvidia-kernel-dkms; .run: --kernel-module-type=proprietary), and reboot. It is no fault of the GPU."
    )
    return failed("the proprietary module", seen, cause=cause, remedy=remedy)


def _needs_open(facts: Facts, seen: str) -> Outcome:
    cause = (
        f"The proprietary kernel module is loaded, but the GPU {refused_gpu(facts)} requires the NVIDIA open kernel modules, as all Blackwell and "
        "Grace Hopper GPUs do: the closed one does not bind to it (No devices were found)."
    )
    remedy = (
        "Install the open kernel modules of the same version, branch 570 or newer (Ubuntu: nvidia-driver-<branch>-open or -server-open; Debian, Fedora, RHEL: "
        "nvidia-open, nvidia-kernel-open-dkms, kmod-nvidia-open-dkms; .run: -m=kernel-open), remove the proprietary one, and reboot."
    )
    return failed("the open module", seen, cause=cause, remedy=remedy)


@rule(
    "driver.branch_serves_gpu",
    layer=DRIVER,
    probes=("dmesg", "proc_driver_nvidia_version", "lspci_nnk"),
    symptom="nvidia-smi: 'No devices were found' or 'couldn't communicate'; NVRM: 'supported through the NVIDIA … Legacy drivers', 'is not supported by "
    "the … release'.",
    cause="The driver is of a branch that does not serve the GPU: too new for an old one, or too old for a new one.",
    fix="Install a driver of a branch that serves the GPU, and hold it there.",
    verify="nvidia-smi -L lists the GPU.",
    source="NVIDIA CUDA toolkit, driver and architecture matrix; NVIDIA UNIX driver page (legacy branches 390, 470, 580)",
)
def branch_serves_gpu(facts: Facts, wanted: Wanted) -> Outcome:
    """The driver's branch serves each GPU"""
    legacy, unsupported = facts.told(LEGACY), facts.told(UNSUPPORTED)
    if legacy:
        gpu, branch = legacy.group("gpu"), legacy.group("branch")
        return _too_new(f"{gpu} ", f"the legacy branch {branch}.xx", branch, facts.driver_version)
    version = unsupported.group("version") if unsupported else facts.driver_version
    misfits = [one for one in (facts.architectures or {}).values() if version and not _serves(one, driver_branches.branch(version))]
    if unsupported and not misfits:
        return _unsupported(facts, unsupported.group("version"))
    if version is None or facts.architectures is None:
        return unknown()
    if not misfits or facts.smi_works:
        return passed(f"branch {driver_branches.branch(version)}, {named_gpus(facts)}")
    one = misfits[0]
    if one.last is not None and driver_branches.branch(version) > one.last:
        return _too_new(f"{named_gpus(facts)} ", f"branch {one.last}, the last for {one.name}", str(one.last), version)
    return _too_old(facts, one, version)


def _serves(one: driver_branches.Architecture, branch: int) -> bool:
    return one.first <= branch <= (one.last or branch)


def _too_new(gpu: str, last: str, branch: str, version: str | None) -> Outcome:
    cause = f"The driver {version or ''} is too new for the GPU {gpu}: it has dropped that generation and ignores it; the GPU is served by {last}."
    remedy = (
        f"Install the driver of branch {branch} (Ubuntu: nvidia-driver-{branch}; Debian: nvidia-tesla-{branch}-driver; Fedora: akmod-nvidia-{branch}xx; Arch: "
        f"nvidia-{branch}xx-dkms), with the proprietary module and a kernel that it builds on, and hold it; or replace the GPU."
    )
    return failed(last, f"driver {version or 'of a newer branch'}", cause=cause, remedy=remedy)


def _too_old(facts: Facts, one: driver_branches.Architecture, version: str) -> Outcome:
    kind = "open kernel modules" if one.modules == driver_branches.OPEN else "module"
    cause = f"The driver {version} is too old for the GPU {named_gpus(facts)}: {one.name} is supported from branch {one.first} on."
    remedy = f"Upgrade the driver to branch {one.first} or newer (with its {kind}), and reboot."
    return failed(f"branch {one.first} or newer", f"driver {version}", cause=cause, remedy=remedy)


def _unsupported(facts: Facts, version: str) -> Outcome:
    cause = (
        f"The GPU {refused_gpu(facts)} is not supported by the NVIDIA {version} driver: the driver is too old for this new GPU, too new for this old "
        f"one, or of another "
        "kind (a vGPU host or GRID guest driver on a GPU that needs the data centre driver, or the other way round)."
    )
    remedy = (
        "Install the driver that NVIDIA's list of supported GPUs (README, appendix A) names for this PCI ID: as a rule a newer branch; for old "
        "GPUs the legacy one."
    )
    return failed(
        "a driver that supports the GPU", f"not supported by {version}", cause=cause, remedy=remedy, decided_by="the PCI ID in the README's appendix A"
    )


@rule(
    "driver.module_flavour",
    layer=DRIVER,
    probes=("proc_driver_nvidia_version",),
    symptom="Blackwell and later GPUs, or Pascal and earlier ones, are not found: each needs the other kind of module.",
    cause="The loaded module is open where the pin says proprietary, or the other way round.",
    fix=packages.PROVISION,
    verify="/proc/driver/nvidia/version says 'Open Kernel Module' for the open one.",
    source="NVIDIA open-gpu-kernel-modules README",
)
def module_flavour(facts: Facts, wanted: Wanted) -> Outcome:
    """The module is of the pinned kind, open or proprietary"""
    return equals_pin(facts.loaded_module_flavour, wanted.pin("nvidia_driver", "modules"), "module")


@rule(
    "driver.works_where_another_did",
    layer=DRIVER,
    probes=("dmesg", "nvidia_smi_query"),
    symptom="After a driver update jobs fail (Xid, CUDA errors, hangs) on many nodes at once, and not on nodes with the former version.",
    cause="A regression of this driver version.",
    fix="Roll the driver back to the version that works, hold it, and report the regression.",
    verify="The same load runs on the former version without the fault.",
    source="NVIDIA/open-gpu-kernel-modules #1370: Xid 31 on a fleet with one version, none with another",
)
def works_where_another_did(facts: Facts, wanted: Wanted) -> Outcome:
    """No other driver version is known to run the same load without the fault"""
    own, good = facts.driver_version, facts.good_drivers
    if good is None or own is None:
        return not_applicable("no comparison with another driver version is stated")
    others = [version for version in good if version != own]
    if not others:
        return passed(f"driver {own}")
    seen = ", ".join(dict.fromkeys(f"Xid {event.code}" for event in facts.xids or ())) or "the fault"
    cause = (
        f"Driver {own} shows {seen}, and the same load does not on driver {others[0]}: a regression of driver {own}, not of the application or the GPU, "
        "even where the Xid is one that applications cause."
    )
    remedy = f"Roll back (downgrade) the driver to {others[0]}, or move on to a release that has the fix; hold it, and report the regression to NVIDIA."
    return failed(f"driver {others[0]}", f"driver {own}: {seen}", cause=cause, remedy=remedy)
