# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether the programs of the image hold code for the GPU's architecture."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.architectures import (
    ARCHITECTURES,
    BLACKWELL_TORCH,
    LAST_WHEEL_FOR_OLD,
    compiled_for,
    described,
    target,
)
from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.cuda_symptoms import NO_KERNEL_IMAGE, SUPPORTED_LIST
from ansible_collections.goldnode.gpu.plugins.module_utils.model import CUDA
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.cuda.versions import compute_capabilities, image_cuda
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, rule
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.runs import complaint, from_program, heard, not_seen, without_toolkit


def the_gpu(facts: Facts, said: str) -> tuple[int, int] | None:
    """The compute capability that the message complains of, else that of the only kind of GPU there is."""
    named = compiled_for(said) if re.search(r"sm_\d+ is not|capability|compute_\d|gpu arch", said) else None
    known = compute_capabilities(facts)
    return named or (known[0] if len(known) == 1 else None)


def built_for(facts: Facts) -> list[tuple[int, int]]:
    """The architectures that the program says it holds code for."""
    found = complaint(facts, SUPPORTED_LIST, from_program)
    listed = (compiled_for(name) for name in found[1].group(1).split()) if found else ()
    return sorted(capability for capability in listed if capability)


def direction(gpu: tuple[int, int] | None, built: list[tuple[int, int]], said: str) -> str:
    """Whether the GPU is too `new` or too `old` for the program; empty where nothing says which."""
    if gpu and built:
        return "new" if gpu > max(built) else "old"
    if re.search(r"too old|no longer supports|minimum|or newer|at least", said, re.I):
        return "old"
    known = ARCHITECTURES.get(gpu) if gpu else None
    return "" if known is None else ("old" if known.last else "new")


def advice(gpu: tuple[int, int] | None, way: str, framework: str) -> str:
    """What to install."""
    known = ARCHITECTURES.get(gpu) if gpu else None
    if way == "old" and known and known.last:
        return (
            f"Install a build that still has {known.name}: CUDA {known.last} or older, for {framework} the {LAST_WHEEL_FOR_OLD} wheels or an older release; "
            f"or build from source with TORCH_CUDA_ARCH_LIST / -arch={target(gpu) if gpu else ''}; or use a newer GPU."
        )
    if way == "new" and known:
        wheel = f"cu{known.first.replace('.', '')}"
        torch = f", for torch the {wheel} or newer wheels (PyTorch {BLACKWELL_TORCH} or newer)" if known.name == "Blackwell" else ""
        code = target(gpu) if gpu else "this GPU"
        return f"Upgrade to a build made with CUDA {known.first} or newer{torch}, or rebuild with code for {code}; the driver need not change."
    return "Install a newer or rebuilt framework that has code (SASS or PTX) for this GPU, e.g. torch of another CUDA: cu126 for old GPUs, cu128 for Blackwell."


@rule(
    "cuda.architecture",
    layer=CUDA,
    probes=("nvidia_smi_list",),
    symptom=(
        "no kernel image is available for execution on the device, while torch.cuda.is_available() is True; sm_120 is not compatible with the current PyTorch."
    ),
    cause="The framework in the image holds no code for the GPU's compute capability: it is older than the GPU, or has dropped it.",
    fix="Install a build with code for this architecture: for Blackwell (sm_120) torch cu128 or newer; for Maxwell, Pascal, Volta cu126 or older.",
    verify="torch.cuda.get_arch_list() names the GPU's architecture, and a kernel runs.",
    source="NVIDIA/personaplex #23; pytorch/pytorch #157517, #172352; CUDA 13.0 release notes; CUDA C++ Programming Guide, application compatibility",
)
def architecture_is_built(facts: Facts, wanted: Wanted) -> Outcome:
    """The image's programs have code for the GPU"""
    said = heard(facts, NO_KERNEL_IMAGE, from_program)
    if said is None or without_toolkit(wanted):
        return not_seen(facts, wanted)
    gpu, built = the_gpu(facts, said), built_for(facts)
    way = direction(gpu, built, said)
    framework = "torch" if heard(facts, r"torch", from_program) else "the framework"
    model = f"{', '.join(dict.fromkeys(facts.gpu_names))} has " if facts.gpu_names and gpu else ""
    listed = f" It supports {' '.join(target(one) for one in built)}." if built else ""
    cuda = image_cuda(facts)
    made = f" (CUDA {cuda[0]}.{cuda[1]})" if cuda else ""
    relation = {"new": "it is older than the GPU's architecture", "old": "the GPU's architecture is too old for it, support was dropped"}.get(way, "")
    cause = (
        f"The build of {framework} in the image{made} has no kernels for this GPU's architecture{': ' + relation if relation else ''}. "
        f"{model}{described(gpu) if gpu else 'The compute capability is not known here'}.{listed}"
    )
    return failed(f"code for {target(gpu)}" if gpu else "code for the GPU", said, cause=cause, remedy=advice(gpu, way, framework))
