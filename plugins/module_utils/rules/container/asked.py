# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What containers asked for: a GPU at all, the parts of the driver that their programs need, and in a form that reaches the engine."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.container_symptoms import CAPABILITIES, NO_GPU, NO_NVIDIA_SMI
from ansible_collections.goldnode.gpu.plugins.module_utils.model import CONTAINER
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.gpu_request import GpuRequest
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, rule, unknown
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.runs import NO_TOOLKIT, heard, not_seen, orchestrated, without_toolkit

# ffmpeg's encoders and decoders of NVIDIA, beside a word of failure.
ENCODER_FAILS = r"(?:fail|cannot|error|unavailable|no capable)[^\n]{0,80}_nvenc|_nvenc[^\n]{0,80}(?:fail|cannot|error|invalid|unavailable|no capable)"
# Variables that people write in place of a request.
MEANT = re.compile(r"-*gpus?|(?:docker_)?gpus?|nvidia_visible_devices|nvidia_driver_capabilities|use_gpu|enable_gpu", re.I)
REQUEST_FORMS = (
    "Ask for the GPU: docker run --gpus all (before the image name), or --device nvidia.com/gpu=all; in Compose deploy.resources.reservations.devices "
    "with driver: nvidia, count: 1, capabilities: [gpu], or gpus: all (Compose 2.30), at the service that needs it. Then re-create the container."
)


def meant(request: GpuRequest, facts: Facts) -> str:
    """The variable by which somebody meant to ask for a GPU, `NAME=value`; empty where there is none."""
    named = {**(facts.env_file_variables or {}), **request.environment}
    return next((f"{name}={value}" for name, value in named.items() if MEANT.fullmatch(name) and value.lower() not in ("", "void", "none", "false", "0")), "")


def misplaced(request: GpuRequest) -> str:
    """An option of the engine right after the image name, where it is the program's; further on a program may have an option of that name."""
    first = request.arguments[0] if request.arguments and not request.asks else ""
    return first if re.fullmatch(r"--gpus(?:=.*)?|--runtime=nvidia|--device=(?:nvidia\.com/gpu|/dev/nvidia).*", first) else ""


def no_gpu_seen(facts: Facts) -> str | None:
    """How a container shows that it has no GPU: by its words, or because somebody says that the program runs without one."""
    if str(facts.bundle.stated.get("app_uses_gpu")).lower() in ("false", "no"):
        return "the program does not use the GPU"
    return heard(facts, NO_GPU)


def nothing_asked(facts: Facts) -> list[GpuRequest]:
    """The requests, if they are all that is known and none of them asks for a GPU; a default runtime of NVIDIA's would ask for them."""
    requests = list(facts.gpu_requests)
    asks = any(request.asks or request.bare_nodes for request in requests)
    declared = any(run.get("request") in ("gpus", "cdi", "runtime", "devices") and not run.get("note") for run in facts.runs)
    by_default = (facts.default_runtime or "").startswith("nvidia")
    return [] if asks or by_default or (declared and not facts.compose_requests and not facts.inspect_requests) else requests


def undeclared_runs(facts: Facts) -> list[str]:
    """Runs that say of themselves that they asked for nothing."""
    return [str(run.get("image") or "container") for run in facts.runs if run.get("request") == "none" and run.get("engine") != "kubernetes"]


def _of_undeclared(facts: Facts, seen: str) -> bool:
    """Whether the words are of a run that asked for nothing, beside others that asked."""
    number = re.match(r"run (\d+):", seen)
    return bool(number) and facts.runs[int(number.group(1)) - 1].get("request") == "none" if number else False


ENROOT_CAUSE = (
    "enroot's hook (98-nvidia.sh) injects the driver and devices only where NVIDIA_VISIBLE_DEVICES is set in the image or the environment, and it is not: "
    "docker's --gpus sets it by itself, and nvidia/cuda images bring it."
)
ENROOT_REMEDY = (
    "Set NVIDIA_VISIBLE_DEVICES=all (NVIDIA_DRIVER_CAPABILITIES=compute,utility) in the job's environment, in enroot's environ.d, or in the image (ENV)."
)


