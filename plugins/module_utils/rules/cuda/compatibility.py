# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The image's CUDA against the host's driver: what it requires, what it was compiled by, and forward compatibility."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge import cuda_releases
from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.architectures import CONSUMER
from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.cuda_symptoms import BUILT_FOR_DRIVER, COMPAT, MISMATCH_803, PTX, REQUIREMENT, TOO_OLD
from ansible_collections.goldnode.gpu.plugins.module_utils.model import CUDA
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.cuda.versions import driver_cuda, image_cuda
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, rule, unknown
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.runs import complaint, heard, not_seen, without_toolkit

NEWER_DRIVER = "Upgrade the host's driver, or use a container image of an older CUDA release"


def host(facts: Facts) -> str:
    """What the driver of the host can do, as the end of a sentence."""
    cuda = driver_cuda(facts)
    if cuda:
        return f"the host's driver {f'{facts.driver_version} ' if facts.driver_version else ''}supports CUDA up to {cuda_releases.named(cuda)}"
    return "the host's driver is older than that"


def to_do(facts: Facts, cuda: tuple[int, int] | None) -> str:
    """Upgrade the driver to what the CUDA release needs, or choose an older image."""
    driver = cuda_releases.driver_for(cuda) if cuda else None
    can = driver_cuda(facts)
    older = f" (CUDA {cuda_releases.named(can)} or older)" if can else ""
    return f"Upgrade the host's driver{f' to {driver} or newer' if driver else ''}, or use a container image or framework build of an older CUDA release{older}"


@rule(
    "cuda.image_requirement",
    layer=CUDA,
    probes=("nvidia_smi",),
    symptom="nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.8, please update your driver to a newer version.",
    cause="The image's NVIDIA_REQUIRE_CUDA asks for a newer CUDA, driver or another brand than the host has.",
    fix=NEWER_DRIVER + "; NVIDIA_DISABLE_REQUIRE=1 skips the check where minor-version compatibility suffices.",
    verify="The same command starts.",
    source="theroyallab/tabbyAPI #324; NVIDIA/libnvidia-container; nvidia/cuda images' NVIDIA_REQUIRE_CUDA",
)
def requirement_is_met(facts: Facts, wanted: Wanted) -> Outcome:
    """The driver meets what the image requires of it"""
    found = complaint(facts, REQUIREMENT) or complaint(facts, BUILT_FOR_DRIVER)
    if found is None or without_toolkit(wanted):
        return not_seen(facts, wanted)
    what = found[1].group("what").strip(" ,:")
    cuda = cuda_releases.release(what) if "cuda" in what else None
    cause = f"The container image requires {what} (NVIDIA_REQUIRE_CUDA), and {host(facts)}."
    if "brand" in what:
        cause += " The brand condition allows an older driver on data centre GPUs only."
    remedy = f"{to_do(facts, cuda)}; NVIDIA_DISABLE_REQUIRE=1 skips the check where CUDA's minor-version compatibility suffices."
    return failed(what, f"{found[0].source}: {found[1].group()[:300]}", cause=cause, remedy=remedy)


@rule(
    "cuda.driver_too_old",
    layer=CUDA,
    probes=("nvidia_smi",),
    symptom="CUDA driver version is insufficient for CUDA runtime version (35); the NVIDIA driver on your system is too old; error 36.",
    cause="The image's CUDA runtime is of a newer release than the host's driver can serve.",
    fix=NEWER_DRIVER + "; on data centre GPUs cuda-compat in the image bridges a major release.",
    verify="nvidia-smi shows a CUDA version at least that of the image.",
    source="NVIDIA CUDA Compatibility guide; CUDA release notes, table 2; cuda.h of CUDA 13.5",
)
def driver_serves_the_runtime(facts: Facts, wanted: Wanted) -> Outcome:
    """The driver is new enough for the image's CUDA runtime"""
    found = complaint(facts, TOO_OLD)
    if found is None or without_toolkit(wanted):
        return not_seen(facts, wanted)
    text = heard(facts, TOO_OLD) or ""
    cuda = image_cuda(facts)
    needs = cuda_releases.oldest_driver(cuda) if cuda else None
    seen = cuda_releases.release(found[1].groupdict().get("found") or "")
    if (
        cuda
        and needs
        and facts.driver_version
        and cuda_releases.numbers(facts.driver_version) >= cuda_releases.numbers(needs)
        and not re.search("REQUIRES_NEWER|too old", text)
    ):
        why = (
            f"Driver {facts.driver_version} is new enough for the image's CUDA {cuda_releases.named(cuda)}: the program found no driver (libcuda not "
            "injected) or an older libcuda."
        )
        return unknown(text, cause=why, decided_by="ldconfig -p | grep libcuda, and nvidia-smi, in the container")
    wants = f"CUDA {cuda_releases.named(cuda)} needs driver {needs} or newer; " if cuda and needs else ""
    old = f"the driver that the program finds supports CUDA {cuda_releases.named(seen)}" if seen else host(facts)
    cause = f"The host's driver is too old for the CUDA runtime of the image or framework: {wants}{old}."
    return failed("a driver for the image's CUDA", text, cause=cause, remedy=to_do(facts, cuda) + ".")


