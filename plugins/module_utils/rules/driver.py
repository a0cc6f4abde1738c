# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Driver: the loaded module, the user space, the fabric manager, and CUDA on the host."""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.gpus import NVSWITCHES
from ansible_collections.goldnode.gpu.plugins.module_utils.model import DRIVER
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.docker import upstream
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import packages
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.device_nodes import missing_nodes, wrong_majors
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, equals_pin, failed, not_applicable, passed, rule, unknown

# What the kernel says when it refuses a module: kernel/module/main.c and version.c, certs, SELinux.
REFUSALS = re.compile(
    r"nvidia.*(?:disagrees about version of symbol|version magic|Unknown symbol|[Ii]nvalid module format|Key was rejected)"
    r"|NVRM: (?:No NVIDIA GPU found|The NVIDIA probe routine was not called|GPU .* is already bound|API mismatch)"
    r"|Loading of (?:unsigned )?module is (?:rejected|restricted).*nvidia"
)


@rule(
    "driver.module_does_not_load",
    layer=DRIVER,
    probes=("proc_driver_nvidia_version", "lsmod", "dmesg"),
    symptom="nvidia-smi: 'couldn't communicate with the NVIDIA driver', though a module was built for the running kernel; /dev/nvidia* are missing.",
    cause="The nvidia module is not in the kernel.",
    fix="Keep the stable release on this node: ansible-playbook goldnode.gpu.provision_pool -e pool=<pool> -e nodes=<node>",
    verify="cat /proc/driver/nvidia/version",
    source="Linux kernel/module/version.c ('disagrees about version of symbol')",
)
def module_loads(facts: Facts, wanted: Wanted) -> Outcome:
    """The nvidia module is loaded"""
    if facts.module_loaded is None:
        return unknown()
    if facts.module_loaded:
        return passed(f"nvidia {facts.loaded_module_version or ''}".strip())
    refusals = tuple(line.strip() for line in facts.kernel_log or () if REFUSALS.search(line))
    expected = f"module nvidia loaded at {upstream(wanted.pin('nvidia_driver', 'version'))}" if wanted.pin("nvidia_driver") else "module nvidia loaded"
    if not refusals:
        return failed(expected, "no nvidia module, and the kernel log does not say why", confidence="medium")
    message = re.sub(r"^\[[ \d.]+\] *", "", refusals[0])
    built = (facts.module_on_disk or {}).get("version", "").strip()
    cause = f"nvidia {built or 'module'} was built for {facts.kernel_release or 'this kernel'} but refuses to load on it ({message.split('nvidia: ')[-1]})."
    return failed(expected, f"no nvidia module; kernel log: {message}", cause=cause, evidence=refusals[:3])


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


@rule(
    "driver.library_version_mismatch",
    layer=DRIVER,
    probes=("proc_driver_nvidia_version", "nvidia_smi"),
    symptom="nvidia-smi: 'Failed to initialize NVML: Driver/library version mismatch' (rc 18); new containers fail, running ones go on.",
    cause="The driver's user space was upgraded while the old module stayed in the kernel: both must be the same version, or NVML refuses every call.",
    fix="Reboot the node, or stop all that uses the GPU and reload the modules; then hold the driver packages (provision_pool does).",
    verify="nvidia-smi prints its table, and its version is that of /proc/driver/nvidia/version.",
    source="NVIDIA forum, 'Driver/library version mismatch'; oddmario/NVIDIA-Ubuntu-Driver-Guide #4, aws/aws-parallelcluster #4127",
)
def library_matches_module(facts: Facts, wanted: Wanted) -> Outcome:
    """User space and the loaded module are the same version"""
    loaded, library = facts.loaded_module_version, facts.library_version
    if facts.module_loaded is False:
        return not_applicable("no module is loaded")
    said = "version mismatch" in (facts.bundle.output("nvidia_smi") or "")
    if loaded and library:
        return passed(loaded) if loaded == library and not said else failed(f"library {loaded}", f"library {library}")
    if said:
        return failed(f"library {loaded or 'of the version of the module'}", "NVML: Driver/library version mismatch")
    return unknown()


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
    "driver.all_gpus_served",
    layer=DRIVER,
    probes=("nvidia_smi_query", "lspci_nnk"),
    symptom="nvidia-smi lists fewer GPUs than lspci.",
    cause="The driver did not take every GPU: RmInitAdapter failed, a GPU needs another driver branch or the other kind of module.",
    fix="Read the NVRM lines of the kernel log (dmesg | grep NVRM) for the GPU that is missing; power-cycle the node if they speak of RmInitAdapter.",
    verify="nvidia-smi -L lists as many GPUs as lspci -d 10de:.",
    source="zzzhouuu/truenas-nvidia-drivers #20",
)
def all_gpus_served(facts: Facts, wanted: Wanted) -> Outcome:
    """The driver serves each GPU that is on PCI"""
    if facts.gpus is None or facts.pci_gpus is None:
        return unknown()
    missing = sorted({gpu.address for gpu in facts.pci_gpus} - {gpu.pci for gpu in facts.gpus})
    return failed(f"{len(facts.pci_gpus)} GPUs", "not served: " + ", ".join(missing)) if missing else passed(f"{len(facts.gpus)} GPUs")


