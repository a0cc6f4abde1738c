# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The build of NVIDIA's module for the running kernel, by its log: one rule for each kind of reason, in the order of parsers/build_reasons.py."""

from __future__ import annotations

import re
from functools import partial

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge import driver_kernels
from ansible_collections.goldnode.gpu.plugins.module_utils.model import KERNEL
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import build_reasons as kinds
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.module_build import Build, Reason
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule

AGAIN = "then build again (dkms autoinstall -k $(uname -r), or restart the driver container) and load the module or reboot"
_build_rule = partial(rule, layer=KERNEL, probes=("dkms_build_log", "kernel_release"))

# What the missing program or file comes with: Debian and Ubuntu; RHEL and Fedora.
_PACKAGES = {
    "gelf.h": "libelf-dev; elfutils-libelf-devel",
    "libelf.h": "libelf-dev; elfutils-libelf-devel",
    "libelf-dev": "libelf-dev; elfutils-libelf-devel",
    "make": "build-essential; make",
    "g++": "g++; gcc-c++",
    "ld": "binutils",
    "as": "binutils",
    "depmod": "kmod",
    "python3": "python3",
    "awk": "gawk",
}


def _concerns(reason: Reason, release: str | None) -> bool:
    """A line about a kernel that does not run is noise; `5.15.0-60` is the common part of `5.15.0-60-generic`."""
    return not reason.kernel or not release or release.startswith(reason.kernel) or reason.kernel.startswith(release)


def _found(facts: Facts, kind: str) -> tuple[Build, Reason] | None:
    """The first reason of a kind that concerns the running kernel (where that is not known, the kernel that is built for)."""
    for build in facts.module_builds or ():
        release = facts.kernel_release or (build.kernels[0] if build.kernels else None)
        for reason in build.reasons:
            if reason.kind == kind and _concerns(reason, release):
                return build, reason
    return None


def _kernel(facts: Facts, build: Build) -> str:
    """The kernel in words."""
    if facts.kernel_release:
        return f"the running kernel {facts.kernel_release}"
    return f"kernel {build.kernels[0]}" if build.kernels else "the running kernel"


def _driver(build: Build) -> str:
    return f"nvidia {build.drivers[0]}" if build.drivers else "the nvidia module"


def _none(facts: Facts) -> Outcome:
    """Nothing of this kind was found."""
    if facts.module_builds:
        return passed("the build's log shows none")
    return not_applicable("no log of a build of NVIDIA's module for this kernel")


@_build_rule(
    "kernel.build_resources",
    symptom="The build of the module breaks off in a place that changes: 'No space left on device', 'Killed signal terminated program cc1'.",
    cause="The disk or the memory was full while the module was built.",
    fix="Free space on /var, /tmp and /boot, or memory, and build again: dkms autoinstall -k $(uname -r).",
    verify="df -h /var /tmp /boot; dkms status says installed for $(uname -r).",
    source="dkms(8); microsoft/pai #2040 (compiler killed for memory)",
)
def build_resources(facts: Facts, wanted: Wanted) -> Outcome:
    """The build of the module had space and memory"""
    found = _found(facts, kinds.RESOURCES)
    if found is None:
        return _none(facts)
    build, reason = found
    disk = "space" in reason.what.lower() or "quota" in reason.what.lower()
    cause = (
        f"The {'disk' if disk else 'memory'} was full while {_driver(build)} was built for {_kernel(facts, build)} "
        f"({reason.what}), so there is no module for it."
    )
    remedy = (
        "Free disk space (df -h /var /tmp /boot; old kernels)"
        if disk
        else "Give the build more memory or swap, or fewer jobs (parallel_jobs in /etc/dkms/framework.conf)"
    )
    return failed("space and memory for the build", reason.line, cause=cause, remedy=f"{remedy}, {AGAIN}.")


@_build_rule(
    "kernel.build_compiler",
    symptom="make.log: 'unrecognized command-line option', 'Compiler version check failed', 'gcc-12: not found'; nvidia-smi cannot reach the driver.",
    cause="The compiler that builds the module is not the one that built the kernel, and cannot build for it.",
    fix="Install the compiler that built the kernel (cat /proc/version), make DKMS use it (update-alternatives or CC=), and build again.",
    verify="cat /proc/version and cc --version name the same compiler and major version; dkms status says installed.",
    source="pop-os/pop #3117; NVIDIA/gpu-operator #564; clearlinux/distribution #1970; voidlinux/void-packages #14052 (clang as cc)",
)
def build_compiler(facts: Facts, wanted: Wanted) -> Outcome:
    """The compiler of the module is fit for the kernel"""
    found = _found(facts, kinds.COMPILER)
    if found is None:
        return _none(facts)
    build, reason = found
    if build.compilers:
        theirs, ours = build.compilers
        differ = f"{_kernel(facts, build)} was built with {theirs}, the module is compiled with {ours}, which differs"
    else:
        theirs = ""
        differ = f"the compiler in use is missing, older than or not the one that built {_kernel(facts, build)}"
    cause = f"Compiler mismatch: {differ} ({reason.what}), so {_driver(build)} was never built for it."
    name = _compiler(theirs or reason.what)
    remedy = (
        f"Install the compiler that the kernel was built with ({name or 'see /proc/version'}) and make it the one that DKMS uses "
        f"(update-alternatives --set gcc, or CC={name or 'gcc-<major>'}), {AGAIN}; in a driver container take an image with that compiler."
    )
    return failed("the compiler that built the kernel", reason.line, cause=cause, remedy=remedy)


