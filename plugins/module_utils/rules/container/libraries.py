# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether the driver's libraries of the host reach the container and are found there."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.container_symptoms import NO_COMPUTE
from ansible_collections.goldnode.gpu.plugins.module_utils.model import CONTAINER
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.container.asked import REQUEST_FORMS
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.runs import NO_RUN, NO_TOOLKIT, heard, not_seen, orchestrated, without_toolkit

# What Jetson Linux mounts from the host.
JETSON_LIBRARY = r"lib(?:cu(?:blas|blasLt|dart|dnn|fft|rand|solver|sparse|da)|nvinfer|nvrtc)\.so[.\d]*: cannot open shared object file"
LOADER = "libcuda.so.1: cannot open shared object file"


@rule(
    "container.driver_library",
    layer=CONTAINER,
    probes=("cuda_probe",),
    symptom="libcuda.so.1: cannot open shared object file: No such file or directory, in a container that has the devices.",
    cause="The driver's library was not injected, or lies where the container image's linker does not look (no ldconfig, no multiarch, musl).",
    fix=REQUEST_FORMS + " For a container image without a usual linker set LD_LIBRARY_PATH to the folder into which the driver's libraries are mounted.",
    verify="ldconfig -p in the container lists libcuda.so.1.",
    source="tried with Debian, no-ldconfig and musl images on Docker 26.1.5, 2026-11-30; mudler/LocalAI #11973",
)
def library_is_found(facts: Facts, wanted: Wanted) -> Outcome:
    """The container's linker finds the driver's library"""
    if without_toolkit(wanted):
        return not_applicable(NO_TOOLKIT)
    runs = [run for run in (facts.container_runs or ()) if run.started is not False]
    without = [run for run in runs if run.report and LOADER in str(run.report.end) and run.request != "none"]
    if without:
        return failed("libcuda.so.1 is found", f"{without[0].label}: {without[0].report.end if without[0].report else ''}")
    said = heard(facts, NO_COMPUTE)
    if said and not (facts.musl or facts.tegra or facts.host_l4t or orchestrated(facts)):
        return library_missing(said)
    loaded = [f"{run.label}: {run.report.library}" for run in runs if run.report]
    if loaded:
        return passed("; ".join(loaded))
    return not_applicable("no program says that it misses libcuda") if facts.runs else unknown(NO_RUN)


@rule(
    "container.jetson_runtime",
    layer=CONTAINER,
    probes=("l4t_version",),
    symptom="On a Jetson a container that was started with --gpus alone misses libcublas, libcudart, libcudnn or libcuda.",
    cause="On Jetson Linux the nvidia runtime mounts the host's libraries by its CSV files (up to R32 CUDA and cuDNN too); --gpus alone does not.",
    fix="Run with --runtime nvidia (and NVIDIA_VISIBLE_DEVICES=all), or make nvidia the default runtime in /etc/docker/daemon.json and restart Docker.",
    verify="docker run --rm --runtime nvidia IMAGE ldconfig -p lists the library.",
    source="NVIDIA Container Runtime on Jetson, mount plugins (CSV files); dusty-nv/jetson-containers docs/setup.md",
)
def jetson_uses_the_runtime(facts: Facts, wanted: Wanted) -> Outcome:
    """On a Jetson a container asks by the nvidia runtime"""
    by_flag = any(request.gpus and not request.runtime for request in facts.command_requests or ())
    said = heard(facts, JETSON_LIBRARY)
    if not (facts.tegra or facts.host_l4t) or without_toolkit(wanted):
        return not_seen(facts, wanted)
    if said is None or not by_flag or (facts.default_runtime or "").startswith("nvidia"):
        return not_seen(facts, wanted)
    cause = (
        f"The container on this Jetson was started with --gpus and without --runtime nvidia: only the nvidia runtime mounts the host's CUDA libraries by its "
        f"CSV files ({said})."
    )
    return failed("--runtime nvidia", said, cause=cause)


def library_missing(said: str) -> Outcome:
    """A program's word alone: several links can have left the library out."""
    cause = (
        "The driver's library libcuda.so.1 is not in the container or not in its linker's cache: no GPU was asked for, the driver capability compute is "
        "missing, or the "
        "injection did not run ldconfig."
    )
    decides = "ls -l /dev/nvidia*; ldconfig -p | grep libcuda in the container, and docker inspect -f '{{.HostConfig.DeviceRequests}}'"
    return failed("libcuda.so.1 is found", said, cause=cause, confidence="low", decided_by=decides)