@rule(
    "driver.mig_profile",
    layer=DRIVER,
    probes=("nvidia_smi_list",),
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
    if facts.mig_profiles is None:
        return unknown()
    profile = pinned.split("all-", 1)[-1]
    right = [profiles for profiles in facts.mig_profiles if profiles and set(profiles) == {profile}]
    observed = "; ".join(", ".join(profiles) or "no MIG device" for profiles in facts.mig_profiles)
    return passed(observed) if facts.mig_profiles and len(right) == len(facts.mig_profiles) else failed(pinned, observed or "no GPU")


@rule(
    "driver.fabric_manager",
    layer=DRIVER,
    probes=("lspci_nnk", "fabricmanager_service", "dpkg_l", "proc_driver_nvidia_version"),
    symptom="On NVSwitch systems CUDA says 'system not yet initialized' (802), though nvidia-smi lists every GPU.",
    cause="The fabric manager does not run, or is not of exactly the driver's version.",
    fix="Install nvidia-fabricmanager at exactly the driver's version, and start it: systemctl enable --now nvidia-fabricmanager.",
    verify="systemctl is-active nvidia-fabricmanager; dpkg -l nvidia-fabricmanager* shows the driver's version.",
    source="NVIDIA fabric manager user guide; NVIDIA/gpu-operator #544",
)
def fabric_manager(facts: Facts, wanted: Wanted) -> Outcome:
    """Where there are NVSwitches, the fabric manager runs at exactly the driver's version"""
    switches = facts.pci_devices and any(device.identifier in NVSWITCHES for device in facts.pci_devices)
    if not switches and wanted.pin("fabric_manager") is None:
        return not_applicable("no NVSwitch on PCI and no fabric manager pinned") if facts.pci_devices is not None else unknown()
    service = facts.service("fabricmanager_service")
    if service is None:
        return unknown()
    if service.get("ActiveState") != "active":
        return failed("nvidia-fabricmanager active", f"nvidia-fabricmanager {service.get('ActiveState')}")
    installed = [upstream(p.version) for name, p in (facts.packages or {}).items() if name.startswith("nvidia-fabric") and p.installed]
    if not installed or facts.loaded_module_version is None:
        return unknown()
    return equals_pin(installed[0], facts.loaded_module_version, "fabric manager")


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
    "driver.cuda_init_on_host",
    layer=DRIVER,
    probes=("cuda_probe", "ls_dev_nvidia", "proc_devices"),
    symptom="Every CUDA program fails on the host, also outside of containers.",
    cause="CUDA does not initialise or does not compute on the host, so no container can.",
    fix="Look up the step and result in the observation; if the kernel log has NVRM or Xid lines of that moment, they name the reason.",
    verify="python3 /usr/lib/goldnode/cuda_probe.py --nonce 1 ends with 0.",
    source="CUDA driver API, CUresult",
)
def cuda_init_on_host(facts: Facts, wanted: Wanted) -> Outcome:
    """CUDA initialises on the host and computes the right numbers on each GPU"""
    answer = facts.cuda_probe
    if answer is None:
        return unknown()
    if answer.get("ok") is True:
        return passed(f"{len(answer.get('devices') or ())} devices")
    if missing_nodes(facts) or wrong_majors(facts):
        return unknown("CUDA fails, but the device nodes are broken: see device_nodes")
    return failed("the exact numbers from each device", _broken_step(answer))


def _broken_step(answer: dict[str, Any]) -> str:
    """The first step that failed, of the whole probe or of a device, with its CUresult."""
    broken = next((device for device in answer.get("devices") or () if device.get("ok") is not True), answer)
    return f"{broken.get('step')}: {broken.get('result_name')} ({broken.get('result')})"


@packages.versions_rule("driver.package_versions", layer=DRIVER, verify="dpkg -l | grep nvidia shows the locked versions.")
def driver_packages(facts: Facts, wanted: Wanted) -> Outcome:
    """Driver packages are installed at their locked versions"""
    return packages.packages_are_locked_ones(facts, wanted, DRIVER)


@packages.holds_rule("driver.packages_held", layer=DRIVER)
def driver_holds(facts: Facts, wanted: Wanted) -> Outcome:
    """The locked driver packages are held"""
    return packages.packages_are_held(facts, wanted, DRIVER)
