"""The declared runs: exactly these command lines, and nothing where nothing can run."""

from __future__ import annotations

import re
from typing import Any

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.canary import CanaryError, canary_image, container_name, declared_runs
from hypothesis import given
from hypothesis import strategies as st

DIGEST = "sha256:" + "c8" * 32
IMAGE = f"registry.example:5000/goldnode/cuda-canary@{DIGEST}"
SLOT = "2026-11-30T21:00Z"


def stack(reference: str = IMAGE, **pins: Any) -> dict[str, Any]:
    known = {"container_toolkit": {"version": "1.20.0"}, "container_engine": "docker", **pins}
    return {
        "pool": "a10",
        "pins": known,
        "images": [{"use": "workload", "reference": "x@y", "digest": "y"}, {"use": "canary", "reference": reference, "digest": DIGEST}],
    }


FIXED = "docker run --rm --pull never --network none --read-only --cap-drop ALL --security-opt no-new-privileges"
LIMITS = "--pids-limit 128 --memory 4g --user 65532:65532"


@pytest.mark.parametrize(("path", "asked"), [("cdi", "--device nvidia.com/gpu=all"), ("gpus", "--gpus all")])
def test_command_line_is_exactly_this(path: str, asked: str) -> None:
    (run,) = declared_runs(stack(), "ab12", SLOT, [path])
    name = f"goldnode-canary-2026-11-30T21-00Z-{path}"
    assert " ".join(run["argv"]) == f"{FIXED} {LIMITS} --label goldnode.canary={SLOT} --name {name} {asked} {IMAGE} --nonce ab12"
    assert {key: value for key, value in run.items() if key != "argv"} == {
        "path": path,
        "engine": "docker",
        "request": path,
        "devices": "all",
        "image": IMAGE,
        "payload": "cuda_probe",
        "user": "65532:65532",
        "nonce": "ab12",
        "name": name,
        "limit_s": 60,
    }


def test_paths_keep_their_order_and_limits_are_settings() -> None:
    runs = declared_runs(stack(), "1", "s", ["gpus", "cdi"], limit_s=5, pids=9, memory="1g")
    assert [run["path"] for run in runs] == ["gpus", "cdi"]
    assert all(run["limit_s"] == 5 and "--pids-limit 9 --memory 1g" in " ".join(run["argv"]) for run in runs)


@pytest.mark.parametrize(
    "reference",
    [IMAGE, f"registry.example:5000/goldnode/cuda-canary:1.0@{DIGEST}", "registry.example:5000/goldnode/cuda-canary"],
)
def test_image_is_named_by_digest_alone(reference: str) -> None:
    assert canary_image(stack(reference)) == IMAGE


def test_registry_port_is_no_tag() -> None:
    assert canary_image(stack(f"registry:5000/canary@{DIGEST}")) == f"registry:5000/canary@{DIGEST}"


def test_pool_without_container_toolkit_declares_nothing() -> None:
    assert declared_runs(stack(container_toolkit=None), "1", SLOT) == []


def test_lock_without_canary_image_names_what_to_do() -> None:
    with pytest.raises(CanaryError, match=r"lock of pool a10 has no canary container image; pin canary_image in pins\.yml"):
        declared_runs({**stack(), "images": []}, "1", SLOT)


def test_other_engine_is_refused() -> None:
    with pytest.raises(CanaryError, match="has the engine podman"):
        declared_runs(stack(container_engine="podman"), "1", SLOT)


def test_unknown_path_is_refused() -> None:
    with pytest.raises(CanaryError, match='no GPU path "hook"; write cdi or gpus'):
        declared_runs(stack(), "1", SLOT, ["hook"])


@given(st.text(max_size=60))
def test_container_name_is_one_that_docker_takes(slot: str) -> None:
    assert re.fullmatch("[a-zA-Z0-9][a-zA-Z0-9_.-]+", container_name(slot, "cdi"))


def test_a_workload_s_run_follows_and_its_command_line_knows_this_turn() -> None:
    workload = {"path": "my job", "request": "gpus", "payload": "app", "argv": "docker run --name {name} --gpus all {image} -c 'print(1)' {nonce}"}
    *_canary, run = declared_runs(stack(), "ab12", SLOT, ["cdi"], workloads=[workload])
    name = "goldnode-canary-2026-11-30T21-00Z-my-job"
    assert run["argv"] == ["docker", "run", "--name", name, "--gpus", "all", IMAGE, "-c", "print(1)", "ab12"]
    assert (run["engine"], run["payload"], run["name"], run["image"], run["nonce"]) == ("docker", "app", name, IMAGE, "ab12")


def test_a_workload_may_name_its_own_image() -> None:
    (run,) = declared_runs(stack(), "ab12", SLOT, [], workloads=[{"path": "a", "request": "cdi", "image": "mine", "argv": "docker run {image}"}])
    assert (run["image"], run["argv"][-1]) == ("mine", "mine")


def test_a_workload_without_its_command_line_is_refused() -> None:
    with pytest.raises(CanaryError, match="no request and no argv"):
        declared_runs(stack(), "ab12", SLOT, [], workloads=[{"path": "a"}])
