# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which devices containers got: those that were asked for, as many, in the order that the program expects, with the libraries beside them."""

from __future__ import annotations

import re
from typing import Any, Mapping

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.container_errors import REFRESH
from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.container_symptoms import NO_COMPUTE, NO_GPU, NO_UTILITY, ORDINAL
from ansible_collections.goldnode.gpu.plugins.module_utils.model import CONTAINER
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.container_run import Run
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.cuda_probe import Report
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.gpu_request import GpuRequest, of_command
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.runs import NO_TOOLKIT, complaint, heard, host_report, not_seen, without_toolkit

# What CUDA says when it finds no device, or one that it may not open: in a container, where the host is fine, nothing (usable) was injected.
NO_USABLE_DEVICE = (100, 101, 999)
# How programs print CUDA_VISIBLE_DEVICES, and how the hook and the engines refuse a device.
# Nothing behind an equals sign is an empty value; `map[CUDA_VISIBLE_DEVICES: GPU_DEVICE_ORDINAL: …]` (ollama, always) is a variable that is not set.
SPOKEN_VARIABLE = (
    r"CUDA_VISIBLE_DEVICES(?: is set to|\W{0,3}[=:])\s*['\"]?(-1|none|void|NoDevFiles|[\w-]+(?:,[\w-]+)*)['\"]?(?=[\s'\",;.)\]]|$)"
    r"|CUDA_VISIBLE_DEVICES=(?:''|\"\")?(?=[\s,;)]|$)"
)
UNKNOWN_DEVICE = r"device error: (?:unknown device id: )?(?P<id>[\w:.-]+)(?:: unknown device)?|unresolvable CDI devices (?P<cdi>nvidia\.com/gpu=[\w:.-]+)"
HIDES_ALL = ("", "-1", "none", "void", "nodevfiles")
NVIDIA_SMI_LINE = re.compile(r"^[ \t]*GPU \d+: ", re.M)


@rule(
    "container.bare_devices",
    layer=CONTAINER,
    probes=(),
    symptom="/dev/nvidia0 is in the container, and CUDA or nvidia-smi find no library or no device.",
    cause="--device /dev/nvidia* passes device nodes and nothing else: no driver library, and only the nodes that were listed.",
    fix=(
        "Ask by --gpus or --device nvidia.com/gpu=all, which inject nodes and libraries; by hand also pass nvidiactl, nvidia-uvm, nvidia-uvm-tools and the "
        "libraries."
    ),
    verify="ls /dev/nvidia* and ldconfig -p | grep libcuda in the container.",
    source="NVIDIA/nvidia-docker #1008; Kaixhin/dockerfiles #1; NVIDIA Container Toolkit cdi-support.md",
)
def bare_devices_are_whole(facts: Facts, wanted: Wanted) -> Outcome:
    """A container that gets device nodes by path gets the libraries too, and all nodes that CUDA opens"""
    by_path = [request for request in facts.gpu_requests if request.bare_nodes and not request.asks]
    declared = [run for run in facts.runs if run.get("request") == "devices"]
    said = heard(facts, f"{NO_COMPUTE}|{NO_UTILITY}|{NO_GPU}|CUDA_ERROR_UNKNOWN|CUDA unknown error|error 999|GPU access blocked by the operating system")
    if not (by_path or declared) or said is None:
        return not_seen(facts, wanted)
    nodes = by_path[0].bare_nodes if by_path else tuple(re.findall(r"/dev/nvidia[\w-]*", str(declared[0].get("devices") or "")))
    absent = [node for node in ("/dev/nvidiactl", "/dev/nvidia-uvm") if nodes and node not in nodes]
    if absent and not heard(facts, f"{NO_COMPUTE}|{NO_UTILITY}"):
        cause = f"The container gets device nodes by path ({', '.join(nodes)}) without {' and '.join(absent)}, which CUDA opens too."
        return failed("/dev/nvidia0, /dev/nvidiactl, /dev/nvidia-uvm", said, cause=cause)
    cause = (
        f"The container gets bare device nodes ({', '.join(nodes) or '--device /dev/nvidia*'}) and no driver libraries: --device injects no libcuda and no "
        "nvidia-smi."
    )
    return failed("the driver's libraries beside its device nodes", said, cause=cause)


