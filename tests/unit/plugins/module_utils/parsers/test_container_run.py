"""Runs: how far each came, and what engines said. The texts are captured: see the source of each in knowledge/container_errors.py."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.container_errors import START_ERRORS, explain
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.container_run import code_path, runs, words
from hypothesis import given
from hypothesis import strategies as st

DAEMON = "docker: Error response from daemon: "
RUNC = DAEMON + "failed to create task for container: failed to create shim task: OCI runtime create failed: runc create failed: "
INIT = RUNC + "unable to start container process: error during container init: "
LEGACY = INIT + "error running hook #0: error running hook: exit status 1, stdout: , stderr: Auto-detected mode as 'legacy'\nnvidia-container-cli: "

SAID = [
    # NVIDIA Container Toolkit 1.20.0 on Docker 26.1.5
    (DAEMON + "CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=7.", "No CDI specification that the engine reads has nvidia.com/gpu=7."),
    ("Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=0\n", "No CDI specification that the engine reads has nvidia.com/gpu=0."),
    (DAEMON + 'could not select device driver "" with capabilities: [[gpu]].\n', "No GPU device driver is registered in Docker"),
    (DAEMON + 'could not select device driver "cdi" with capabilities: [].\n', "CDI is off in the engine."),
    (
        INIT + "error running hook #0: error running hook: exit status 1, stdout: , stderr: Using requested mode 'cdi'\ninvoking the NVIDIA Container Runtime "
        "Hook directly (e.g. specifying the docker --gpus flag) is not supported. Please use the NVIDIA Container Runtime (e.g. specify the "
        "--runtime=nvidia flag) instead: unknown",
        "The toolkit's mode is `cdi`, in which its hook refuses --gpus.",
    ),
    # a lab node, Docker 26.1.5 and runc 1.1.15
    (
        DAEMON + 'CDI device injection failed: failed to inject devices: failed to stat CDI host device "/dev/nvidia0": no such file or directory.',
        "The CDI specification names /dev/nvidia0, which is not a device node on the node.",
    ),
    (
        INIT + 'error mounting "/usr/lib/x86_64-linux-gnu/libcuda.so.550.163.01" to rootfs at "/usr/lib/x86_64-linux-gnu/libcuda.so.550.163.01": '
        "create mount destination for /usr/lib/x86_64-linux-gnu/libcuda.so.550.163.01 mount: bind mount source "
        "stat: stat /usr/lib/x86_64-linux-gnu/libcuda.so.550.163.01: no such file or directory: unknown.",
        "The CDI specification is stale: it names /usr/lib/x86_64-linux-gnu/libcuda.so.550.163.01, which is no longer on the node, as after a driver upgrade.",
    ),
    (
        INIT + "error running hook #0: fork/exec /usr/bin/nvidia-cdi-hook: no such file or directory: unknown.",
        "The program /usr/bin/nvidia-cdi-hook, a hook in the CDI specification, is missing.",
    ),
    (
        DAEMON + 'exec: "nvidia-container-runtime-hook": executable file not found in $PATH.',
        "nvidia-container-runtime-hook was removed while Docker ran.",
    ),
    # public reports: the case is in the table
    (
        "Error: crun: cannot stat `/lib64/libEGL_nvidia.so.550.54.14`: No such file or directory: OCI runtime attempted to invoke",
        "it names /lib64/libEGL_nvidia",
    ),
    (DAEMON + "unknown or invalid runtime name: nvidia.\n", "The daemon that answers has no runtime nvidia:"),
    (LEGACY + "initialization error: nvml error: driver/library version mismatch: unknown.\n", "The driver's library and the loaded kernel module are of diff"),
    (LEGACY + "initialization error: driver rpc error: timed out: unknown.\n", "The driver did not answer in time."),
    (
        LEGACY + "initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory: unknown.\n",
        "The daemon that answers does not find the driver's library libnvidia-ml.so.1:",
    ),
    (
        LEGACY
        + "requirement error: unsatisfied condition: cuda>=12.8, please update your driver to a newer version, or use an earlier cuda container: unknown",
        "The container image requires cuda>=12.8 (NVIDIA_REQUIRE_CUDA), more than the host's driver can do.",
    ),
    (
        LEGACY + "mount error: file creation failed: /var/lib/docker/overlay2/<id>/merged/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1: file exists: unknown.\n",
        "The container image brings the driver's library /var/lib/docker/overlay2/<id>/merged/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1 along, ",
    ),
    (
        DAEMON
        + "OCI runtime create failed: container_linux.go:380: starting container process caused: process_linux.go:545: container init caused: Running hook "
        "#0:: error running hook: exit status 1, stdout: , stderr: nvidia-container-cli: detection error: nvml error: unknown error: unknown.\n",
        "The toolkit could not prepare the container: detection error: nvml error: unknown error.",
    ),
    ("error during container init: unable to apply apparmor profile", "AppArmor's profile could not be applied."),
    ("killed after 60 s: docker run --rm", "The container did not end within 60 s"),
]


@pytest.mark.parametrize(("text", "cause"), SAID)
def test_captured_words_have_their_cause(text: str, cause: str) -> None:
    known = explain(text)
    assert known is not None
    assert known[1].startswith(cause) or cause in known[1]


def test_each_wording_has_a_remedy_and_a_source() -> None:
    assert all(error.remedy and error.source for error in START_ERRORS)


def test_words_that_nobody_knows_have_no_cause() -> None:
    assert explain(DAEMON + "the moon is full") is None


# Docker 26.1.5 without v2 controllers prints these and runs the container all the same.
WARNINGS = """\
WARNING: Your kernel does not support memory limit capabilities or the cgroup is not mounted. Limitation discarded.
WARNING: Your kernel does not support PIDs limit capabilities or the cgroup is not mounted. PIDs limit discarded.
"""


def test_discarded_limits_are_no_error() -> None:
    (run,) = runs(({"request": "cdi", "rc": 0, "stdout": "", "stderr": WARNINGS},), None)
    assert run.started is True
    assert words({"stderr": WARNINGS + "docker: it broke\nSee 'docker run --help'.\n"}) == "docker: it broke"


@pytest.mark.parametrize(
    ("evidence", "started"),
    [
        ({"rc": 0}, True),
        ({"rc": 1}, True),
        ({"rc": 139}, True),
        ({"rc": 125}, False),
        ({"rc": 126}, False),
        ({"rc": 127}, False),
        ({"error": "killed after 60 s: docker run"}, False),
        ({"stdout": "Failed to initialize NVML"}, None),
        ({}, None),
    ],
)
def test_exit_code_says_whether_the_program_was_reached(evidence: dict[str, Any], started: bool | None) -> None:
    (run,) = runs((evidence,), None)
    assert run.started is started


@pytest.mark.parametrize(
    ("request_", "engine", "served"),
    [
        ("cdi", None, "cdi"),
        ("cdi", "29.5.0", "cdi"),
        ("gpus", "20.10.24", "hook"),
        ("gpus", "28.5.2", "hook"),
        ("gpus", "29.1.9", "hook"),
        ("gpus", "29.2.0", "jit-cdi"),
        ("gpus", "30.0", "jit-cdi"),
        ("gpus", None, None),
        ("compose", "26.1.5", None),
    ],
)
def test_code_path_follows_the_engine(request_: str, engine: str | None, served: str | None) -> None:
    assert code_path(request_, engine) == served


def test_stated_code_path_wins() -> None:
    (run,) = runs(({"request": "gpus", "code_path": "hook"},), "29.2.0")
    assert run.code_path == "hook"


@given(st.text())
def test_any_words_are_explained_or_not(text: str) -> None:
    known = explain(text)
    assert known is None or "{" not in known[1] or "{" in text
