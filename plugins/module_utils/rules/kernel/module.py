# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The module that should be there for the running kernel: its packages, headers, DKMS's word, precompiled packages."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.model import KERNEL
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import module_load
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.rpm import is_of
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.kernel.build import install_headers
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.kernel.load import plain
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.kernel.loaded import is_loaded
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown

# dpkg(1): the package was unpacked, and its configuration (which builds the module) did not run or did not end.
HALF = {"U": "unpacked", "F": "half-configured", "H": "half-installed"}
# An image of a precompiled driver container, or a package of prebuilt modules, that the registry or repository does not have for this kernel.
_NO_PRECOMPILED = (
    r"(?:driver:\d{3}[\d.]*-(?P<kernel>\d+\.\d+\.\d+-[\w.-]+?)-(?:ubuntu|rhel|rhcos|sles|rocky)[\w.]*[^\n]{0,400}(?:not ?found|manifest unknown)"
    r"|(?:unable to locate package|no match for argument:|couldn.t find any package by (?:glob|regex)|no package) '?"
    r"(?P<package>(?:linux-(?:modules|objects|signatures)-nvidia|kmod-nvidia)-\S*\d\.\d+\.\d+-[\w.-]+))"
)
_KERNEL_PACKAGES = re.compile(r"nvidia\S*dkms|nvidia-kernel|linux-(?:image|headers|modules)-")
_NOT_THERE = re.compile(r"(?:not (?:installed|there|found|present)|none|no|false|missing|absent|uninstalled)\b", re.I)
_OTHER_KERNEL = re.compile(r"(?:other|old|older|previous|another|lts|stock|default)_kernels?")
_WORKS = re.compile(r"\b(?:works?|worked|loads|loaded|fine|ok)\b(?! not)", re.I)
_FAILS = re.compile(r"\b(?:not|no|never|fails?|failed|neither)\b|n't\b", re.I)
_NO_HEADERS = (
    r"(?:no packages? found matching|package|cannot access)[^\n]*(?:linux-headers-|kernel-devel-|/lib/modules/){release}[^\n]*(?:not installed|No such file|$)"
)


@rule(
    "kernel.packages_configured",
    layer=KERNEL,
    probes=("dpkg_l",),
    symptom="apt: 'Sub-process /usr/bin/dpkg returned an error code (1)'; dpkg -l shows iF or iU; the module is missing after an upgrade.",
    cause="The installation of a kernel or driver package did not end: usually its DKMS build failed.",
    fix="Read the build's log (/var/lib/dkms/nvidia/<version>/build/make.log), remove its reason, then dpkg --configure -a.",
    verify="dpkg --audit prints nothing.",
    source="dpkg(1), package states",
)
def packages_configured(facts: Facts, wanted: Wanted) -> Outcome:
    """Kernel and module packages are wholly installed"""
    if facts.packages is None:
        return not_applicable("no dpkg") if facts.bundle.absent("dpkg_l") else unknown()
    half = [f"{p.name} {p.version} ({HALF[p.status[1]]})" for p in facts.packages.values() if p.status[1:2] in HALF and _KERNEL_PACKAGES.search(p.name)]
    if not half:
        return passed() if facts.bundle.complete("dpkg_l") else unknown()
    cause = (
        f"The upgrade is half done: {', '.join(half[:3])}; the package's DKMS build or configuration failed, so the module for the kernel is missing or old."
    )
    remedy = (
        "Read /var/lib/dkms/nvidia/<version>/build/make.log, install the kernel headers and the compiler that it misses, then "
        "dpkg --configure -a (apt-get -f install) and reboot."
    )
    return failed("installed (ii)", ", ".join(half[:3]), cause=cause, remedy=remedy)


