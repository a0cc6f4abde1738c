# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Driver: one version of it, in the kernel and in user space, and the pinned one."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.model import DRIVER
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import needles, nvrm
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.docker import upstream
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import packages
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, equals_pin, failed, not_applicable, passed, rule, unknown

# NVML, CUDA's loaders, the container hook, the device plugin and DCGM say it in these ways.
MISMATCH = r"driver/library version mismatch|LIB_RM_VERSION_MISMATCH|NVML/RM version mismatch|DRIVER_LIBRARY_VERSION_MISMATCH|API mismatch: the "
MODULE_PACKAGE = re.compile(r"dkms|kmod|kernel|linux-modules")


@rule(
    "driver.library_version_mismatch",
    layer=DRIVER,
    probes=("proc_driver_nvidia_version", "nvidia_smi", "dmesg"),
    symptom="nvidia-smi: 'Failed to initialize NVML: Driver/library version mismatch' (rc 18); new containers fail ('nvml error: driver/library version "
    "mismatch'), running ones go on.",
    cause="The driver's user space was upgraded while the old module stayed in the kernel: both must be the same version, or NVML refuses every call.",
    fix="Reboot the node, or stop all that uses the GPU and reload the modules; then hold the driver packages (provision_pool does).",
    verify="nvidia-smi prints its table, and its version is that of /proc/driver/nvidia/version.",
    source="NVIDIA forum, 'Driver/library version mismatch'; oddmario/NVIDIA-Ubuntu-Driver-Guide #4, aws/aws-parallelcluster #4127, "
    "NVIDIA/k8s-device-plugin #1431, NVIDIA/nvidia-container-toolkit #394",
)
def library_matches_module(facts: Facts, wanted: Wanted) -> Outcome:
    """User space and the loaded module are the same version"""
    if facts.module_loaded is False:
        return not_applicable("no module is loaded")
    refused = nvrm.mismatch(facts.nvrm or "")
    own = needles.search(MISMATCH, facts.bundle.output("nvidia_smi") or "")
    loaded, library = facts.loaded_module_version, facts.library_version
    differ = bool(loaded and library and not _same(loaded, library))
    if facts.smi_works and not own and not differ:
        return _works(loaded, refused)
    said = own or facts.told(MISMATCH) or (None if facts.bundle.looked("container_ls_libs") else facts.said(MISMATCH))
    if not (said or refused or differ):
        return passed(loaded) if loaded and library else unknown()
    return _mismatch(facts, refused.module if refused and not loaded else loaded, library or (refused.library if refused else None))


def _same(loaded: str, library: str) -> bool:
    """NVML prints only two parts of its version in some releases: `NVML library version: 550.144`."""
    return loaded == library or loaded.startswith(library + ".")


def _works(loaded: str | None, refused: nvrm.Mismatch | None) -> Outcome:
    """nvidia-smi on the host works; a client that was refused is then another one."""
    if not refused:
        return passed(loaded or "nvidia-smi works")
    words = (
        f"The kernel log's API mismatch ({refused.library} against {refused.module}) is of another client, such as a container image with a driver of its own."
    )
    return passed(loaded or "nvidia-smi works", cause=words)


def _mismatch(facts: Facts, module: str | None, library: str | None) -> Outcome:
    installed = {name: version for name, version in (facts.driver_packages or {}).items() if module is None or version != module}
    name, version = next(iter(installed.items()), ("", ""))
    user_space = library if library and library.count(".") > 1 else version or library
    packaged = f" (package {name} {version})" if name else ""
    cause = (
        f"On the host the loaded kernel module is {module or 'of one version'} while the driver's user space (libraries, libnvidia-ml) is "
        f"{user_space or 'of another'}{packaged}: the driver was upgraded, or installed a second time, under a loaded module; the host driver is broken, "
        "not the container or the toolkit, which only relay it."
    )
    on_disk = (facts.module_on_disk or {}).get("version", "")
    newer = f"; the module on disk is {on_disk}" if on_disk else ""
    remedy = (
        "Reboot the node, or stop everything that uses the GPU and reload the modules (modprobe -r nvidia_uvm nvidia_drm nvidia_modeset nvidia; "
        "modprobe nvidia)"
        f"{newer}. If modinfo -F version nvidia still names the old version, as after a .run or image-installed driver under distribution packages, a "
        f"reboot alone "
        "keeps the mismatch: install module and user space at the same version from one source (purge or reinstall the other), then hold the packages "
        "(apt-mark hold) and keep them out of unattended upgrades."
    )
    return failed(f"user space {module or 'of the version of the module'}", f"user space {user_space or 'of another version'}", cause=cause, remedy=remedy)


