# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether the framework in the image is a CUDA build, with the CUDA libraries of its release beside it."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.cuda_symptoms import (
    CPU_BUILDS,
    LIBRARY_MISMATCH,
    MISSING_LIBRARY,
    NO_COMPILER,
    TENSORFLOW_NONE,
    TORCH_FALSE,
    CpuBuild,
)
from ansible_collections.goldnode.gpu.plugins.module_utils.model import CUDA
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.container import from_container
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, rule, unknown
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.runs import complaint, from_program, heard, not_seen, without_toolkit
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.symptoms import ended_well


def stated_build(facts: Facts) -> tuple[CpuBuild, str] | None:
    """A framework's version or package that somebody states, `torch_version: 2.1.0+cpu`."""
    for name, value in facts.bundle.stated.items():
        framework = re.match(r"(torch|pytorch|tensorflow|onnxruntime|jax|pip|conda)", name)
        found = next((build for build in CPU_BUILDS if framework and re.search(build.pattern, f"{name} {value}", re.I)), None)
        if found:
            return found, f"{name}: {value}"
    return None


def cpu_build(facts: Facts) -> tuple[CpuBuild, str] | None:
    """The framework that was built without CUDA, and its words."""
    spoken = ((build, said) for build in CPU_BUILDS if (said := heard(facts, build.pattern, from_program)))
    return next(spoken, None) or stated_build(facts) or stated_index(facts)


def stated_index(facts: Facts) -> tuple[CpuBuild, str] | None:
    """The wheels' index of the CPU builds in the image's Dockerfile or build arguments, where torch says that there is no CUDA."""
    index = next((f"{name}: {value}" for name, value in facts.bundle.stated.items() if "download.pytorch.org/whl/cpu" in str(value)), "")
    torch = next((build for build in CPU_BUILDS if build.framework in ("torch", "PyTorch")), None)
    return (torch, index) if index and torch and heard(facts, r"torch\.cuda\.is_available\(\)[^\n]{0,10}False|Torch not compiled with CUDA") else None


FALLBACK = (
    r"(?:CUDA|GPUs?)\b[^\n]{0,40}\b(?:not (?:available|found|detected|visible)|unavailable)[^\n]{0,60}\bCPU\b|(?:falling|fell|fall) back to (?:the )?CPU"
    r"|running on (?:the )?CPU instead"
)


@rule(
    "cuda.framework_build",
    layer=CUDA,
    probes=(),
    symptom="nvidia-smi works in the container and torch.cuda.is_available() is False; Torch not compiled with CUDA enabled; a program runs on the CPU.",
    cause="The image holds the CPU-only build of the framework: pip or conda resolved it so, or the image is the CPU variant.",
    fix=(
        "Install the CUDA build and pin it: pip install torch --index-url https://download.pytorch.org/whl/cu126; onnxruntime-gpu; tensorflow[and-cuda]; "
        "jax[cuda12]."
    ),
    verify="python -c 'import torch; print(torch.__version__, torch.version.cuda, torch.cuda.is_available())' names a CUDA version and says True.",
    source="nicklashansen/tdmpc2 #51; microsoft/onnxruntime #9451; pytorch.org get-started",
)
def framework_has_cuda(facts: Facts, wanted: Wanted) -> Outcome:
    """The framework in the image is a CUDA build"""
    found = None if without_toolkit(wanted) else cpu_build(facts)
    if found:
        build, said = found
        cause = f"The image holds a CPU-only build of {build.framework}, without CUDA: it cannot use the GPU whatever driver and container give it."
        return failed(f"a CUDA build of {build.framework}", said, cause=cause, remedy=f"Install a CUDA build and pin it: {build.install}; rebuild the image.")
    return framework_sees_nothing(facts) or not_seen(facts, wanted)


def framework_sees_nothing(facts: Facts) -> Outcome | None:
    """A framework says no more than that there is no GPU while nvidia-smi works in the container: likely a CPU build, or one of a newer CUDA."""
    torch, tensorflow = heard(facts, TORCH_FALSE), heard(facts, TENSORFLOW_NONE)
    works = any(str(run.get("payload") or "").startswith("nvidia_smi") and run.get("rc") == 0 and not run.get("note") for run in facts.runs)
    if not (torch or tensorflow) or not works:
        return None
    name, install, version = (
        ("torch", "pip install torch --index-url https://download.pytorch.org/whl/cu126 (not newer than the driver's CUDA)", "torch.version.cuda")
        if torch
        else ("tensorflow", "pip install 'tensorflow[and-cuda]', or an image tagged -gpu", "tensorflow.test.is_built_with_cuda()")
    )
    cause = (
        f"nvidia-smi works in the container and {name} sees no CUDA: {name} is a CPU-only build (pip or conda resolved it without CUDA), or made for a newer "
        "CUDA."
    )
    return failed(
        f"a CUDA build of {name}",
        torch or tensorflow,
        cause=cause,
        remedy=f"Pin a CUDA build of {name} in the image: {install}.",
        confidence="low",
        decided_by=f"python -c 'import {name}; print({name}.__version__, {version})' in the container: +cpu, None or False is the CPU build",
    )