def hidden_by_cuda(facts: Facts) -> str | None:
    """CUDA_VISIBLE_DEVICES of the containers, by their environment or their own words; None where nothing says it."""
    value = (facts.container_environment or {}).get("CUDA_VISIBLE_DEVICES")
    if value is not None:
        return value
    said = complaint(facts, SPOKEN_VARIABLE)
    return (said[1].group(1) or "") if said else None


def visible_count(facts: Facts) -> int | None:
    """How many GPUs a container sees: by nvidia-smi -L in it, by what was counted for the report, or by its request for so many."""
    for name in ("container_nvidia_smi_list_count", "service_visible_gpu_count", "container_visible_gpus"):
        number = re.search(r"\d+", str(facts.bundle.stated.get(name) or ""))
        if number:
            return int(number.group())
    lists = [len(NVIDIA_SMI_LINE.findall(str(run.get("stdout") or ""))) for run in facts.runs if run.get("payload") == "nvidia_smi_list"]
    return max(lists, default=0) or None


def requested_count(facts: Facts) -> tuple[int, str] | None:
    """How many GPUs a container asked for, and who."""
    stated = re.search(r"\d+", str(facts.bundle.stated.get("service_requested_gpu_count") or ""))
    if stated:
        return int(stated.group()), "the service"
    return next(((count, request.source) for request in facts.gpu_requests if (count := count_of(request)) is not None), None)


def count_of(request: GpuRequest) -> int | None:
    """How many GPUs a request is for; None: all, or it does not say."""
    if (request.count or "").isdigit():
        return int(str(request.count))
    visible = request.environment.get("NVIDIA_VISIBLE_DEVICES", "")
    ids = request.ids or request.cdi or tuple(part for part in visible.split(",") if re.fullmatch(r"\d+|GPU-[\w-]+", part))
    return len(ids) if ids and "all" not in " ".join(ids) else None


def counts(facts: Facts) -> tuple[int, int, str] | None:
    """How many GPUs a container sees, how many it asked for, and who: of the runs whose own commands say it, the first that differs, else of the report."""
    own = [found for run in facts.runs if run.get("payload") == "nvidia_smi_list" and run.get("command") and (found := _counts_of(run))]
    if own:
        return next((one for one in own if one[0] != one[1]), own[0])
    seen, asked = visible_count(facts), requested_count(facts)
    return (seen, *asked) if seen is not None and asked is not None else None


def _counts_of(run: Mapping[str, Any]) -> tuple[int, int, str] | None:
    request = of_command(str(run["command"]))
    seen = len(NVIDIA_SMI_LINE.findall(str(run.get("stdout") or "")))
    asked = count_of(request) if request else None
    return (seen, asked, request.source) if request and seen and asked is not None else None


@rule(
    "container.visible_devices",
    layer=CONTAINER,
    probes=(),
    symptom="The GPU is in the container and CUDA says that there is none (100) or that the device ordinal is invalid (101).",
    cause="CUDA_VISIBLE_DEVICES hides the devices or names an index of the host: in a container the devices that it got are numbered from 0.",
    fix="Unset CUDA_VISIBLE_DEVICES in the container, or number from 0; choose devices by the request: --gpus '\"device=2,3\"'.",
    verify="nvidia-smi -L in the container shows as many devices as CUDA counts.",
    source="CUDA C++ Programming Guide, environment variables; devitocodes/devito #2710; NVIDIA/nvidia-container-toolkit #73",
)
def devices_are_not_hidden(facts: Facts, wanted: Wanted) -> Outcome:
    """No environment variable hides the devices that the container got"""
    said = heard(facts, f"{NO_GPU}|{ORDINAL}")
    if said is None or without_toolkit(wanted):
        return void_is_harmless(facts, wanted)
    value = hidden_by_cuda(facts)
    if value is not None and value.lower() in HIDES_ALL:
        return failed(
            "visible devices",
            said,
            cause=f"CUDA_VISIBLE_DEVICES={value or '(empty)'} in the container hides every GPU from CUDA, while nvidia-smi still shows them.",
        )
    asked = requested_count(facts)
    got = visible_count(facts) or (asked[0] if asked else None)
    indexes = [int(part) for part in re.findall(r"(?<![\w-])\d+(?![\w-])", value or "")]
    if got and indexes and max(indexes) >= got:
        cause = (
            f"CUDA_VISIBLE_DEVICES={value} names index {max(indexes)}, but the container has {got} GPU(s), numbered from 0 inside, whatever their index on "
            "the host."
        )
        return failed(f"indexes below {got}", said, cause=cause)
    if got and heard(facts, ORDINAL):
        return failed(
            f"device ordinals below {got}",
            said,
            cause=f"The program asks for a device ordinal beyond the {got} GPU(s) of the container, which are numbered from 0 inside.",
        )
    return runtime_without_devices(facts, said) or not_seen(facts, wanted)


