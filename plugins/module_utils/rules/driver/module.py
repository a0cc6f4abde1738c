# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Driver: whether it is installed, and whether its module is in the kernel."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.model import DRIVER
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.docker import upstream
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.hardware.evidence import silence
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.symptoms import in_container

# What the kernel says when it refuses a module: kernel/module/main.c and version.c, certs, SELinux.
REFUSALS = re.compile(
    r"nvidia.*(?:disagrees about version of symbol|version magic|Unknown symbol|[Ii]nvalid module format|Key was rejected)"
    r"|NVRM: (?:No NVIDIA GPU found|The NVIDIA probe routine was not called|GPU .* is already bound|API mismatch)"
    r"|Loading of (?:unsigned )?module is (?:rejected|restricted).*nvidia"
)
BAD_OPTION = r"nvidia\w*: [`'\"]?(?P<value>[^`'\"\n]*)['\"]? invalid for parameter [`'\"]?(?P<name>\w+)|could not insert '?nvidia'?: Invalid argument"
UNREACHABLE = r"couldn't communicate with the NVIDIA driver|nvml error: driver not loaded|Failed to initialize NVML: Driver Not Loaded|ERROR_DRIVER_NOT_LOADED"
NO_SMI = r"nvidia-smi: (?:command )?not found|command not found: nvidia-smi|Command 'nvidia-smi' not found"
SMI_WORDS = r"NVIDIA-SMI|NVML|NVIDIA driver|No devices were found|Unable to determine the device handle"
NO_NVML = r"couldn't find libnvidia-ml\.so|Failed to initialize NVML: (?:could not load NVML library|Shared Library Not Found)|NVML Shared Library Not Found"
IN_DRIVER_CONTAINER = (
    "The GPU operator's driver container keeps the driver below /run/nvidia/driver, so the host itself has no nvidia-smi and needs none (chroot "
    "/run/nvidia/driver nvidia-smi); installing nvidia-utils or a driver beside it would break it."
)
BLOCKED_IN_WSL = r"GPU access blocked by the operating system|WSL environment detected but no adapters were found|libdxcore\.so[^\n]*(?:cannot open|not found)"


# The driver's libraries come from Windows by GPU paravirtualisation, which Windows 10 has since 21H2. learn.microsoft.com/windows/ai/directml/gpu-cuda-in-wsl
NO_WINDOWS_LIBRARY = r"load library failed: lib(?:nvidia-ml|cuda)\.so|libdxcore\.so[^\n]{0,80}no such file|/usr/lib/wsl/lib[^\n]{0,80}no such file"
FIRST_WITH_GPU = 19044
NEWER_WINDOWS = (
    "Update Windows to 21H2 or later (Windows 10 build 19044, or Windows 11), then wsl --update and a current NVIDIA driver in Windows; install no Linux "
    "driver inside WSL."
)


@rule(
    "driver.windows_driver_serves_wsl",
    layer=DRIVER,
    probes=("nvidia_smi",),
    symptom="In WSL 2 nvidia-smi says 'GPU access blocked by the operating system', or containers 'WSL environment detected but no adapters were found'.",
    cause="WSL does not get the GPU from the Windows driver.",
    fix="In Windows install a current NVIDIA driver, wsl --update, make the distribution version 2, and restart it (wsl --shutdown); inside WSL install "
    "no Linux "
    "display driver (remove nvidia-driver-*, libnvidia-*): only the libraries in /usr/lib/wsl/lib count.",
    verify="ls /dev/dxg; /usr/lib/wsl/lib/nvidia-smi prints its table.",
    source="NVIDIA CUDA on WSL user guide",
)
def windows_driver_serves_wsl(facts: Facts, wanted: Wanted) -> Outcome:
    """In WSL 2 the Windows driver gives the GPU"""
    old = facts.windows_build is not None and facts.windows_build < FIRST_WITH_GPU
    missing = facts.said(NO_WINDOWS_LIBRARY) if facts.wsl and old else None
    if missing:
        cause = (
            f"Windows is too old for GPUs in WSL 2: build {facts.windows_build}, while GPU paravirtualisation needs Windows 10 21H2 (build {FIRST_WITH_GPU}) "
            f"or Windows 11, so no driver library comes from the Windows driver ({missing[1].group(0)})."
        )
        return failed(f"Windows build {FIRST_WITH_GPU}", missing[1].group(0), cause=cause, remedy=NEWER_WINDOWS)
    if facts.no_cgroups and facts.said(BLOCKED_IN_WSL, in_container) and not facts.said(BLOCKED_IN_WSL, lambda source: not in_container(source)):
        return unknown("no-cgroups = true takes the GPU from a rootful engine's containers by itself: see policy")
    said = facts.said(BLOCKED_IN_WSL)
    if said:
        cause = (
            f"WSL 2 does not get the GPU ({said[1].group(0)}): the Windows host driver is missing or too old for WSL (no /dev/dxg, libdxcore), the "
            f"distribution runs "
            "as WSL 1, or a Linux display driver was installed inside WSL over the libraries of /usr/lib/wsl."
        )
        return failed("the Windows driver's GPU", said[1].group(0), cause=cause, decided_by="ls -l /dev/dxg /usr/lib/wsl/lib; wsl -l -v; nvidia-smi in Windows")
    return passed("WSL 2") if facts.wsl and facts.smi_works else not_applicable("not WSL 2, or nothing is wrong")


