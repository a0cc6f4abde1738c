# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""CUDA in the container: every call succeeds, every number is right, and both come from this turn and this driver."""

from __future__ import annotations

from functools import lru_cache
from typing import Callable

from ansible_collections.goldnode.gpu.plugins.module_utils import cuda_probe
from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.cuda_errors import meaning
from ansible_collections.goldnode.gpu.plugins.module_utils.model import CUDA
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.container_run import Run
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.cuda_probe import Device, Report
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.runs import NO_RUN, NO_TOOLKIT, host_report, without_toolkit

COMPARISONS = ("compare", "compare_managed")
LOOK_AT_HOST = "Run the CUDA probe on the node itself: python3 /usr/lib/goldnode/cuda_probe.py; look for Xid lines in its kernel log."

# The 65537 numbers of a nonce are worth 50 ms; every run and device of a turn asks for the same ones.
right_checksum = lru_cache(maxsize=64)(cuda_probe.expected_checksum)


def judged(facts: Facts, wanted: Wanted, expected: str, problem: Callable[[Run, Report], str | None]) -> Outcome:
    """Asks `problem` about each report that a container gave; one that has any fails."""
    if without_toolkit(wanted):
        return not_applicable(NO_TOOLKIT)
    reports = [(run, run.report) for run in facts.container_runs or () if run.report]
    if not reports:
        return unknown(NO_RUN)
    wrong = [f"{run.label}: {found}" for run, seen in reports if (found := problem(run, seen))]
    return failed(expected, "; ".join(wrong)) if wrong else passed(", ".join(run.label for run, _ in reports))


def silent(run: Run) -> bool:
    """The probe was started and gave no report: it crashed, or the container image cannot run it."""
    return run.payload == "cuda_probe" and run.started is True and run.report is None


def failed_call(run: Run, seen: Report) -> Outcome | None:
    """The driver call that failed, with what usually lies behind it."""
    if seen.end.ok or seen.end.step in (*COMPARISONS, "load"):
        return None
    return failed("every call returns CUDA_SUCCESS", f"{run.label}: {seen.end}", cause=f"{seen.end.step} failed: {meaning(seen.end.result)}.")


@rule(
    "cuda.calls_succeed",
    layer=CUDA,
    probes=(),
    symptom="CUDA cannot be initialised in a container, or a later call fails; a program may then go on without the GPU and say nothing.",
    cause="The driver refused a call.",
    fix=LOOK_AT_HOST,
    verify="The CUDA probe in the container ends with 0.",
    source="cuda.h of CUDA 13.5; knowledge/cuda_errors.py",
)
def calls_succeed(facts: Facts, wanted: Wanted) -> Outcome:
    """Every call to the driver in the container succeeds"""
    if without_toolkit(wanted):
        return not_applicable(NO_TOOLKIT)
    runs = facts.container_runs or ()
    for run in runs:
        if silent(run):
            return failed("a report", f"{run.label}: {run.said or 'nothing'}", cause="The CUDA probe ended without its report: it crashed.")
        outcome = failed_call(run, run.report) if run.report else None
        if outcome:
            return outcome
    reported = [run.label for run in runs if run.report]
    return passed(", ".join(reported)) if reported else unknown(NO_RUN)


def wrong_numbers(run: Run, seen: Report) -> str | None:
    """What is wrong with the numbers, compared with those that the nonce demands and not with what the container says it expected."""
    if seen.end.step in COMPARISONS:
        return str(seen.end)
    if not seen.end.ok:
        return None
    if not seen.devices:
        return "no device computed"
    return next((wrong for device in seen.devices if (wrong := wrong_checksum(device, run.nonce or seen.nonce))), None)


def wrong_checksum(device: Device, nonce: str) -> str | None:
    """The device's checksum if it is not the nonce's."""
    right = right_checksum(nonce)
    return None if device.checksum == right else f"{device.uuid} has checksum {device.checksum}, nonce {nonce} demands {right}"


@rule(
    "cuda.wrong_result",
    layer=CUDA,
    probes=(),
    symptom="Programs run and give wrong results.",
    cause="A device computed a wrong number, or the result does not come from this turn.",
    fix="Take the node out of service. " + LOOK_AT_HOST,
    verify="The CUDA probe in the container ends with 0, and its checksum is the nonce's.",
    source="plugins/module_utils/cuda_probe.py: all numbers are compared on the CPU, their checksum once more on the controller",
)
def numbers_are_right(facts: Facts, wanted: Wanted) -> Outcome:
    """Every number that a device computed in the container is right"""
    return judged(facts, wanted, "the numbers that the nonce demands", wrong_numbers)


@rule(
    "cuda.nonce",
    layer=CUDA,
    probes=(),
    symptom="A canary passes although its container did not run.",
    cause="The report belongs to another turn.",
    fix="Run the turn again; if it stays, look at what answers in place of the container.",
    verify="The report carries the nonce that the controller issued.",
    source="docs/promotion.md, guard G1",
)
def nonce_is_the_issued(facts: Facts, wanted: Wanted) -> Outcome:
    """The report carries the nonce that was issued for it"""
    return judged(
        facts, wanted, "the nonce that was issued", lambda run, seen: None if run.nonce in (None, seen.nonce) else f"{seen.nonce} instead of {run.nonce}"
    )


def other_library(seen: Report, host: Report) -> str | None:
    """How the container's driver library differs from the host's: by the version in its file's name, else by the CUDA version that it says."""
    if seen.library_release and host.library_release and seen.library_release != host.library_release:
        return f"libcuda {seen.library_release}, host {host.library_release}"
    if seen.driver_version is not None and seen.driver_version != host.driver_version:
        return f"CUDA {seen.driver_version}, host {host.driver_version}"
    return None


@rule(
    "cuda.library_version",
    layer=CUDA,
    probes=("cuda_probe",),
    symptom="CUDA in the container is of another version than on the host, or says 803 or 804.",
    cause="The container image brings its own libcuda (cuda-compat, or driver files baked in), or the injection is from before a driver upgrade.",
    fix="Remove the driver's files from the container image. A stale injection: systemctl restart nvidia-cdi-refresh.service",
    verify="The container and the host report the same library and the same CUDA version.",
    source="NVIDIA CUDA compatibility guide; NVIDIA/nvidia-container-toolkit #371, #450",
)
def library_is_the_hosts(facts: Facts, wanted: Wanted) -> Outcome:
    """The container uses the host's driver library"""
    host = host_report(facts)
    if host is None or host.driver_version is None:
        return not_applicable(NO_TOOLKIT) if without_toolkit(wanted) else unknown("the CUDA probe on the host says no version")
    return judged(facts, wanted, "the host's driver library", lambda run, seen: other_library(seen, host))