def void_is_harmless(facts: Facts, wanted: Wanted) -> Outcome:
    """NVIDIA_VISIBLE_DEVICES=void beside a CDI request is what NVIDIA's own specification sets, so that its hook stays away."""
    value = (facts.container_environment or {}).get("NVIDIA_VISIBLE_DEVICES", "all")
    by_cdi = any(request.cdi for request in facts.gpu_requests) or any(run.get("request") == "cdi" for run in facts.runs)
    if value == "void" and by_cdi:
        return not_applicable(
            "NVIDIA_VISIBLE_DEVICES=void",
            cause="NVIDIA_VISIBLE_DEVICES=void is harmless: CDI sets it itself so that the runtime injects nothing a second time.",
        )
    return not_seen(facts, wanted)


def runtime_without_devices(facts: Facts, said: str) -> Outcome | None:
    """--runtime=nvidia injects what NVIDIA_VISIBLE_DEVICES names; unset, void or empty it is plain runc."""
    for request in facts.gpu_requests:
        value = request.environment.get("NVIDIA_VISIBLE_DEVICES", (facts.container_environment or {}).get("NVIDIA_VISIBLE_DEVICES"))
        by_cuda_image = value is None and re.search(r"nvidia|cuda|nvcr|l4t|gpu|torch|tensorflow", request.image, re.I)
        if request.runtime.startswith("nvidia") and not (request.gpus or request.cdi or by_cuda_image) and (value or "").lower() in ("", "void", "none"):
            cause = (
                f"{request.source} uses the nvidia runtime with NVIDIA_VISIBLE_DEVICES {'unset' if value is None else repr(value)}: the runtime injects only "
                "what this "
                "variable names, and the image does not set it."
            )
            return failed(
                "NVIDIA_VISIBLE_DEVICES", said, cause=cause, remedy="Set NVIDIA_VISIBLE_DEVICES=all (or ids) in the container, or ask by --gpus or CDI."
            )
    return None


@rule(
    "container.devices_as_requested",
    layer=CONTAINER,
    probes=(),
    symptom="A container sees more or fewer GPUs than it asked for; two services land on the same GPU.",
    cause="Something else than the request decides: --privileged shows every device, an image's NVIDIA_VISIBLE_DEVICES=all with the nvidia runtime gives all.",
    fix="Remove --privileged; ask by device ids (--gpus '\"device=0\"', device_ids, or CDI) and set NVIDIA_VISIBLE_DEVICES to the same devices or void.",
    verify="nvidia-smi -L in the container lists the devices that were asked for, by UUID.",
    source="NVIDIA/nvidia-docker #764, #1083, #1506; tensorflow/serving #2071; NVIDIA Container Toolkit docker-specialized.md",
)
def devices_are_those_requested(facts: Facts, wanted: Wanted) -> Outcome:
    """A container sees as many GPUs as it asked for"""
    found = counts(facts)
    elsewhere = any(run.get("engine") in ("kubernetes", "swarm") for run in facts.runs) or re.search(r"Swarm: active", facts.bundle.text("docker_info") or "")
    if found is None or elsewhere or without_toolkit(wanted):
        return not_seen(facts, wanted)
    seen, count, who = found
    if seen == count:
        return passed(f"{seen} of {count}")
    return failed(
        f"{count} GPU(s)", f"{seen} GPU(s)", cause=f"{who} asked for {count} GPU(s) and the container sees {seen}: {why_other_count(facts, seen, count)}."
    )