def _compiler(text: str) -> str | None:
    """`gcc (Ubuntu 12.3.0-1ubuntu1) 12.3.0`, `x86_64-linux-gnu-gcc-12` -> `gcc-12`."""
    match = re.search(r"(gcc|clang)\b\D{0,60}?(\d+)", text)
    return f"{match.group(1)}-{match.group(2)}" if match else None


@_build_rule(
    "kernel.build_headers",
    symptom=(
        "dkms: 'Your kernel headers for kernel … cannot be found', '/lib/modules/…/build: No such file or directory'; a driver "
        "container: 'Could not resolve Linux kernel version'."
    ),
    cause="The headers (kernel-devel) of the running kernel are missing or incomplete, so the module cannot be built.",
    fix="Install the headers of exactly the running kernel: linux-headers-$(uname -r) or kernel-devel-$(uname -r); then dkms autoinstall.",
    verify="ls /lib/modules/$(uname -r)/build/include/generated/autoconf.h",
    source="zen-kernel/zen-kernel #305; NVIDIA/gpu-operator #85 #155 #526 #583; dkms(8)",
)
def build_headers(facts: Facts, wanted: Wanted) -> Outcome:
    """The build of the module finds the kernel's headers, whole"""
    found = _found(facts, kinds.HEADERS)
    if found is None:
        return _none(facts)
    build, reason = found
    release = facts.kernel_release or (build.kernels[0] if build.kernels else reason.kernel) or "$(uname -r)"
    cause = f"The kernel headers of {_kernel(facts, build)} are missing or incomplete ({reason.what}), so {_driver(build)} cannot be built for it."
    return failed(f"headers of {release}", reason.line, cause=cause, remedy=install_headers(release))


def install_headers(release: str) -> str:
    """What to do where a kernel's headers are not there."""
    return (
        f"Install the headers of exactly the running kernel (Debian, Ubuntu: linux-headers-{release}; RHEL, Fedora: kernel-devel-{release}; Arch: the -headers "
        f"package of that kernel), {AGAIN}; if the repository no longer has them, upgrade kernel and headers together and reboot into that kernel."
    )


@_build_rule(
    "kernel.build_kernel_kind",
    symptom="The build stops at a check of its own: 'The kernel you are installing for is a PREEMPT_RT kernel!'.",
    cause="The driver does not build for a kernel of this kind or configuration (PREEMPT_RT, Xen, a missing option).",
    fix="Boot the distribution's standard kernel of the same version, with its headers, and build again.",
    verify="uname -v does not say PREEMPT_RT; dkms status says installed.",
    source="NVIDIA Kbuild, conftest.sh sanity checks; NVIDIA/open-gpu-kernel-modules #1240, xanmod/linux #65",
)
def build_kernel_kind(facts: Facts, wanted: Wanted) -> Outcome:
    """The driver supports the kernel's kind"""
    found = _found(facts, kinds.KERNEL_KIND)
    if found is None:
        return _none(facts)
    build, reason = found
    cause = f"{_kernel(facts, build)} is of a kind or configuration that {_driver(build)} does not support ({reason.what}), so the module's build refuses it."
    remedy = f"Boot a standard kernel of the distribution without it (PREEMPT_RT: IGNORE_PREEMPT_RT_PRESENCE=1 skips the check, unsupported), {AGAIN}."
    return failed("a kernel that the driver supports", reason.line, cause=cause[0].upper() + cause[1:], remedy=remedy)


@_build_rule(
    "kernel.build_tools",
    symptom="make.log: 'bc: not found', 'gelf.h: No such file or directory', 'g++: command not found'.",
    cause="A program or library that the build of a kernel module needs is not installed.",
    fix="Install it (build-essential, libelf-dev, bc; RHEL family: make, gcc-c++, elfutils-libelf-devel), and build again.",
    verify="dkms autoinstall -k $(uname -r) ends with 0.",
    source="NVIDIA/open-gpu-kernel-modules #805 (g++ not a dependency)",
)
def build_tools(facts: Facts, wanted: Wanted) -> Outcome:
    """The build of the module has its programs and libraries"""
    found = _found(facts, kinds.TOOLS)
    if found is None:
        return _none(facts)
    build, reason = found
    what = reason.what
    cause = f"The build of {_driver(build)} for {_kernel(facts, build)} lacks {what}, so there is no module for it."
    remedy = f"Install what brings {what} ({_PACKAGES.get(what, what)}), {AGAIN}."
    if "GLIBC" in what:
        cause = f"The kernel's build tools need a newer C library than that of the system or container image in which {_driver(build)} is built ({what})."
        remedy = f"Build in a container image of the host's own distribution release, {AGAIN}."
    return failed("the build's programs and libraries", reason.line, cause=cause, remedy=remedy)


