# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Kernel: the one that runs, the one that will, headers, and the module built for it."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.model import KERNEL
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import packages
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, equals_pin, failed, not_applicable, passed, rule, unknown


@rule(
    "kernel.os_is_wanted",
    layer=KERNEL,
    probes=("os_release", "uname_m"),
    symptom="Packages of the lock do not install, or are of another distribution's build.",
    cause="The node runs another distribution, release or architecture than its pool pins.",
    fix="Install the node again from its pool's image, or move it to the right pool.",
    verify="cat /etc/os-release; uname -m",
    source="os-release(5)",
)
def os_is_wanted(facts: Facts, wanted: Wanted) -> Outcome:
    """Distribution, release and architecture are the pinned ones"""
    pin = wanted.pin("os")
    machine = facts.bundle.text("uname_m")
    if facts.os is None or machine is None:
        return unknown()
    observed = f"{facts.os.get('ID')} {facts.os.get('VERSION_ID')} {machine.strip()}"
    return equals_pin(observed, pin and f"{pin['distribution']} {pin['release']} {pin['arch']}")


# Before the rules that a missing package breaks too: on a bare node it is the finding to read first.
@packages.versions_rule("kernel.package_versions", layer=KERNEL, verify="dpkg -l | grep -E 'linux-(image|headers)' shows the locked versions.")
def kernel_packages(facts: Facts, wanted: Wanted) -> Outcome:
    """Kernel image and headers are installed at their locked versions"""
    return packages.packages_are_locked_ones(facts, wanted, KERNEL)


@rule(
    "kernel.running_is_wanted",
    layer=KERNEL,
    probes=("kernel_release",),
    symptom="The driver was built and proven for one kernel, and another runs; after a reboot the GPU may be gone.",
    cause="The node booted another kernel than the pinned one: an update installed a newer one, or the boot loader's default was changed.",
    fix=packages.PROVISION,
    verify="uname -r prints the pinned release.",
    source="docs/pins_and_locks.md, key kernel: a kernel moved by the OS repository is the commonest way in which a GPU node breaks",
)
def running_is_wanted(facts: Facts, wanted: Wanted) -> Outcome:
    """The pinned kernel runs"""
    return equals_pin(facts.kernel_release, wanted.pin("kernel", "version"))


@rule(
    "kernel.boot_default_is_wanted",
    layer=KERNEL,
    probes=("default_boot_kernel", "grubenv"),
    symptom="All is well until the next reboot; then another kernel runs and the GPU may be gone.",
    cause="The boot loader starts another kernel by default than the pinned one.",
    fix=packages.PROVISION,
    verify="The first menu entry of /boot/grub/grub.cfg names the pinned kernel (RHEL family: grubby --default-kernel).",
    source="GNU GRUB manual, GRUB_TOP_LEVEL and default",
)
def boot_default_is_wanted(facts: Facts, wanted: Wanted) -> Outcome:
    """The next boot starts the pinned kernel"""
    return equals_pin(facts.default_boot_kernel, wanted.pin("kernel", "version"))


@rule(
    "kernel.headers_present",
    layer=KERNEL,
    probes=("kernel_release", "linux_headers"),
    symptom="dkms says 'Your kernel headers for kernel … cannot be found'; the module is missing after the next driver update.",
    cause="The headers of the running kernel are not installed, so DKMS cannot build a module for it.",
    fix="Install the headers of exactly the running kernel: apt-get install linux-headers-<release>; the lock should list them.",
    verify="ls -d /lib/modules/$(uname -r)/build",
    source="dkms(8); zen-kernel/zen-kernel #305",
)
def headers_present(facts: Facts, wanted: Wanted) -> Outcome:
    """Where modules are built by DKMS, the running kernel's headers are there"""
    if wanted.pin("nvidia_driver", "build") != "dkms":
        return not_applicable("the driver's module is not pinned to a DKMS build")
    if facts.kernel_release is None or facts.header_kernels is None:
        return unknown()
    if facts.kernel_release in facts.header_kernels:
        return passed(f"/lib/modules/{facts.kernel_release}/build")
    return failed(f"headers of {facts.kernel_release}", "headers of " + (", ".join(sorted(facts.header_kernels)) or "no kernel"))


