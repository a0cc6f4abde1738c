"""CUDA rules: a container's numbers are right for this turn's nonce, by the host's driver, or the node fails."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .gpu_runs import END, GOOD, NONCE, UUIDS, failing, judged, report, run


def device(**changed: Any) -> dict[str, Any]:
    return {**json.loads(GOOD)["devices"][0], **changed}


@pytest.mark.parametrize("identifier", ["cuda.calls_succeed", "cuda.wrong_result", "cuda.nonce", "cuda.library_version"])
def test_good_report_passes_by_every_path(identifier: str) -> None:
    outcome = judged(identifier, [run("cdi"), run("gpus")])
    assert (outcome.verdict, outcome.observed) == ("pass", "cdi, gpus")


@pytest.mark.parametrize(
    ("code", "name", "cause"),
    [
        (803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "cuInit failed: the driver's library and the loaded module are of different versions"),
        (802, "CUDA_ERROR_SYSTEM_NOT_READY", "cuInit failed: NVSwitch: the fabric manager does not run"),
        (4711, None, "cuInit failed: not in our table"),
    ],
)
def test_failed_call_has_its_meaning(code: int, name: str | None, cause: str) -> None:
    outcome = judged("cuda.calls_succeed", [run("cdi"), run("gpus", report(devices=[], **failing("cuInit", code, name)), rc=1)])
    assert (outcome.verdict, outcome.observed.startswith(f"gpus: cuInit: {code}")) == ("fail", True)
    assert outcome.cause.startswith(cause)


def test_probe_that_crashes_fails() -> None:
    outcome = judged("cuda.calls_succeed", [run("cdi", "", stderr="Segmentation fault", rc=139)])
    assert (outcome.verdict, outcome.observed) == ("fail", "cdi: Segmentation fault")


def test_wrong_number_fails_and_says_where() -> None:
    end = failing("compare", 0, "CUDA_SUCCESS", "1 of 65537 elements differ, the first at 3: 0x00000001 instead of 0x00000002")
    outcome = judged("cuda.wrong_result", [run("cdi", report(devices=[device(**end, checksum="bad")], **end), rc=1)])
    assert (outcome.verdict, outcome.observed.startswith("cdi: compare: 1 of 65537 elements differ")) == ("fail", True)
    assert judged("cuda.calls_succeed", [run("cdi", report(**end), rc=1)]).verdict == "pass"


def test_container_that_only_claims_success_fails() -> None:
    claimed = report(devices=[device(checksum="1234", expected="1234", **END)])
    assert judged("cuda.wrong_result", [run("cdi", claimed)]).verdict == "fail"


def test_success_without_any_device_fails() -> None:
    assert judged("cuda.wrong_result", [run("cdi", report(devices=[]))]).observed == "cdi: no device computed"


def test_report_of_another_turn_fails_by_nonce_and_by_number() -> None:
    replayed = [run("cdi", report(*UUIDS, nonce="0badcafe"))]
    assert judged("cuda.nonce", replayed).observed == f"cdi: 0badcafe instead of {NONCE}"
    assert judged("cuda.wrong_result", replayed).verdict == "fail"


def test_run_without_an_issued_nonce_is_held_to_its_own() -> None:
    by_hand = [run("cdi", report(*UUIDS, nonce="0badcafe"), nonce=None)]
    assert [judged(identifier, by_hand).verdict for identifier in ("cuda.nonce", "cuda.wrong_result")] == ["pass", "pass"]


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({}, "pass"),
        ({"library": "/usr/local/cuda/compat/libcuda.so.575.57.08"}, "fail"),
        ({"library": "/usr/lib/x86_64-linux-gnu/libcuda.so.1"}, "pass"),
        ({"library": "/usr/lib/x86_64-linux-gnu/libcuda.so.1", "driver_version": 12090}, "fail"),
    ],
)
def test_library_is_compared_by_its_files_name_else_by_cuda_version(changed: dict[str, Any], verdict: str) -> None:
    assert judged("cuda.library_version", [run("gpus", report(*UUIDS, **changed))]).verdict == verdict


def test_library_is_unknown_without_the_host() -> None:
    assert judged("cuda.library_version", [run("gpus")], host=None).verdict == "unknown"