def by_enroot(facts: Facts) -> bool:
    """Whether a container of enroot or Pyxis got no variable by which its hook would give it GPUs."""
    silent = any(run.get("engine") in ("enroot", "pyxis") and run.get("request") in (None, "none") for run in facts.runs)
    return silent and "NVIDIA_VISIBLE_DEVICES" not in (facts.container_environment or {})


def asked_for_nothing(names: str, variable: str, seen: str | None, after_image: str) -> Outcome:
    """The failure: nobody asked, with what was meant to ask."""
    if after_image:
        why = f"{after_image} stands after the image name, so it is an argument of the program in the container and no option of the engine"
    else:
        why = f"{names} has no device request: no --gpus, no deploy.resources.reservations.devices, no CDI device, no runtime: nvidia"
    only = f"; {variable} is only an environment variable, which requests no GPU without the nvidia runtime" if variable and not after_image else ""
    cause = f"Nobody asked for a GPU: {why}{only}, so the engine injects neither devices nor driver libraries and programs fall back to the CPU."
    return failed("a GPU request", seen or variable or after_image, cause=cause, remedy=REQUEST_FORMS)


@rule(
    "container.gpu_requested",
    layer=CONTAINER,
    probes=(),
    symptom="A program in a container sees no GPU or silently uses the CPU, while nvidia-smi works on the host and docker run --gpus all does.",
    cause="The container was started without a GPU request; an environment variable, or an option after the image name, is none.",
    fix=REQUEST_FORMS,
    verify="docker inspect -f '{{.HostConfig.DeviceRequests}} {{.HostConfig.Runtime}}' CONTAINER shows the request, and nvidia-smi works in the container.",
    source="docs.docker.com/compose/how-tos/gpu-support; ollama/ollama #3417; NVIDIA Container Toolkit docker-specialized.md",
)
def gpu_is_requested(facts: Facts, wanted: Wanted) -> Outcome:
    """A container whose program wants a GPU asks for one"""
    if without_toolkit(wanted):
        return not_applicable(NO_TOOLKIT)
    seen = no_gpu_seen(facts)
    after_image = next((word for request in facts.command_requests or () if (word := misplaced(request))), "")
    if not after_image and heard(facts, r"exec: \"--gpus"):
        after_image = "--gpus"
    silent = nothing_asked(facts)
    variable = next((found for request in silent if (found := meant(request, facts))), "")
    if after_image or (silent and (seen or variable)):
        return asked_for_nothing(", ".join(request.source for request in silent[:3]), variable, seen, after_image)
    if seen and by_enroot(facts):
        return failed("NVIDIA_VISIBLE_DEVICES", seen, cause=ENROOT_CAUSE, remedy=ENROOT_REMEDY, confidence="medium")
    undeclared = undeclared_runs(facts)
    if undeclared and seen and not (facts.gpu_requests and not _of_undeclared(facts, seen)):
        return asked_for_nothing(undeclared[0], "", seen, "")
    return not_seen(facts, wanted)


def missing_capability(facts: Facts) -> tuple[str, str] | None:
    """The driver's part that a program does not find, and its words."""
    return next(((name, said) for name, pattern in CAPABILITIES if (said := heard(facts, pattern))), None)


def encoder_fails(facts: Facts) -> tuple[str, str] | None:
    """NVENC's failure in a program's own words; many things make it fail, so it counts only where the request names its capabilities, without video."""
    named = facts.requested_capabilities or ()
    said = heard(facts, ENCODER_FAILS) if named and not {"video", "all"} & set(named) else None
    return ("video", said) if said else None


def utility_works(facts: Facts) -> bool:
    """Whether nvidia-smi worked in a container, so that the GPU and `utility` are there."""
    return any(str(run.get("payload") or "").startswith("nvidia_smi") and run.get("rc") == 0 and run.get("request") != "none" for run in facts.runs)