@rule(
    "kernel.headers_present",
    layer=KERNEL,
    probes=("kernel_release", "linux_headers", "dkms_status", "dpkg_l"),
    symptom="dkms says 'Your kernel headers for kernel … cannot be found'; the module is missing after the next driver update.",
    cause="The headers of the running kernel are not installed, so DKMS cannot build a module for it.",
    fix="Install the headers of exactly the running kernel: apt-get install linux-headers-<release>; the lock should list them.",
    verify="ls -d /lib/modules/$(uname -r)/build",
    source="dkms(8); zen-kernel/zen-kernel #305; GoogleCloudPlatform/compute-gpu-installation #25",
)
def headers_present(facts: Facts, wanted: Wanted) -> Outcome:
    """Where modules are built by DKMS, the running kernel's headers are there"""
    lacks = _stated_without_headers(facts)
    if lacks and is_loaded(facts) is False:
        running = f" {facts.kernel_release}" if facts.kernel_release else ""
        cause = f"The kernel headers of the running kernel{running} are not installed ({lacks}), so DKMS did not build the nvidia module for it."
        return failed("headers of the running kernel", lacks, cause=cause, remedy=install_headers(facts.kernel_release or "$(uname -r)"))
    pinned = wanted.pin("nvidia_driver", "build") == "dkms"
    if not pinned and (is_loaded(facts) is not False or not _by_dkms(facts)):
        return not_applicable("the driver's module is not pinned to a DKMS build, and no missing module of DKMS asks for headers")
    release, have = facts.kernel_release, _headers(facts)
    if release is None or (have is None and not _said_to_miss(facts, release)):
        return unknown()
    if have and release in have:
        return (
            passed(f"headers of {release}") if facts.header_kernels else unknown(f"the package with the headers of {release} is there, nobody looked at them")
        )
    if have is not None and not have and not (pinned or facts.bundle.complete("linux_headers")):
        return unknown()
    seen = "headers of " + (", ".join(sorted(have or ())) or "no kernel")
    cause = f"The kernel headers of the running kernel {release} are not installed (found: {seen}), so DKMS cannot build the nvidia module for it."
    return failed(f"headers of {release}", seen, cause=cause, remedy=install_headers(release), confidence="high" if pinned else "medium")


def _stated_without_headers(facts: Facts) -> str:
    """Somebody's word that the running kernel has no headers; empty where there is none."""
    said = ((name, str(value)) for name, value in facts.bundle.stated.items() if "headers" in name or "kernel_devel" in name)
    return next((f"{name.replace('_', ' ')}: {value}" for name, value in said if _NOT_THERE.match(value.strip())), "")


def _by_dkms(facts: Facts) -> bool:
    """The node's modules come from DKMS, by its list or a package."""
    names = [*(module.name for module in facts.dkms_modules or ()), *(facts.packages or {}), *(package.name for package in facts.rpms or ())]
    return any("nvidia" in name and ("dkms" in name or name in {m.name for m in facts.dkms_modules or ()}) for name in names)


def _headers(facts: Facts) -> frozenset[str] | None:
    """The kernels with headers: build directories, or packages where nobody listed those. None: nobody looked."""
    if facts.header_kernels is not None:
        return facts.header_kernels
    found = {match.group(1) for name in facts.installed_packages or () if (match := re.match(r"linux-headers-(\d\S+-[a-z]\S*)$", name))}
    found |= {f"{p.version}-{p.release}.{p.architecture}" for p in facts.rpms or () if p.name in ("kernel-devel", "kernel-default-devel")}
    return frozenset(found) if found else None


def _said_to_miss(facts: Facts, release: str) -> bool:
    """A tool's own word that this kernel's headers are not there."""
    pattern = re.compile(_NO_HEADERS.format(release=re.escape(release)))
    return any(pattern.search(facts.bundle.output(name) or "") for name in ("linux_headers", "dpkg_l", "rpm_qa"))


@rule(
    "kernel.module_built_for_kernel",
    layer=KERNEL,
    probes=("kernel_release", "modinfo_nvidia", "dkms_status", "dpkg_l", "lsmod"),
    symptom="nvidia-smi: 'couldn't communicate with the NVIDIA driver'; modprobe: 'Module nvidia not found in directory /lib/modules/…'.",
    cause="There is no nvidia module built for the running kernel.",
    fix="Build it (dkms autoinstall -k $(uname -r), with that kernel's headers), or boot the kernel for which it is built.",
    verify="modinfo -k $(uname -r) -F vermagic nvidia begins with the running release.",
    source="dkms(8), modinfo(8); NVIDIA/yum-packaging-precompiled-kmod #35, NVIDIA/nvidia-docker #365 #804, NVIDIA/gpu-operator #1203",
)
def module_built_for_kernel(facts: Facts, wanted: Wanted) -> Outcome:
    """An nvidia module is built for exactly the running kernel"""
    if facts.wsl or facts.tegra:
        return not_applicable("WSL and Tegra serve the GPU without NVIDIA's module for PCI")
    release = facts.kernel_release
    if release and facts.module_on_disk is not None:
        return _by_modinfo(facts, release, facts.module_on_disk)
    precompiled = facts.said(_NO_PRECOMPILED, lambda source: not source.startswith("run "))
    if precompiled and not is_loaded(facts):
        return _no_precompiled(facts, precompiled[1])
    not_found = facts.load_said(module_load.NOT_FOUND) or facts.load_said(module_load.NO_MODULE_TREE)
    if not_found and not is_loaded(facts):
        named = not_found[1].groupdict().get("kernel")
        return _not_built(facts, release or named or "$(uname -r)", f"no nvidia module for it ({plain(not_found[0])})")
    other = _works_on_another(facts)
    if other and is_loaded(facts) is False:
        named = release or str(facts.bundle.stated.get("kernel") or "$(uname -r)")
        return _not_built(facts, named, f"no nvidia module that loads on it, while with another kernel the driver works ({other})", "medium")
    if release and is_loaded(facts) is False:
        return _by_lists(facts, release)
    return unknown()