# What people call the compiler: cc, ls_usr_bin_cc, default_compiler.
IS_CC = re.compile(r"(?:^|_)(?:cc|compiler)(?:_version)?$")


@_build_rule(
    "kernel.build_sources",
    symptom=(
        "dkms: 'Bad return status for module build', 'autoinstall … failed for nvidia(10)'; make.log: 'implicit declaration', "
        "'incompatible pointer type', 'GPL-only symbol'."
    ),
    cause="The driver is older than the kernel: its module sources do not compile for it.",
    fix="Upgrade to a driver branch that supports the kernel, or boot the previous kernel and hold it until there is one.",
    verify="dkms status says installed for $(uname -r).",
    source=("NVIDIA/open-gpu-kernel-modules #635 #594 #501; xanmod/linux #411 (GPL-only symbol); Frogging-Family/nvidia-all #288; knowledge/driver_kernels.py"),
)
def build_sources(facts: Facts, wanted: Wanted) -> Outcome:
    """The driver's sources compile for the kernel"""
    found = _found(facts, kinds.SOURCE)
    if found:
        return _not_compiled(facts, *found)
    builds = [build for build in facts.module_builds or () if build.failed and not any(_concerns(reason, facts.kernel_release) for reason in build.reasons)]
    return _failed_without_reason(facts, builds[0]) if builds else _none(facts)


def _not_compiled(facts: Facts, build: Build, reason: Reason) -> Outcome:
    """The compiler or the linker named what does not fit."""
    gpl = "gpl-only" in reason.line.lower()
    what = f"the proprietary module uses the symbol {reason.what}, which this kernel gives to GPL modules only" if gpl else reason.what
    cause = f"{_driver(build)} does not compile for {_kernel(facts, build)} ({what}): {_age(facts, build)}."
    remedy = _newer_driver(facts, build, driver_kernels.GPL_ONLY_FIXES.get(reason.what, ()) if gpl else ())
    return failed("sources that compile for the kernel", reason.line, cause=cause[0].upper() + cause[1:], remedy=remedy)


def _failed_without_reason(facts: Facts, build: Build) -> Outcome:
    """Only that it failed is known: the table says whether the driver knows of this kernel."""
    clang = next((f"{name.replace('_', ' ')}: {value}" for name, value in facts.bundle.stated.items() if IS_CC.search(name) and "clang" in str(value)), "")
    if clang:
        cause = f"The module build of {_driver(build)} for {_kernel(facts, build)} failed: cc is clang ({clang}), while the kernel is built with gcc."
        remedy = f"Make gcc the compiler that DKMS uses (link /usr/bin/cc to gcc, or CC=gcc), {AGAIN}."
        return failed(
            "the compiler that built the kernel", clang, cause=cause, remedy=remedy, confidence="medium", decided_by="cat /proc/version; cc --version"
        )
    log = f"/var/lib/dkms/nvidia/{build.drivers[0] if build.drivers else '<version>'}/build/make.log"
    old = _is_too_old(facts, build)
    other = "" if old else f"; the other possibility, a compiler or headers that do not match this kernel, stands in {log}"
    cause = f"The module build of {_driver(build)} for {_kernel(facts, build)} failed: {_age(facts, build)}{other}."
    return failed(
        "a module built for the kernel",
        f"{_driver(build)} failed to build",
        cause=cause,
        remedy=_newer_driver(facts, build),
        confidence="high" if old else "medium",
        decided_by="" if old else f"the first error in {log}",
    )


def _release(facts: Facts, build: Build) -> str:
    return facts.kernel_release or (build.kernels[0] if build.kernels else "")


def _is_too_old(facts: Facts, build: Build) -> bool:
    """Whether the kernel is newer than any that the driver's release knows of."""
    known = driver_kernels.newest_kernel(build.drivers[0]) if build.drivers else None
    return known is not None and driver_kernels.number(_release(facts, build))[:2] > known


def _age(facts: Facts, build: Build) -> str:
    """How old the driver is for the kernel, in words."""
    if not _is_too_old(facts, build):
        return "the driver is most likely too old for the kernel's interfaces, which it does not support"
    known = driver_kernels.newest_kernel(build.drivers[0]) or ()
    return (
        f"the driver is too old, it predates this kernel: its release knows of kernels up to {'.'.join(map(str, known))}, and "
        "its sources do not build for newer ones"
    )


def _newer_driver(facts: Facts, build: Build, first: tuple[str, ...] = ()) -> str:
    """Upgrade or step back; `first` are releases known to be right."""
    kernel = ".".join(map(str, driver_kernels.number(_release(facts, build))[:2]))
    first = first or (driver_kernels.drivers_for(kernel) if kernel else ())
    known = f" (first releases known to: {', '.join(first)})" if first else ""
    return (
        f"Upgrade the driver to a newer driver branch that supports kernel {kernel or '$(uname -r)'}{known}, {AGAIN}; "
        "or boot the previous, older kernel, for which the module is built, and hold it."
    )