@rule(
    "container.driver_capabilities",
    layer=CONTAINER,
    probes=(),
    symptom="nvidia-smi works in the container and CUDA does not find libcuda.so.1, or the other way round; NVENC, EGL or Vulkan do not find their libraries.",
    cause="The request or NVIDIA_DRIVER_CAPABILITIES names driver capabilities without the one that the program needs, so its libraries are not injected.",
    fix="Set NVIDIA_DRIVER_CAPABILITIES=compute,utility (plus video or graphics; or all), or leave the list in the request at capabilities: [gpu].",
    verify=(
        "ldconfig -p in the container lists libcuda.so.1 (compute), libnvidia-ml.so.1 (utility), libnvidia-encode.so.1 (video), libEGL_nvidia.so.0 (graphics)."
    ),
    source="NVIDIA Container Toolkit docker-specialized.md, driver capabilities; mudler/LocalAI #11973",
)
def capabilities_suffice(facts: Facts, wanted: Wanted) -> Outcome:
    """The driver capabilities that a container asks for are those that its program needs"""
    missing = missing_capability(facts) or encoder_fails(facts)
    if missing is None or facts.musl or without_toolkit(wanted):
        return not_seen(facts, wanted)
    name, said = missing
    named = facts.requested_capabilities or ()
    if named and name not in named and "all" not in named:
        return without_capability(name, said, f"names the driver capabilities {', '.join(named)} without {name}", "high")
    if not named and name in ("video", "graphics"):
        return without_capability(name, said, f"leaves the driver capabilities at their default, compute and utility, without {name}", "medium")
    if not named and name == "compute" and utility_works(facts) and not facts.gpu_requests:
        return without_capability(name, said, "gives nvidia-smi and not libcuda, as driver capabilities without compute do", "medium")
    return not_seen(facts, wanted)


def without_capability(name: str, said: str, why: str, confidence: str) -> Outcome:
    """The failure: one driver capability was not asked for."""
    libraries = {
        "compute": "libcuda",
        "utility": "nvidia-smi and libnvidia-ml",
        "video": "libnvidia-encode and libnvcuvid",
        "graphics": "libEGL_nvidia, libGLX_nvidia, Vulkan's",
    }
    wants = "compute,utility" if name in ("compute", "utility") else f"compute,utility,{name}"
    return failed(
        f"driver capability {name}",
        said,
        cause=f"The container's request {why}, so its libraries ({libraries[name]}) are not injected.",
        remedy=(
            f"Set NVIDIA_DRIVER_CAPABILITIES={wants} (or all), or add {name} to capabilities in the device request (capabilities: [gpu] alone leaves the "
            "choice to the image), and re-create the container."
        ),
        confidence=confidence,
        decided_by="docker inspect -f '{{.HostConfig.DeviceRequests}} {{.Config.Env}}' CONTAINER" if confidence != "high" else "",
    )


@rule(
    "container.nvidia_smi",
    layer=CONTAINER,
    probes=(),
    symptom='exec: "nvidia-smi": executable file not found in $PATH.',
    cause="No container image has nvidia-smi: it comes from the host with the driver capability utility, if a GPU was asked for and injected.",
    fix=REQUEST_FORMS,
    verify="nvidia-smi works in the container.",
    source="NVIDIA/nvidia-container-toolkit #126, #1526; NVIDIA Container Toolkit docker-specialized.md",
)
def nvidia_smi_is_injected(facts: Facts, wanted: Wanted) -> Outcome:
    """nvidia-smi is in a container that has a GPU"""
    said = heard(facts, NO_NVIDIA_SMI)
    if said is None or facts.musl or without_toolkit(wanted):
        return not_seen(facts, wanted)
    if facts.tegra or facts.host_l4t:
        return not_applicable(
            "the host is a Jetson", cause="A Jetson's driver has no nvidia-smi before JetPack 7: its absence in a container is no fault. Try tegrastats."
        )
    asked = [run for run in facts.runs if run.get("request") in ("gpus", "cdi", "runtime", "devices", "compose")]
    if asked or facts.gpu_requests or orchestrated(facts):
        return unknown(f"{said}; the GPU was asked for and not injected, or without the capability utility", decided_by="ls /dev/nvidia* in the container")
    cause = (
        "nvidia-smi was not injected: no GPU was asked for, or the driver capability utility is not among NVIDIA_DRIVER_CAPABILITIES; the image never brings "
        "it."
    )
    return failed(
        "nvidia-smi", said, cause=cause, remedy=REQUEST_FORMS, confidence="low", decided_by="docker inspect -f '{{.HostConfig.DeviceRequests}}' CONTAINER"
    )
