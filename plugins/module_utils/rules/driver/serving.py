# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Driver: whether it serves each GPU, and CUDA on the host."""

from __future__ import annotations

from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.model import DRIVER
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.device_nodes import missing_nodes, wrong_majors
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, passed, rule, unknown

NO_DEVICES = r"No devices (?:were )?found"
NO_CUDA_LIBRARY = r"CUDA (?:UMD )?Version:\s*(?:N/A|ERR!)"
MEANING = "the newest CUDA that this driver serves, not what an image holds"


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
    rows = facts.smi_rows if facts.smi_works else None
    served = {gpu.pci for gpu in facts.gpus} if facts.gpus is not None else {row.pci for row in rows} if rows else None
    if served is None or facts.pci_gpus is None:
        return unknown()
    missing = sorted({gpu.address for gpu in facts.pci_gpus} - served)
    return failed(f"{len(facts.pci_gpus)} GPUs", "not served: " + ", ".join(missing)) if missing else passed(f"{len(served)} GPUs")


@rule(
    "driver.finds_a_gpu",
    layer=DRIVER,
    probes=("nvidia_smi",),
    symptom="nvidia-smi on the host: 'No devices were found', though the module is loaded.",
    cause="The driver serves no GPU.",
    fix="Read dmesg | grep NVRM: it names the reason (kind of module, branch, firmware, power, address space, RmInitAdapter); then lspci -nnk -d 10de:.",
    verify="nvidia-smi -L lists each GPU of lspci.",
    source="NVIDIA/open-gpu-kernel-modules #326 #789 #862",
)
def finds_a_gpu(facts: Facts, wanted: Wanted) -> Outcome:
    """nvidia-smi on the host finds a GPU"""
    match = facts.smi_says(NO_DEVICES)
    if match:
        if missing_nodes(facts):
            return unknown("nvidia-smi finds no device, but device nodes are missing: see device_nodes")
        cause = (
            "The module is loaded, but it serves no GPU (nvidia-smi: No devices were found): the driver cannot initialise it (wrong kind or branch of "
            "the module, "
            "firmware, a GPU in a bad state), or the GPU is not on the bus any more."
        )
        return failed("a GPU", match.group(0), cause=cause, confidence="low", decided_by="dmesg | grep -E 'NVRM|Xid'; lspci -nnk -d 10de:")
    return passed() if facts.smi_works else unknown()


@rule(
    "driver.cuda_library",
    layer=DRIVER,
    probes=("nvidia_smi",),
    symptom="nvidia-smi on the host works but shows 'CUDA Version: N/A'; CUDA programs say 'no driver' or 'insufficient', containers get no libcuda.so.",
    cause="The driver's CUDA library, libcuda.so.1, is missing on the host or of another version.",
    fix="Install the compute part of the driver at the same version (Ubuntu: libnvidia-compute-<branch>; Debian: libcuda1; RHEL, Fedora: "
    "nvidia-driver-cuda; a vGPU guest: "
    "the GRID guest driver), run ldconfig, and write the CDI specification anew.",
    verify=f"nvidia-smi shows a CUDA Version ({MEANING}); ldconfig -p | grep libcuda.so.1",
    source="nvidia-smi reads the CUDA version from libcuda.so; without it the field is N/A",
)
def cuda_library(facts: Facts, wanted: Wanted) -> Outcome:
    """The host has the driver's CUDA library"""
    match = facts.smi_says(NO_CUDA_LIBRARY)
    if match:
        return failed(
            "a CUDA version",
            match.group(0),
            cause=f"nvidia-smi finds no usable libcuda.so on the host ({match.group(0)}): the driver's CUDA library is missing.",
        )
    newest = facts.nvidia_smi_cuda
    return passed(f"CUDA Version {newest}: {MEANING}" if newest else "") if facts.smi_works else unknown()


NO_CODEC = r"lib(?:nvidia-encode|nvcuvid)\.so"
_LACKS = ("false", "no", "none", "absent", "missing", "not installed", "not found")


def lacks_codec(facts: Facts) -> str:
    """What says that the host has no NVENC or NVDEC library; empty where nothing does."""
    said = ((name, str(value).strip().lower()) for name, value in facts.bundle.stated.items() if "nvidia_encode" in name or "nvcuvid" in name)
    stated = [name for name, value in said if value.startswith(_LACKS)]
    listed = [name for name in ("ldconfig_p", "ls_driver_libs") if facts.bundle.complete(name) and "libcuda.so" in (facts.bundle.text(name) or "")]
    without = [f"{name} without libnvidia-encode.so" for name in listed if "libnvidia-encode.so" not in (facts.bundle.text(name) or "")]
    return ", ".join([*stated, *without])


@rule(
    "driver.codec_libraries",
    layer=DRIVER,
    probes=("ls_driver_libs",),
    symptom="ffmpeg, Jellyfin, Plex in a container: 'Cannot load libnvidia-encode.so.1', though the container asks for the capability video.",
    cause="The host's driver is installed without its NVENC and NVDEC libraries, which distributions put in packages of their own: there is nothing to inject.",
    fix="Install them on the host at the driver's version (Debian: libnvidia-encode1 and libnvcuvid1; Ubuntu: libnvidia-encode-<branch> and "
    "libnvidia-decode-<branch>; RHEL, Fedora: nvidia-driver-cuda-libs), and re-create the container.",
    verify="ldconfig -p on the host lists libnvidia-encode.so.1 and libnvcuvid.so.1.",
    source="packages.debian.org libnvidia-encode1; jellyfin/jellyfin #2395",
)
def codec_libraries(facts: Facts, wanted: Wanted) -> Outcome:
    """The host has the driver's video libraries, where a container needs them"""
    said = facts.said(NO_CODEC)
    if said is None:
        return passed("no program misses them") if facts.smi_works else unknown()
    lacks = lacks_codec(facts)
    if not lacks:
        return unknown(f"{said[1].group(0)}; whether the host has the library is not known", decided_by="ldconfig -p | grep -e encode -e nvcuvid on the host")
    cause = f"The packages libnvidia-encode and libnvcuvid are not installed on the host ({lacks}), so there is no library to inject: {said[1].group(0)}."
    return failed("libnvidia-encode.so.1 and libnvcuvid.so.1", said[1].group(0), cause=cause)


@rule(
    "driver.cuda_init_on_host",
    layer=DRIVER,
    probes=("cuda_probe", "ls_dev_nvidia", "ls_dev_nvidia_caps", "proc_driver_nvidia_capabilities", "proc_devices"),
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
    if missing_nodes(facts) or wrong_majors(facts) or facts.missing_capability_nodes:
        return unknown("CUDA fails, but the device nodes are broken: see device_nodes")
    return failed("the exact numbers from each device", _broken_step(answer))


def _broken_step(answer: dict[str, Any]) -> str:
    """The first step that failed, of the whole probe or of a device, with its CUresult."""
    broken = next((device for device in answer.get("devices") or () if device.get("ok") is not True), answer)
    return f"{broken.get('step')}: {broken.get('result_name')} ({broken.get('result')})"