def why_other_count(facts: Facts, seen: int, count: int) -> str:
    """What decides instead of the request."""
    visible = (facts.container_environment or {}).get("NVIDIA_VISIBLE_DEVICES")
    if seen < count:
        return "fewer devices were injected, NVIDIA_VISIBLE_DEVICES narrows them, or the host has no more"
    if any(request.privileged for request in facts.gpu_requests):
        return "it is privileged, and --privileged gives access to every device of the host"
    if count == 0:
        return "--gpus is a count and not an index, and count 0 leaves the image's NVIDIA_VISIBLE_DEVICES=all in place"
    if visible == "all" or (facts.default_runtime or "").startswith("nvidia"):
        return "NVIDIA_VISIBLE_DEVICES=all of the image or the environment, with the nvidia runtime, overrides the request"
    return "it is privileged, or NVIDIA_VISIBLE_DEVICES=all of the image overrides the request under the nvidia runtime"


@rule(
    "container.device_order",
    layer=CONTAINER,
    probes=("nvidia_smi_list",),
    symptom="On a node with different GPU models a job runs on another GPU than its index in nvidia-smi, or runs out of memory on the small one.",
    cause="CUDA numbers devices FASTEST_FIRST by default, nvidia-smi by PCI bus id: with mixed models the indexes differ.",
    fix="Set CUDA_DEVICE_ORDER=PCI_BUS_ID in the containers, or choose devices by UUID.",
    verify="The UUIDs of nvidia-smi -L and of CUDA's devices (torch.cuda.get_device_properties(i).uuid) agree index by index.",
    source="CUDA C++ Programming Guide, environment variables; gpustack/gpustack #1633",
)
def order_is_the_same(facts: Facts, wanted: Wanted) -> Outcome:
    """CUDA and nvidia-smi number the GPUs in the same order"""
    stated = {name: str(value) for name, value in facts.bundle.stated.items() if "order" in name}
    cuda, smi = stated.get("cuda_order", ""), stated.get("nvidia_smi_order", "")
    mixed = len(set(facts.gpu_names or ())) > 1 or bool(re.search(r"mixed|different|heterogeneous", " ".join(facts.gpu_names or ()), re.I))
    pinned = (facts.container_environment or {}).get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"
    differ = re.search("fastest", cuda, re.I) and (mixed or "pci" in smi.lower())
    other = None if pinned or differ else listed_otherwise(facts)
    if pinned or not (differ or other):
        return not_seen(facts, wanted)
    models = ", ".join(dict.fromkeys(facts.gpu_names or ()))
    observed = other or f"CUDA: {cuda}; nvidia-smi: {smi}"
    cause = (
        f"CUDA enumerates the GPUs FASTEST_FIRST and nvidia-smi by PCI bus id, and CUDA_DEVICE_ORDER is not set: on mixed models ({models}) index N is "
        "another GPU."
    )
    return failed("CUDA_DEVICE_ORDER=PCI_BUS_ID", observed, cause=cause)


def listed_otherwise(facts: Facts) -> str | None:
    """The names of CUDA's devices in a container against those of nvidia-smi, if both list as many and in another order."""
    host = re.findall(r"^GPU \d+: (.+?) \(UUID", facts.bundle.text("nvidia_smi_list") or "", re.M)
    for run in facts.runs:
        if run.get("payload") == "torch_probe":
            cuda = [
                name.strip() for name in re.findall(r"(?:cuda:|Device |GPU )\d+\W+((?:NVIDIA|Tesla|Quadro|GeForce)[^\n,'\")]*)", str(run.get("stdout") or ""))
            ]
            if host != cuda and sorted(host) == sorted(cuda):
                return f"CUDA: {', '.join(cuda)}; nvidia-smi: {', '.join(host)}"
    return None


