# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Each way of asking for a GPU starts a container."""

from __future__ import annotations

import re
from typing import Callable

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.container_errors import REFRESH, explain
from ansible_collections.goldnode.gpu.plugins.module_utils.model import CONTAINER, CUDA
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.container_run import Run
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.runs import NO_RUN, NO_TOOLKIT, without_toolkit

# The program is there and its loader is not: execve(2) says ENOENT of both.
NO_LOADER = re.compile(r"nvidia-smi\S*(?: [^\n]{0,40})?(?:no such file or directory|not found)", re.I)
NAMED_REQUESTS = ("cdi", "gpus", "runtime")
VERIFY = "ansible-playbook goldnode.gpu.validate_nodes: the line of this path says started, with the code path that served it."


def starts(facts: Facts, wanted: Wanted, chosen: Callable[[Run], bool]) -> Outcome:
    """Whether every chosen run came as far as its program."""
    if without_toolkit(wanted):
        return not_applicable(NO_TOOLKIT)
    runs = [run for run in (facts.container_runs or ()) if chosen(run)]
    if facts.musl and any(run.started is False and NO_LOADER.search(run.said) for run in runs):
        return unknown("the image has no glibc, whose loader the injected programs need: see cuda.c_library")
    if not runs:
        return not_applicable("no container was run this way") if facts.runs else unknown(NO_RUN)
    broken = [run for run in runs if run.started is False]
    if broken:
        return not_started(broken[0])
    if any(run.started is None for run in runs):
        return unknown("the exit code of the run is not known")
    return passed("; ".join(f"{run.label}: started" + (f", served by {run.code_path}" if run.code_path else "") for run in runs))


def not_started(run: Run) -> Outcome:
    """Why the engine did not start it, as far as its words are known.

    A path that the pool declares must work whoever broke it; a captured attempt whose words name another layer is that layer's to judge.
    """
    observed = f"{run.label}: {run.said}"
    known = explain(run.said)
    if known is None:
        return failed("the container starts", observed, confidence="low")
    error, cause = known
    if not error.path or error.layer == CUDA or (error.layer != CONTAINER and not run.declared):
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
