# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The release: distribution, kernel packages and running kernel are the pinned ones."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.model import KERNEL
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import packages
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, equals_pin, rule, unknown


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
    cut = facts.os is not None and not {"ID", "VERSION_ID"} <= set(facts.os) and not facts.bundle.complete("os_release")
    if facts.os is None or machine is None or cut:
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