def devices_against_host(run: Run, seen: Report, host: Report) -> str | None:
    """What is wrong with the devices that a container for all devices got; None if they are the host's."""
    if seen.end.result in NO_USABLE_DEVICE and not seen.devices:
        return f"{run.label}: no usable device ({seen.end})"
    if seen.end.step == "cuInit":
        return None  # CUDA refused before it looked at devices: see the rules of cuda
    missing, foreign = sorted(host.uuids - seen.uuids), sorted(seen.uuids - host.uuids)
    words = [f"{what} {', '.join(uuids)}" for what, uuids in (("without", missing), ("with", foreign)) if uuids]
    return f"{run.label}: {' and '.join(words)}" if words else None


@rule(
    "container.devices_differ",
    layer=CONTAINER,
    probes=("cuda_probe",),
    symptom="A container sees fewer or other GPUs than it asked for, or none: CUDA says 100 or 999 there, while the host computes.",
    cause="The injection gave the container other devices than were asked for, or took the permission to use them.",
    fix=REFRESH + " After systemctl daemon-reload, containers by --gpus must be started anew; CDI keeps the devices.",
    verify="nvidia-smi -L gives the same UUIDs on the host and in the container.",
    source="NVIDIA Container Toolkit troubleshooting (containers losing access to GPUs); NVIDIA/nvidia-container-toolkit #580, #1227",
)
def devices_are_the_hosts(facts: Facts, wanted: Wanted) -> Outcome:
    """A container that asks for all devices gets exactly the host's"""
    if without_toolkit(wanted):
        return not_applicable(NO_TOOLKIT)
    host = host_report(facts)
    reports = [(run, run.report) for run in (facts.container_runs or ()) if run.report and run.devices == "all" and run.report.end.step != "load"]
    if host is None or not host.end.ok or not reports:
        return unknown("a report of the CUDA probe from the host and from a container for all devices is needed")
    wrong = [problem for run, seen in reports if (problem := devices_against_host(run, seen, host))]
    if wrong:
        return failed(f"the host's devices {', '.join(sorted(host.uuids))}", "; ".join(wrong))
    return passed(f"{', '.join(sorted(host.uuids))} by {', '.join(run.label for run, _ in reports)}")


def unknown_id(facts: Facts) -> tuple[str, str] | None:
    """A device id that the node has not, and the words that say so; a CDI name counts only if the specification has other devices of its kind."""
    said = complaint(facts, UNKNOWN_DEVICE)
    if said is None:
        return None
    identifier = said[1].group("id") or said[1].group("cdi")
    listing = facts.bundle.output("cdi_list") or ""
    known = set(re.findall(r"nvidia\.com/gpu=[\w:.-]+", listing)) | {f"nvidia.com/gpu={name}" for spec in facts.cdi_specs or () for name in spec.devices}
    if said[1].group("cdi") and (not known or identifier in known or identifier.endswith("=all")):
        return None
    return identifier, said[0].text.strip()[:300]


@rule(
    "container.device_id",
    layer=CONTAINER,
    probes=(),
    symptom="nvidia-container-cli: device error: 3: unknown device, or: unresolvable CDI devices nvidia.com/gpu=3.",
    cause="The container asks for a GPU that the node has not: an index or UUID of another host, or an index from 1.",
    fix="Ask for an index from 0 or a UUID that nvidia-smi -L lists (CDI: nvidia-ctk cdi list); in .env, Compose and NVIDIA_VISIBLE_DEVICES too.",
    verify="nvidia-smi -L lists the id.",
    source="moby; NVIDIA/nvidia-docker #884; NVIDIA Container Toolkit docker-specialized.md",
)
def device_id_exists(facts: Facts, wanted: Wanted) -> Outcome:
    """The GPUs that a container names are on the node"""
    found = unknown_id(facts)
    if found is None or without_toolkit(wanted):
        return not_seen(facts, wanted)
    identifier, said = found
    has = f"the node has {len(facts.gpu_names)}: {', '.join(facts.gpu_names)}" if facts.gpu_names else "nvidia-smi -L lists what there is"
    return failed("a device of the node", said, cause=f"The container asks for GPU {identifier}, which the node has not ({has}).")