def _works_on_another(facts: Facts) -> str:
    """Somebody's word that the same driver works while another kernel is booted; empty where there is none."""
    said = ((name, str(value)) for name, value in facts.bundle.stated.items() if _OTHER_KERNEL.fullmatch(name))
    return next((f"{name.replace('_', ' ')}: {value}" for name, value in said if _WORKS.search(value) and not _FAILS.search(value)), "")


def _no_precompiled(facts: Facts, said: re.Match[str]) -> Outcome:
    """The precompiled driver lags behind the kernel."""
    release = facts.kernel_release or said["kernel"] or "$(uname -r)"
    observed = (said["package"] or said.group().splitlines()[0])[:200]
    cause = (
        f"There is no precompiled nvidia module or driver image for the running kernel {release} ({observed}): it is published "
        "some time after the kernel, or not for this flavour."
    )
    remedy = (
        "Boot the kernel for which a precompiled driver exists and hold it (check the registry's tags before upgrading the "
        "kernel), or let the driver be compiled "
        "for the running kernel (driver.usePrecompiled=false with a full driver version, or DKMS)."
    )
    return failed(f"a precompiled module for {release}", observed, cause=cause, remedy=remedy)


def _by_modinfo(facts: Facts, release: str, module: dict[str, str]) -> Outcome:
    """The file that modprobe would load."""
    built_for = module.get("vermagic", "").split(" ")[0]
    if built_for == release:
        return passed(f"{module.get('version', '')} for {built_for}".strip())
    return _not_built(facts, release, f"the module found is built for {built_for}" if built_for else "no nvidia module for it")


def _by_lists(facts: Facts, release: str) -> Outcome:
    """The module is not loaded: what DKMS and the packages say about this kernel."""
    ours = [module for module in facts.dkms_modules or () if module.name.startswith("nvidia")]
    here = [module for module in ours if module.kernel == release]
    if any(module.state.startswith("installed") for module in here) or any(is_of(kernel, release) for kernel in (facts.module_packages or {}).values()):
        return passed(f"a module for {release} is there")
    if here:
        states = ", ".join(f"{module.name}/{module.version}: {module.state}" for module in here)
        return _not_built(facts, release, f"DKMS has not installed it ({states})", "medium")
    broken = re.search(r"Could not locate dkms\.conf|Missing the module source directory|: broken", facts.bundle.output("dkms_status") or "")
    if broken:
        return _not_built(facts, release, f"DKMS's tree is broken ({broken.group()}): remove /var/lib/dkms/nvidia/<old version> and add the driver again")
    if not ours and not facts.module_packages:
        return unknown()
    return _not_built(facts, release, "no nvidia module for it", "medium")


def _elsewhere(facts: Facts, release: str) -> list[str]:
    """The modules that are there, for other kernels."""
    found = [f"{name}, built for {kernel}" for name, kernel in sorted((facts.module_packages or {}).items()) if not is_of(kernel, release)]
    for module in facts.dkms_modules or ():
        if module.name.startswith("nvidia") and module.kernel != release:
            found.append(f"DKMS {module.name}/{module.version} {module.state}" + (f" for {module.kernel}" if module.kernel else ", built for no kernel"))
    return found


def _not_built(facts: Facts, release: str, observed: str, confidence: str = "high") -> Outcome:
    """No module for the running kernel, what there is instead, and which way leads out."""
    elsewhere = _elsewhere(facts, release)
    there = f"; there is {'; '.join(elsewhere[:3])}" if elsewhere else ""
    cause = f"There is no nvidia module built for the running kernel {release}: {observed}{there}."
    return failed(f"a module for {release}", observed + there, cause=cause, remedy=_way_out(facts, release), confidence=confidence)


def _way_out(facts: Facts, release: str) -> str:
    if facts.module_packages:
        return (
            f"Install the precompiled module package for kernel {release} (linux-modules-nvidia-<branch>-{release}, or the "
            "kmod-nvidia of that kernel), boot the kernel for "
            "which the installed kmod is built and hold it, or switch to the DKMS flavour of the driver, which builds for each kernel."
        )
    gone = facts.boot_kernels is not None and facts.bundle.complete("boot_kernels") and release not in facts.boot_kernels
    boot = "Reboot: the running kernel was replaced on disk and its modules removed; or b" if gone else "B"
    return (
        f"{boot}uild it: install the headers of the running kernel (linux-headers-{release}, kernel-devel-{release}), then dkms autoinstall -k {release} "
        "and modprobe nvidia (read make.log if the build fails); or boot the kernel for which the module is built and hold it."
    )