@rule(
    "kernel.module_built_for_kernel",
    layer=KERNEL,
    probes=("kernel_release", "modinfo_nvidia", "dkms_status"),
    symptom="nvidia-smi: 'couldn't communicate with the NVIDIA driver'; modprobe: 'Module nvidia not found in directory /lib/modules/…'.",
    cause="There is no nvidia module built for the running kernel.",
    fix="Build it (dkms autoinstall -k $(uname -r), with that kernel's headers), or boot the pinned kernel, for which it is built.",
    verify="modinfo -k $(uname -r) -F vermagic nvidia begins with the running release.",
    source="dkms(8), modinfo(8)",
)
def module_built_for_kernel(facts: Facts, wanted: Wanted) -> Outcome:
    """An nvidia module is built for exactly the running kernel"""
    if facts.kernel_release is None or facts.module_on_disk is None:
        return unknown()
    built_for = facts.module_on_disk.get("vermagic", "").split(" ")[0]
    if built_for == facts.kernel_release:
        return passed(f"{facts.module_on_disk.get('version', '')} for {built_for}".strip())
    elsewhere = sorted({module.kernel for module in facts.dkms_modules or () if module.kernel and module.name.startswith("nvidia")})
    observed = f"the module found is built for {built_for}" if built_for else "no nvidia module for it"
    return failed(f"a module for {facts.kernel_release}", observed + (f"; DKMS has built for {', '.join(elsewhere)}" if elsewhere else ""))


@rule(
    "kernel.other_driver_holds_gpu",
    layer=KERNEL,
    probes=("lspci_nnk", "lsmod"),
    symptom="NVRM: 'No NVIDIA GPU found' or 'already bound to …'; nvidia-smi: 'No devices were found'.",
    cause="Another kernel driver (nouveau, vfio-pci) is bound to the GPU, so the nvidia module cannot take it.",
    fix="Block nouveau in /etc/modprobe.d, renew the initramfs and reboot; for vfio-pci remove the GPU's id from its options.",
    verify="lspci -k -d 10de: shows 'Kernel driver in use: nvidia'.",
    source="NVIDIA driver README, chapter 8 (nouveau); NVIDIA/gpu-operator #15; NVIDIA/nvidia-docker #1668",
)
def other_driver_holds_gpu(facts: Facts, wanted: Wanted) -> Outcome:
    """No kernel driver but nvidia is bound to a GPU"""
    if facts.pci_gpus is None:
        return unknown()
    others = [f"{gpu.address} {gpu.driver}" for gpu in facts.pci_gpus if gpu.driver not in (None, "nvidia")]
    if others:
        return failed("nvidia, or no driver", "bound: " + ", ".join(others))
    if facts.modules is None:
        return unknown("the list of loaded modules was not read")
    return failed("nouveau not loaded", "nouveau is loaded") if "nouveau" in facts.modules else passed()


@rule(
    "kernel.nouveau_blocked",
    layer=KERNEL,
    probes=("modprobe_d", "kernel_cmdline"),
    symptom="Nothing yet: at a boot where the nvidia module comes late or does not load, nouveau takes the GPU.",
    cause="Nothing keeps nouveau from loading.",
    fix="Write 'blacklist nouveau' to a file in /etc/modprobe.d and renew the initramfs (update-initramfs -u).",
    verify="modprobe -c | grep 'blacklist nouveau'",
    source="modprobe.d(5); NVIDIA driver README, chapter 8",
)
def nouveau_blocked(facts: Facts, wanted: Wanted) -> Outcome:
    """nouveau is kept out by configuration"""
    if wanted.pin("nvidia_driver") is None:
        return not_applicable("no driver is pinned")
    if facts.nouveau_blocked is None:
        return unknown()
    return passed() if facts.nouveau_blocked else failed("nouveau blacklisted", "neither modprobe.d nor the kernel command line blocks it")


@packages.holds_rule("kernel.packages_held", layer=KERNEL)
def kernel_holds(facts: Facts, wanted: Wanted) -> Outcome:
    """The locked kernel packages are held"""
    return packages.packages_are_held(facts, wanted, KERNEL)
