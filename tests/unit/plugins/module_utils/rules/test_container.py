"""Container rules: each path by itself, the library, the devices."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.judge import judge
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import RULES
from hypothesis import given
from hypothesis import strategies as st

from .examples.runs import FAILING, HARMLESS, HEALTHY
from .gpu_runs import DOCKER, GOOD, NO_TOOLKIT, STACK, UUIDS, failing, judged, refused, report, run

CDI_BROKEN = refused("cdi", "docker: Error response from daemon: CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=all.\n")
GPUS_BROKEN = refused("gpus", 'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\n')
PATHS = ("container.run_by_cdi", "container.run_by_gpus", "container.run_by_runtime")


def by_path(*runs: dict[str, Any]) -> list[str]:
    return [judged(identifier, list(runs)).verdict for identifier in PATHS]


def test_each_path_that_was_tried_passes_and_says_what_served_it() -> None:
    assert by_path(run("cdi"), run("gpus")) == ["pass", "pass", "not_applicable"]
    assert judged("container.run_by_gpus", [run("gpus")]).observed == "gpus: started, served by hook"
    assert judged("container.run_by_cdi", [run("cdi")]).observed == "cdi: started, served by cdi"


def test_broken_cdi_fails_alone() -> None:
    assert by_path(CDI_BROKEN, run("gpus")) == ["fail", "pass", "not_applicable"]
    outcome = judged("container.run_by_cdi", [CDI_BROKEN])
    assert outcome.cause == "No CDI specification that the engine reads has nvidia.com/gpu=all."
    assert "nvidia-cdi-refresh" in outcome.remedy


def test_broken_gpus_fails_alone() -> None:
    assert by_path(run("cdi"), GPUS_BROKEN) == ["pass", "fail", "not_applicable"]
    assert "nvidia-container-runtime-hook was not on its PATH" in judged("container.run_by_gpus", [GPUS_BROKEN]).cause


def test_broken_path_leaves_every_other_container_rule_as_it_was() -> None:
    evidence = {"probes": {**DOCKER, "cuda_probe": GOOD}, "runs": [CDI_BROKEN, run("gpus")]}
    findings = {finding.rule: finding.verdict for finding in judge(evidence, STACK, ("container",)).findings}
    assert [rule for rule, verdict in findings.items() if verdict == "fail"] == ["container.run_by_cdi"]
    assert (findings["container.devices_differ"], findings["container.driver_library"]) == ("pass", "pass")


def test_words_that_nobody_knows_fail_with_the_rules_own_cause_and_low_confidence() -> None:
    outcome = judged("container.run_by_gpus", [refused("gpus", "docker: Error response from daemon: the moon is full.\n")])
    assert (outcome.verdict, outcome.confidence, outcome.cause) == ("fail", "low", "")
    assert "the moon is full" in outcome.observed


@pytest.mark.parametrize(
    "stderr",
    [
        # Docker 26.1.5, --pull never
        "docker: Error response from daemon: No such image: registry.example/goldnode/cuda-canary@sha256:00.\n",
        "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?.\n",
    ],
)
def test_what_says_nothing_about_the_path_is_unknown(stderr: str) -> None:
    assert judged("container.run_by_cdi", [refused("cdi", stderr)]).verdict == "unknown"


def test_path_killed_at_its_limit_fails() -> None:
    outcome = judged("container.run_by_gpus", [run("gpus", "", rc=None, error="killed after 60 s: docker run --rm")])
    assert (outcome.verdict, outcome.cause) == ("fail", "The container did not end within 60 s: the engine or the driver hangs.")


def test_run_without_exit_code_is_unknown() -> None:
    assert judged("container.run_otherwise", [{"engine": "docker", "stdout": "Failed to initialize NVML: Unknown Error"}]).verdict == "unknown"


COMPOSE = {"engine": "docker", "request": "compose", "rc": 125, "stderr": "Error response from daemon: unknown or invalid runtime name: nvidia\n"}


def test_other_request_is_judged_too() -> None:
    assert judged("container.run_otherwise", [{**COMPOSE, "path": "compose"}]).cause.startswith("The daemon that answers has no runtime nvidia:")


def test_captured_words_that_name_another_layer_are_left_to_it() -> None:
    outcome = judged("container.run_otherwise", [COMPOSE])
    assert (outcome.verdict, "no runtime nvidia" in outcome.observed) == ("unknown", True)


MISSING = report(**failing("load", detail="libcuda.so.1: cannot open shared object file: No such file or directory"), devices=[], library=None)


def test_library_that_is_not_found_fails() -> None:
    outcome = judged("container.driver_library", [run("gpus"), run("cdi", MISSING, rc=1)])
    assert (outcome.verdict, outcome.observed[:10]) == ("fail", "cdi: load:")


def test_library_that_is_found_passes_with_its_path() -> None:
    assert judged("container.driver_library", [run("cdi")]).observed == "cdi: /usr/lib/x86_64-linux-gnu/libcuda.so.550.163.01"


def test_same_devices_pass_in_any_order() -> None:
    assert judged("container.devices_differ", [run("cdi", report(*reversed(UUIDS))), run("gpus")]).verdict == "pass"


@pytest.mark.parametrize(
    ("stdout", "observed"),
    [
        (report("GPU-1"), "gpus: without GPU-2"),
        (report("GPU-1", "GPU-2", "GPU-3"), "gpus: with GPU-3"),
        (report("GPU-1", "GPU-9"), "gpus: without GPU-2 and with GPU-9"),
        (report(devices=[], **failing("cuInit", 100, "CUDA_ERROR_NO_DEVICE")), "gpus: no usable device (cuInit: 100 CUDA_ERROR_NO_DEVICE)"),
        (report(devices=[], **failing("cuInit", 999, "CUDA_ERROR_UNKNOWN")), "gpus: no usable device (cuInit: 999 CUDA_ERROR_UNKNOWN)"),
    ],
)
def test_other_devices_fail_and_name_the_path(stdout: str, observed: str) -> None:
    outcome = judged("container.devices_differ", [run("cdi"), run("gpus", stdout)])
    assert (outcome.verdict, outcome.observed) == ("fail", observed)


@pytest.mark.parametrize("host", [None, report(devices=[], **failing("cuInit", 100, "CUDA_ERROR_NO_DEVICE"))])
def test_devices_are_unknown_without_a_good_host(host: str | None) -> None:
    assert judged("container.devices_differ", [run("cdi")], host).verdict == "unknown"


RULES_OF_RUNS = [identifier for identifier, rule in RULES.items() if rule.layer in ("container", "cuda")]


@pytest.mark.parametrize("identifier", RULES_OF_RUNS)
def test_without_any_run_nothing_passes(identifier: str) -> None:
    assert judged(identifier, []).verdict == "unknown"


@pytest.mark.parametrize("identifier", RULES_OF_RUNS)
def test_pool_without_toolkit_is_not_asked(identifier: str) -> None:
    assert judged(identifier, [], stack=NO_TOOLKIT).verdict == "not_applicable"


@pytest.mark.parametrize("identifier", RULES_OF_RUNS)
def test_garbage_never_passes(identifier: str) -> None:
    garbage = {"stdout": json.dumps({"schema": "goldnode.cuda_probe/v1", "nonce": "zz"}), "nonce": {}, "rc": "0"}
    assert judged(identifier, [garbage], host="{").verdict in ("unknown", "not_applicable")


@pytest.mark.parametrize(("identifier", "evidence", "words"), FAILING)
def test_fault_fails_with_its_words(identifier: str, evidence: dict[str, Any], words: tuple[str, ...]) -> None:
    (found,) = [one for one in judge(evidence, None, (RULES[identifier].layer,)).findings if one.rule == identifier]
    assert found.verdict == "fail"
    assert found.observed
    said = f"{found.cause} {found.remedy}"
    assert not [word for word in words if word not in said], said


@pytest.mark.parametrize("evidence", HARMLESS)
def test_what_is_no_fault_of_the_container_does_not_fail(evidence: dict[str, Any]) -> None:
    assert not [one.rule for one in judge(evidence, None, ("container", "cuda")).findings if one.verdict == "fail"]


@pytest.mark.parametrize("identifier", RULES_OF_RUNS)
def test_healthy_runs_pass_or_show_no_symptom(identifier: str) -> None:
    (found,) = [one for one in judge(HEALTHY, None, (RULES[identifier].layer,)).findings if one.rule == identifier]
    assert found.verdict in ("pass", "not_applicable")


@given(st.text(), st.sampled_from([identifier for identifier, _evidence, _words in FAILING]))
def test_any_text_is_judged_without_an_error(text: str, identifier: str) -> None:
    garbled = {"image": text, "command": "docker run " + text, "stdout": text, "stderr": text, "payload": "env", "rc": 1}
    probes = dict.fromkeys(("compose_file", "docker_inspect", "nvidia_smi", "l4t_version", "nvidia_smi_list", "env_file", "cdi_list"), text)
    judge({"runs": [garbled], "probes": probes, "stated": {"gpu": text, "image_env": text, "torch_version": text}}, None, (RULES[identifier].layer,))
