# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which kernel driver holds the GPU."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.model import KERNEL
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import module_load
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.linux import PciDevice
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.kernel.load import plain
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.kernel.loaded import is_loaded
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, passed, rule, unknown

# Drivers that give a device away to a guest: vfio-pci and its variants, Xen's back end, the stub.
PASSTHROUGH = ("vfio-pci", "vfio_pci", "nvgrace_gpu_vfio_pci", "nvgrace-gpu-vfio-pci", "pci-stub", "pciback", "xen-pciback")
FREE_NOUVEAU = (
    "Blacklist it ('blacklist nouveau' and 'options nouveau modeset=0' in /etc/modprobe.d/), renew the initramfs "
    "(update-initramfs -u; dracut --force) and reboot."
)
FREE_VFIO = (
    "Unbind the GPU from the passthrough driver and bind it to nvidia: remove its id from vfio-pci.ids (kernel command line) or 'options vfio-pci ids=' "
    "(modprobe.d), clear driver_override, renew the initramfs and reboot; or detach it from the guest that has it."
)


@rule(
    "kernel.other_driver_holds_gpu",
    layer=KERNEL,
    probes=("lspci_nnk", "lsmod", "dmesg"),
    symptom=(
        "NVRM: 'GPU … is already bound to nouveau', 'The NVIDIA probe routine was not called'; nvidia-smi: 'No devices were "
        "found', or it is not in the container."
    ),
    cause="Another kernel driver (nouveau, vfio-pci) is bound to the GPU, so the nvidia module cannot take it.",
    fix="Block nouveau in /etc/modprobe.d, renew the initramfs and reboot; for vfio-pci remove the GPU's id from its options.",
    verify="lspci -k -d 10de: shows 'Kernel driver in use: nvidia'.",
    source="NVIDIA driver README, chapter 8 (nouveau); NVIDIA/gpu-operator #15; NVIDIA/nvidia-docker #1668; NVIDIA/kubevirt-gpu-device-plugin #49",
)
def other_driver_holds_gpu(facts: Facts, wanted: Wanted) -> Outcome:
    """No kernel driver but nvidia is bound to a GPU"""
    held = _held(facts)
    ours = [gpu for gpu in facts.pci_gpus or () if gpu.driver == "nvidia"]
    if held and ours and not wanted and all(gpu.driver in PASSTHROUGH for gpu in held):
        return unknown(f"{_named(held)} given away, {len(ours)} served by nvidia: on purpose or not, the evidence does not say")
    if held:
        return _taken(facts, held)
    said = facts.load_said(module_load.OTHER_DRIVER)
    if said and not ours and not is_loaded(facts):
        message, match = said
        return _said(facts, plain(message), match["driver"] or match["nouveau"])
    return _by_nouveau(facts, bool(ours or facts.smi_works))


def _held(facts: Facts) -> list[PciDevice]:
    """The GPUs that another driver has; of an excerpt that shows only a driver, those drivers that take nothing else on a GPU node."""
    gpus = [gpu for gpu in facts.pci_gpus or () if gpu.driver not in (None, "nvidia")]
    return gpus + [device for device in facts.pci_devices or () if not device.address and device.driver in ("nouveau", *PASSTHROUGH)]


def _named(gpus: list[PciDevice]) -> str:
    return ", ".join(f"{gpu.address or 'the GPU'} {gpu.driver}" for gpu in gpus)


def _taken(facts: Facts, held: list[PciDevice]) -> Outcome:
    driver = str(held[0].driver)
    if driver in PASSTHROUGH:
        cause, remedy = (
            f"The GPU is bound to {driver} for passthrough to a guest, not to nvidia ({_named(held)}), so the host has no GPU to give to containers.",
            FREE_VFIO,
        )
    elif driver == "nouveau":
        cause, remedy = f"The in-tree driver nouveau is bound to the GPU ({_named(held)}), so the nvidia module cannot take it{_still(facts)}.", FREE_NOUVEAU
    else:
        cause = f"The kernel driver {driver} is bound to the GPU ({_named(held)}), so the nvidia module cannot take it."
        remedy = f"Blacklist {driver} in /etc/modprobe.d, renew the initramfs (update-initramfs -u; dracut --force) and reboot; then lspci -k shows nvidia."
    return failed("nvidia, or no driver", "bound: " + _named(held), cause=cause, remedy=remedy)


def _still(facts: Facts) -> str:
    """Why a blacklist did not help."""
    return "; a blacklist is there, so the initramfs still holds nouveau or the node was not rebooted since" if facts.nouveau_blocked else ""


def _said(facts: Facts, line: str, driver: str | None) -> Outcome:
    """The kernel or the installer names the other driver, or says that there is one."""
    nouveau = (driver or "").lower() == "nouveau" or bool(facts.modules and "nouveau" in facts.modules)
    if nouveau:
        cause, remedy = f"The in-tree driver nouveau holds the GPU, so the nvidia module cannot take it{_still(facts)} ({line}).", FREE_NOUVEAU
    elif driver:
        cause, remedy = f"The kernel driver {driver} is bound to the GPU, so the nvidia module cannot take it ({line}).", FREE_VFIO
    else:
        cause = f"Another kernel driver, nouveau or vfio-pci, was bound to the GPU before nvidia ({line})."
        return failed("nvidia, or no driver", line, cause=cause, remedy=f"{FREE_NOUVEAU} {FREE_VFIO}", confidence="medium", decided_by="lspci -nnk -d 10de:")
    return failed("nvidia, or no driver", line, cause=cause, remedy=remedy)


def _by_nouveau(facts: Facts, served: bool) -> Outcome:
    """nouveau in the kernel, by its list of modules or by the log."""
    if facts.modules is not None and "nouveau" in facts.modules and not served:
        cause = f"The in-tree driver nouveau is loaded and takes the GPU, which keeps the nvidia module from it{_still(facts)}."
        return failed("nouveau not loaded", "nouveau is loaded", cause=cause, remedy=FREE_NOUVEAU)
    bound = facts.load_said(module_load.NOUVEAU_BINDS)
    if bound and not served and is_loaded(facts) is False and facts.modules is None:
        line = plain(bound[0])
        cause = f"The in-tree driver nouveau is bound to the GPU {bound[1]['gpu']}, so the nvidia module cannot take it ({line})."
        return failed("nouveau not loaded", line, cause=cause, remedy=FREE_NOUVEAU, confidence="medium")
    if facts.pci_gpus is None:
        return unknown()
    if facts.modules is None:
        return unknown("the list of loaded modules was not read")
    return passed()