@rule(
    "cuda.library_missing",
    layer=CUDA,
    probes=(),
    symptom="libcublas.so.12: cannot open shared object file; Could not load library libcudnn_ops_infer.so.8; Cannot dlopen some GPU libraries.",
    cause="A CUDA library that must come with the image is missing or of another major version: base images have none, runtime images no cuDNN.",
    fix=(
        "Use the image's -cudnn-runtime variant of the release that the framework was built for, or install nvidia-cublas-cu12, nvidia-cudnn-cu12 and set "
        "LD_LIBRARY_PATH."
    ),
    verify="ldconfig -p, or LD_DEBUG=libs, finds the library in the container.",
    source="SYSTRAN/faster-whisper #516, #729; nvidia/cuda image flavours; tensorflow.org/install/pip",
)
def libraries_are_there(facts: Facts, wanted: Wanted) -> Outcome:
    """The CUDA libraries that the program needs are in the image"""
    found = complaint(facts, MISSING_LIBRARY, from_program)
    if found is None or without_toolkit(wanted):
        return not_seen(facts, wanted)
    named = found[1].groupdict()
    library = named.get("what") or named.get("other") or "a CUDA library (cuDNN, cuBLAS, cudart, TensorRT)"
    image = f" ({', '.join(facts.container_images)})" if facts.container_images else ""
    cause = f"{library} is missing in the container image{image}, or of another major version: the image, and never the host's driver, brings CUDA's libraries."
    return failed(library, heard(facts, MISSING_LIBRARY, from_program), cause=cause)


@rule(
    "cuda.library_mismatch",
    layer=CUDA,
    probes=(),
    symptom="cuDNN version incompatibility; Loaded runtime CuDNN library 8.0.5 but source was compiled with 8.1.0; undefined symbol __nvJitLinkAddData_12_1.",
    cause="The CUDA libraries that are loaded are of another version than the framework was built with; LD_LIBRARY_PATH often finds a second set first.",
    fix="Install the versions that the framework was built with, and remove the other set from the image and from LD_LIBRARY_PATH.",
    verify="LD_DEBUG=libs shows one set of CUDA libraries.",
    source="pytorch/pytorch #111469; tensorflow.org/install/source tested build configurations",
)
def libraries_agree(facts: Facts, wanted: Wanted) -> Outcome:
    """The CUDA libraries in the image are those that the framework was built with"""
    said = heard(facts, LIBRARY_MISMATCH, from_program)
    if said is None or without_toolkit(wanted):
        return not_seen(facts, wanted)
    if "CUDNN_STATUS_NOT_INITIALIZED" in said:
        cause = (
            "cuDNN could not be initialised in the image: its version does not go with the framework's CUDA or the driver, or the GPU's memory was already "
            "taken."
        )
        return failed("one cuDNN of the framework's version", said, cause=cause, confidence="low", decided_by="nvidia-smi while it starts: free memory decides")
    return failed("one set of CUDA libraries", said)


@rule(
    "cuda.compiler_missing",
    layer=CUDA,
    probes=(),
    symptom="nvcc: not found; CUDA_HOME environment variable is not set, while building an extension in a container.",
    cause="The image is a base or runtime flavour without compiler and headers; nvcc comes with the devel flavour and never from the host.",
    fix="Build in the -devel flavour of the image (multi-stage: copy the result into -runtime), or install cuda-nvcc and set CUDA_HOME.",
    verify="nvcc --version in the build stage.",
    source="nvidia/cuda image flavours (base, runtime, devel)",
)
def compiler_is_there(facts: Facts, wanted: Wanted) -> Outcome:
    """An image in which CUDA code is compiled has the compiler"""
    said = heard(facts, NO_COMPILER, lambda source: from_container(source) and not ended_well(facts, source))
    return not_seen(facts, wanted) if said is None or without_toolkit(wanted) else failed("nvcc in the image", said)


@rule(
    "cuda.gpu_is_used",
    layer=CUDA,
    probes=(),
    symptom="A job that asked for a GPU ends without an error and takes hours: 'CUDA is not available, using CPU', 'falling back to CPU'.",
    cause="The program went on with the CPU, though containers on this node get a GPU that computes.",
    fix="Pin the framework's CUDA build, take away CUDA_VISIBLE_DEVICES= and --device cpu, and let the entry point fail where CUDA does not initialise.",
    verify="nvidia-smi shows the program's process and its memory while it runs.",
    source="users' reports of silent CPU fallback; seen on lab nodes, 2026-12-01",
)
def gpu_is_used(facts: Facts, wanted: Wanted) -> Outcome:
    """A program that asked for a GPU does not go on with the CPU"""
    said = heard(facts, FALLBACK)
    works = any(run.report and run.report.end.ok for run in facts.container_runs or ())
    if said is None or without_toolkit(wanted):
        return not_seen(facts, wanted)
    if not works:
        return unknown(f"{said}; whether CUDA works in a container here is not known", decided_by="the CUDA probe in a container: validate_nodes")
    cause = f"A program fell back to the CPU ({said}), while CUDA computes in another container here: a CPU-only build, or its devices are hidden from it."
    decides = "in the container: python3 -c 'import torch; print(torch.__version__, torch.version.cuda)'; env | grep CUDA_VISIBLE_DEVICES"
    return failed("the GPU is used", said, cause=cause, confidence="medium", decided_by=decides)
