# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What nothing shows yet: what the next boot or the next upgrade will do."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.model import KERNEL
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import packages
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, equals_pin, failed, not_applicable, passed, rule, unknown


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