@rule(
    "driver.is_installed",
    layer=DRIVER,
    probes=("nvidia_smi", "proc_driver_nvidia_version"),
    symptom="nvidia-smi: command not found, or 'couldn't find libnvidia-ml.so'; containers: 'load library failed: libnvidia-ml.so.1'.",
    cause="No NVIDIA driver is installed on the host: containers take it from there.",
    fix="Install the driver at the version that the pool pins (the CUDA toolkit and the container toolkit bring none), reboot, and hold it.",
    verify="nvidia-smi prints its table on the host.",
    source="NVIDIA container toolkit installation guide, prerequisites",
)
def is_installed(facts: Facts, wanted: Wanted) -> Outcome:
    """The driver's user space is installed on the host"""
    if facts.tegra or facts.wsl:
        return not_applicable("Jetson or WSL 2: the driver comes with the system")
    library = None if facts.driver_container else facts.smi_says(NO_NVML)
    if library:
        cause = f"The driver's user space is incomplete on the host: its library libnvidia-ml.so is missing ({library.group(0)})."
        return failed("libnvidia-ml.so", library.group(0), cause=cause)
    if not (facts.bundle.absent("nvidia_smi") or facts.smi_says(NO_SMI)):
        return passed() if facts.smi_works or facts.library_version or facts.smi_says(SMI_WORDS) else unknown()
    if facts.driver_container:
        return not_applicable("a driver container", cause=IN_DRIVER_CONTAINER)
    if facts.module_loaded and not facts.bundle.absent("ls_driver_libs"):
        return unknown("the module is loaded and nvidia-smi is not on the path: a driver container brings it, or the user space is not installed")
    if facts.module_loaded:
        cause = "The nvidia module is loaded, but the driver's user space (nvidia-smi, libnvidia-ml, libcuda) is not installed on the host."
        return failed("nvidia-smi and its libraries", "absent", cause=cause)
    cause = "No NVIDIA driver is installed on the host (nvidia-smi is absent): containers take the driver from the host, images bring none."
    return failed("the NVIDIA driver", "no nvidia-smi", cause=cause)


@rule(
    "driver.module_options",
    layer=DRIVER,
    probes=("dmesg", "modprobe_d"),
    symptom="modprobe nvidia: 'Invalid argument'; nvidia-smi: 'couldn't communicate with the NVIDIA driver' after a change in /etc/modprobe.d.",
    cause="An option of the nvidia module in /etc/modprobe.d has a value that the module refuses.",
    fix="Correct or remove the option in /etc/modprobe.d (modinfo -p nvidia lists them), renew the initramfs (update-initramfs -u, dracut -f), and load "
    "the module again.",
    verify="modprobe nvidia succeeds; cat /proc/driver/nvidia/params shows the value.",
    source="Linux kernel/params.c; NVIDIA driver README, module parameters",
)
def module_options(facts: Facts, wanted: Wanted) -> Outcome:
    """The kernel accepts the module's options"""
    match = facts.told(BAD_OPTION)
    if match:
        option = f"{match.group('name')}={match.group('value')}" if match.group("name") else "an option in /etc/modprobe.d"
        return failed(
            "options that the module accepts", match.group(0), cause=f"The nvidia module refuses its option {option} ({match.group(0)}), and does not load."
        )
    return silence(facts)


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
    if facts.tegra or facts.wsl:
        return not_applicable("Jetson or WSL 2: the driver has no nvidia module of this kind")
    if facts.module_loaded:
        return passed(f"nvidia {facts.loaded_module_version or ''}".strip())
    expected = f"module nvidia loaded at {upstream(wanted.pin('nvidia_driver', 'version'))}" if wanted.pin("nvidia_driver") else "module nvidia loaded"
    if facts.module_loaded is None:
        return _unreachable(facts, expected)
    refusals = tuple(line.strip() for line in facts.kernel_log or () if REFUSALS.search(line))
    if not refusals:
        return failed(expected, "no nvidia module, and the kernel log does not say why", confidence="medium")
    message = re.sub(r"^\[[ \d.]+\] *", "", refusals[0])
    built = (facts.module_on_disk or {}).get("version", "").strip()
    cause = f"nvidia {built or 'module'} was built for {facts.kernel_release or 'this kernel'} but refuses to load on it ({message.split('nvidia: ')[-1]})."
    return failed(expected, f"no nvidia module; kernel log: {message}", cause=cause, evidence=refusals[:3])


def _unreachable(facts: Facts, expected: str) -> Outcome:
    """Nobody looked for the module, but tools that need it do not reach it."""
    match = facts.told(UNREACHABLE)
    if not match:
        return unknown()
    kernel = (facts.kernel_release or facts.bundle.text("uname_r") or "").strip()
    cause = (
        f"The nvidia kernel module is not loaded on the host ({match.group(0)}): either none is built for the running kernel{kernel and ' '}{kernel} "
        "(a kernel update without DKMS rebuild or headers), or the kernel refuses it (Secure Boot, nouveau holds the GPU)."
    )
    remedy = (
        "Run modprobe nvidia and read its error and dmesg; install the headers of the running kernel and build the module (dkms autoinstall), or boot "
        "the kernel that "
        "it is built for; sign it or enrol the key where Secure Boot is on; block nouveau; then hold kernel and driver."
    )
    return failed(
        expected, match.group(0), cause=cause, remedy=remedy, confidence="medium", decided_by="modinfo nvidia; dkms status; dmesg | grep -iE 'nvidia|nvrm'"
    )
