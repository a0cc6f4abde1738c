# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Containers: each way of asking for a GPU starts one, and it gets the devices and the library of the host."""

from __future__ import annotations

from typing import Callable

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.container_errors import REFRESH, explain
from ansible_collections.goldnode.gpu.plugins.module_utils.model import CONTAINER
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import cuda_probe
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.container_run import Run
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.cuda_probe import Report
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown

NAMED_REQUESTS = ("cdi", "gpus", "runtime")
# What CUDA says when it finds no device, or one that it may not open: in a container, where the host is fine, nothing (usable) was injected.
NO_USABLE_DEVICE = (100, 101, 999)
NO_RUN = "no GPU container was run"
NO_TOOLKIT = "the pool has no container toolkit on purpose"
VERIFY = "ansible-playbook goldnode.gpu.validate_nodes: the line of this path says started, with the code path that served it."


def host_report(facts: Facts) -> Report | None:
    """What the CUDA probe says on the host."""
    return cuda_probe.report(facts.bundle.text("cuda_probe") or "")


def without_toolkit(wanted: Wanted) -> bool:
    """Whether the lock says that there are no GPU containers here."""
    return wanted.has("container_toolkit") and wanted.pin("container_toolkit") is None


def starts(facts: Facts, wanted: Wanted, chosen: Callable[[Run], bool]) -> Outcome:
    """Whether every chosen run came as far as its program."""
    if without_toolkit(wanted):
        return not_applicable(NO_TOOLKIT)
    runs = [run for run in (facts.container_runs or ()) if chosen(run)]
    if not runs:
        return not_applicable("no container was run this way") if facts.runs else unknown(NO_RUN)
    broken = [run for run in runs if run.started is False]
    if broken:
        return not_started(broken[0])
    if any(run.started is None for run in runs):
        return unknown("the exit code of the run is not known")
    return passed("; ".join(f"{run.label}: started" + (f", served by {run.code_path}" if run.code_path else "") for run in runs))


def not_started(run: Run) -> Outcome:
    """Why the engine did not start it, as far as its words are known."""
    observed = f"{run.label}: {run.said}"
    known = explain(run.said)
    if known is None:
        return failed("the container starts", observed, confidence="low")
    error, cause = known
    if not error.path:
        return unknown(f"{run.label}: {cause} {error.remedy}")
    return failed("the container starts", observed, cause=cause, remedy=error.remedy)


@rule(
    "container.run_by_cdi",
    layer=CONTAINER,
    probes=("docker_version",),
    symptom='docker: Error response from daemon: CDI device injection failed, or: could not select device driver "cdi".',
    cause="The engine could not inject the devices by their CDI specification.",
    fix=REFRESH,
    verify=VERIFY,
    source="moby daemon/cdi.go; knowledge/container_errors.py",
)
def cdi_starts(facts: Facts, wanted: Wanted) -> Outcome:
    """A container that asks by CDI (--device nvidia.com/gpu=…) starts"""
    return starts(facts, wanted, lambda run: run.request == "cdi")


@rule(
    "container.run_by_gpus",
    layer=CONTAINER,
    probes=("docker_version",),
    symptom='docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]], or a failing hook.',
    cause="Docker could not serve --gpus: its hook is missing, was not there when Docker started, or failed.",
    fix="Install the container toolkit at the locked version and restart Docker: systemctl restart docker",
    verify=VERIFY,
    source="moby daemon/devices_nvidia_linux.go; knowledge/container_errors.py",
)
def gpus_starts(facts: Facts, wanted: Wanted) -> Outcome:
    """A container that asks by --gpus starts"""
    return starts(facts, wanted, lambda run: run.request == "gpus")


@rule(
    "container.run_by_runtime",
    layer=CONTAINER,
    probes=("docker_version",),
    symptom="docker: Error response from daemon: unknown or invalid runtime name: nvidia.",
    cause="Docker could not serve --runtime=nvidia: the runtime is not registered, or failed.",
    fix="nvidia-ctk runtime configure --runtime=docker, then: systemctl restart docker",
    verify=VERIFY,
    source="NVIDIA docker-specialized.md; knowledge/container_errors.py",
)
def runtime_starts(facts: Facts, wanted: Wanted) -> Outcome:
    """A container that asks by --runtime=nvidia starts"""
    return starts(facts, wanted, lambda run: run.request == "runtime")


@rule(
    "container.run_otherwise",
    layer=CONTAINER,
    probes=("docker_version",),
    symptom="A container that asks for a GPU by Compose, by bare devices or in a way that is not known does not start.",
    cause="The engine could not prepare the container.",
    fix="Read the engine's words under observed; the rules of the engine and of the container toolkit say what is missing.",
    verify="The same command starts.",
    source="knowledge/container_errors.py",
)
def others_start(facts: Facts, wanted: Wanted) -> Outcome:
    """A container that asks in another way starts"""
    return starts(facts, wanted, lambda run: run.request not in NAMED_REQUESTS)


@rule(
    "container.driver_library",
    layer=CONTAINER,
    probes=("cuda_probe",),
    symptom="libcuda.so.1: cannot open shared object file: No such file or directory, in a container that has the devices.",
    cause="The driver's library was not injected, or lies where the container image's linker does not look (no ldconfig, no multiarch, musl).",
    fix=REFRESH + " For a container image without a usual linker set LD_LIBRARY_PATH to the folder that the specification mounts.",
    verify="ldconfig -p in the container lists libcuda.so.1.",
    source="tried with Debian, no-ldconfig and musl images on Docker 26.1.5, 2026-11-30; mudler/LocalAI #11973",
)
def library_is_found(facts: Facts, wanted: Wanted) -> Outcome:
    """The container's linker finds the driver's library"""
    if without_toolkit(wanted):
        return not_applicable(NO_TOOLKIT)
    runs = [run for run in (facts.container_runs or ()) if run.started is not False]
    without = [run for run in runs if "libcuda.so.1: cannot open shared object file" in (str(run.report.end) if run.report else run.said)]
    if without:
        return failed("libcuda.so.1 is found", f"{without[0].label}: {without[0].report.end if without[0].report else without[0].said}")
    return passed("; ".join(f"{run.label}: {run.report.library}" for run in runs if run.report)) if any(run.report for run in runs) else unknown(NO_RUN)


def devices_against_host(run: Run, seen: Report, host: Report) -> str | None:
    """What is wrong with the devices that a container for all devices got; None if they are the host's."""
    if seen.end.result in NO_USABLE_DEVICE and not seen.devices:
        return f"{run.label}: no usable device ({seen.end})"
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