@rule(
    "cuda.ptx_version",
    layer=CUDA,
    probes=("nvidia_smi",),
    symptom="the provided PTX was compiled with an unsupported toolchain (222); PTX JIT compilation failed (218).",
    cause="The program's PTX comes from a newer CUDA toolkit than the driver's: minor-version compatibility does not cover compiling PTX.",
    fix=NEWER_DRIVER + ", or compile SASS for this GPU (-gencode arch=compute_XX,code=sm_XX) instead of PTX.",
    verify="The program's kernels run.",
    source="NVIDIA CUDA Compatibility guide, minor-version compatibility; fauxpilot #19; NVIDIA/CUDALibrarySamples #47",
)
def ptx_is_understood(facts: Facts, wanted: Wanted) -> Outcome:
    """The driver can compile the program's PTX"""
    said = heard(facts, PTX)
    if said is None or without_toolkit(wanted):
        return not_seen(facts, wanted)
    cuda = image_cuda(facts)
    made = f" (CUDA {cuda_releases.named(cuda)})" if cuda else ""
    cause = (
        f"The PTX in the image was compiled by a newer CUDA toolkit{made} than the driver understands: {host(facts)}. Minor-version compatibility does not "
        "cover PTX."
    )
    remedy = to_do(facts, cuda) + ", or compile SASS for this GPU (code=sm_XX) instead of PTX."
    return failed("PTX that the driver understands", said, cause=cause, remedy=remedy)


@rule(
    "cuda.forward_compatibility",
    layer=CUDA,
    probes=("nvidia_smi_list",),
    symptom="forward compatibility was attempted on non supported HW (804).",
    cause="The image's cuda-compat libcuda is used, and the GPU is none of those (data centre, Jetson) on which forward compatibility works.",
    fix=NEWER_DRIVER + "; or remove cuda-compat from the image and /usr/local/cuda/compat from LD_LIBRARY_PATH and ld.so.conf.d.",
    verify="ldconfig -p in the container resolves libcuda.so.1 to the host's version.",
    source="NVIDIA CUDA Compatibility guide, forward compatibility; NVIDIA/nvidia-docker #1294, #1515; oobabooga/textgen #4407",
)
def forward_compatibility_works(facts: Facts, wanted: Wanted) -> Outcome:
    """The image's forward compatibility package works on this GPU"""
    said = heard(facts, COMPAT)
    if said is None or without_toolkit(wanted):
        return not_seen(facts, wanted)
    consumer = next((name for name in facts.gpu_names or () if re.search(CONSUMER, name, re.I)), "")
    model = f"{consumer} is no data centre GPU" if consumer else "the GPU is none on which it works (data centre GPUs, Jetson; no GeForce)"
    cause = (
        "The container image is of a newer CUDA than the driver, and its forward compatibility library (cuda-compat, /usr/local/cuda/compat/libcuda.so) is "
        "loaded instead "
        f"of the host's libcuda: {model}; {host(facts)}."
    )
    remedy = (
        f"{to_do(facts, image_cuda(facts))}; or remove cuda-compat from the image and /usr/local/cuda/compat from LD_LIBRARY_PATH. If the host's driver was "
        "just upgraded, "
        "reboot so that module and libcuda agree."
    )
    return failed("the host's libcuda", said, cause=cause, remedy=remedy)


@rule(
    "cuda.driver_combination",
    layer=CUDA,
    probes=("nvidia_smi",),
    symptom="system has unsupported display driver / cuda driver combination (803), in a container, while nvidia-smi works on the host.",
    cause="The libcuda in the container and the host's kernel module do not go together: cuda-compat of an unsupported branch, or a libcuda in the image.",
    fix=(
        "Remove the image's own libcuda (cuda-compat, libnvidia-compute, LD_LIBRARY_PATH entries) so that the injected one is found, or upgrade the host's "
        "driver."
    ),
    verify="ldconfig -p | grep libcuda in the container shows the host's version first.",
    source="NVIDIA CUDA Compatibility guide; docs.nvidia.com NIM troubleshooting (803)",
)
def driver_combination_is_supported(facts: Facts, wanted: Wanted) -> Outcome:
    """The container's libcuda and the host's module go together"""
    said = heard(facts, MISMATCH_803)
    if said is None or without_toolkit(wanted):
        return not_seen(facts, wanted)
    works = facts.smi_works or facts.bundle.rc("nvidia_smi") == 0
    why = "The libcuda that the container loads (cuda-compat, or driver files in the image) does not go with the host's kernel module"
    if not works:
        other = "the host's user space was upgraded without reloading its module"
        return unknown(said, cause=f"{why}, or {other}.", decided_by="nvidia-smi on the host: a mismatch there is the driver's fault")
    return failed("the host's libcuda", said, cause=f"{why}; {host(facts)}, and nvidia-smi works there.")