@rule(
    "driver.one_installation",
    layer=DRIVER,
    probes=("ls_driver_libs", "dpkg_l"),
    symptom="nvidia-smi or containers take libraries of another version than the module's, now and then; an update mends nothing.",
    cause="Two drivers are installed at once.",
    fix="Remove one of them wholly (nvidia-uninstall for a .run installation, apt-get purge or dnf remove for packages), reinstall the other, run "
    "ldconfig and reboot.",
    verify="ldconfig -p and find name libcuda.so and libnvidia-ml.so of one version only.",
    source="NVIDIA driver README, chapter 4; NVIDIA's installation guide, removing the driver",
)
def one_installation(facts: Facts, wanted: Wanted) -> Outcome:
    """The host's libraries are of one driver only"""
    versions = facts.host_library_versions
    if not versions:
        return not_applicable("no listing of the driver's libraries")
    if len(versions) == 1:
        return passed(versions[0])
    if facts.smi_works and not facts.said(MISMATCH):
        return passed(", ".join(versions), cause="Libraries of another version lie on the host as left-overs; the loader takes the right ones.")
    cause = f"Two drivers are installed at once: libcuda.so or libnvidia-ml.so of {' and '.join(versions)} lie on the host, and the loader may take either."
    return failed("libraries of one version", ", ".join(versions), cause=cause)


@rule(
    "driver.packages_of_one_version",
    layer=DRIVER,
    probes=("dpkg_l",),
    symptom="After an interrupted or partial upgrade the driver fails at the next boot: 'Driver/library version mismatch'.",
    cause="The packages of the kernel module and those of the user space are of different versions.",
    fix="Finish the upgrade (dpkg --configure -a; apt-get install -f), or install all driver packages at one version; then reboot, and hold them.",
    verify="dpkg -l 'nvidia-*' 'libnvidia-*' shows one upstream version.",
    source="illinois-scicomp/machine-shop-maintenance #70",
)
def packages_of_one_version(facts: Facts, wanted: Wanted) -> Outcome:
    """The driver's packages of module and user space have one version"""
    found = facts.driver_packages
    if found is None:
        return not_applicable("no list of packages")
    module = {name: version for name, version in found.items() if MODULE_PACKAGE.search(name)}
    user_space = {name: version for name, version in found.items() if re.search(r"libnvidia-compute|nvidia-utils|libcuda1|libnvidia-ml|driver-cuda", name)}
    wrong = next(((one, other) for one in module.items() for other in user_space.items() if one[1] != other[1]), None)
    if wrong is None:
        return passed(", ".join(dict.fromkeys([*module.values(), *user_space.values()])) or "no driver package")
    (kernel_name, kernel_version), (name, version) = wrong
    cause = f"The driver is half upgraded: the module's package {kernel_name} is {kernel_version}, the user space's {name} is {version}."
    return failed("one version", f"{kernel_name} {kernel_version}, {name} {version}", cause=cause)


@rule(
    "driver.version_is_pinned",
    layer=DRIVER,
    probes=("proc_driver_nvidia_version",),
    symptom="Other results, speed or CUDA level than on the pool's other nodes.",
    cause="The loaded nvidia module is not of the pinned version.",
    fix=packages.PROVISION,
    verify="cat /proc/driver/nvidia/version shows the pinned version.",
    source="docs/pins_and_locks.md, key nvidia_driver",
)
def version_is_pinned(facts: Facts, wanted: Wanted) -> Outcome:
    """The loaded module has the pinned version"""
    pinned = wanted.pin("nvidia_driver", "version")
    return equals_pin(facts.loaded_module_version, pinned and upstream(pinned))


@packages.versions_rule("driver.package_versions", layer=DRIVER, verify="dpkg -l | grep nvidia shows the locked versions.")
def driver_packages(facts: Facts, wanted: Wanted) -> Outcome:
    """Driver packages are installed at their locked versions"""
    return packages.packages_are_locked_ones(facts, wanted, DRIVER)


@packages.holds_rule("driver.packages_held", layer=DRIVER)
def driver_holds(facts: Facts, wanted: Wanted) -> Outcome:
    """The locked driver packages are held"""
    return packages.packages_are_held(facts, wanted, DRIVER)
