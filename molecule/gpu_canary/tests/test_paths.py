"""CDI and --gpus on a lab node's real Docker: both compute; when one is broken, only that one fails, and with its cause."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.module_utils.judge import judge
from ansible_collections.goldnode.gpu.plugins.plugin_utils.canary import declared_runs
from ansible_collections.goldnode.gpu.plugins.plugin_utils.payload import payload

INVENTORY = Path("/var/lib/goldnode-lab") / os.environ["GOLDNODE_LAB"] / "inventory"
NODE = "lab-a10-canary-1"
LAB_PATHS = ["--procfs", "/run/goldnode-lab/proc", "--sysfs", "/run/goldnode-lab/sys", "--kernel-log", "/run/goldnode-lab/kernel.log"]
NONCE = "00c0ffee"
HOOK = "/usr/bin/nvidia-container-runtime-hook"
SPEC = "/var/run/cdi/nvidia.yaml"


def ssh(command: str, stdin: str = "") -> str:
    """What a shell command prints on the node."""
    argv = ["ssh", "-F", str(INVENTORY / "ssh_config"), NODE, command]
    return subprocess.run(argv, input=stdin, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def stack() -> dict[str, Any]:
    """The lock that the node was brought to."""
    lock: dict[str, Any] = yaml.safe_load((INVENTORY / "locks/lab_a10.lock.yml").read_text())
    return lock


@pytest.fixture(scope="module")
def turn(stack: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """One canary turn: the node's evidence, both paths tried."""

    def take() -> dict[str, Any]:
        runs = json.dumps(declared_runs(stack, NONCE, "molecule"))
        evidence: dict[str, Any] = json.loads(ssh(shlex.join(["python3", "-", "--nonce", NONCE, *LAB_PATHS, "--runs", runs]), stdin=payload()))
        return evidence

    return take


def failing(evidence: dict[str, Any], stack: dict[str, Any]) -> dict[str, Any]:
    """The failing findings about containers and CUDA, by rule."""
    return {finding.rule: finding for finding in judge(evidence, stack, ("container", "cuda")).findings if finding.verdict == "fail"}


@contextmanager
def moved_away(path: str) -> Iterator[None]:
    """A file that is not there for a while; dockerd notices within a second."""
    away = f"/root/{Path(path).name}"
    ssh(f"mv {path} {away} && sleep 1")
    try:
        yield
    finally:
        ssh(f"mv {away} {path} && sleep 1")


def test_both_paths_compute_on_the_hosts_devices(turn: Callable[[], dict[str, Any]], stack: dict[str, Any]) -> None:
    judgement = judge(turn(), stack)
    assert (judgement.verdict, judgement.rung) == ("pass", "simulated")
    observed = {finding.rule: finding.observed for finding in judgement.findings}
    assert observed["container.run_by_cdi"] == "cdi: started, served by cdi"
    assert observed["container.run_by_gpus"] == "gpus: started, served by hook"


def test_broken_cdi_fails_alone(turn: Callable[[], dict[str, Any]], stack: dict[str, Any]) -> None:
    with moved_away(SPEC):
        evidence = turn()
    found = failing(evidence, stack)
    assert list(found) == ["container.run_by_cdi"]
    assert found["container.run_by_cdi"].cause == "No CDI specification that the engine reads has nvidia.com/gpu=all."
    # On the whole node the cause itself is what is named.
    assert judge(evidence, stack).first_broken_layer == "container_toolkit"


def test_broken_gpus_fails_alone(turn: Callable[[], dict[str, Any]], stack: dict[str, Any]) -> None:
    with moved_away(HOOK):
        found = failing(turn(), stack)
    assert list(found) == ["container.run_by_gpus"]
    assert found["container.run_by_gpus"].cause == "nvidia-container-runtime-hook was removed while Docker ran."


def test_left_over_container_is_removed_by_the_next_turn(turn: Callable[[], dict[str, Any]], stack: dict[str, Any]) -> None:
    run = declared_runs(stack, NONCE, "molecule", ["cdi"])[0]
    sleeping = "docker run -d --label goldnode.canary=killed --name {} --entrypoint /usr/bin/python3 {} -c 'import time; time.sleep(600)'"
    ssh(sleeping.format(run["name"], run["image"]))
    assert not failing(turn(), stack)
    assert ssh("docker ps -aq --filter label=goldnode.canary") == ""
