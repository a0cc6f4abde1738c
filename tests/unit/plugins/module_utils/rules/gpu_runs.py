"""Evidence of GPU container runs, as the probe writes it, for the tables of test_container.py and test_cuda.py."""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils import cuda_probe
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import RULES, Outcome

NONCE = "00c0ffee"
UUIDS = ("GPU-1", "GPU-2")
STACK = {"pins": {"container_toolkit": {"version": "1.20.0"}, "container_engine": "docker"}}
NO_TOOLKIT = {"pins": {"container_toolkit": None}}
DOCKER = {"docker_version": json.dumps({"Server": {"Components": [{"Name": "Engine", "Version": "26.1.5+dfsg1"}]}})}
END = {"ok": True, "step": None, "result": 0, "result_name": "CUDA_SUCCESS", "detail": ""}


def failing(step: str, result: int | None = None, name: str | None = None, detail: str = "") -> dict[str, Any]:
    """The end of a report or a device that failed."""
    return {"ok": False, "step": step, "result": result, "result_name": name, "detail": detail}


def report(*uuids: str, **changed: Any) -> str:
    """The probe's line for devices that computed the nonce's numbers."""
    right = cuda_probe.expected_checksum(changed.get("nonce", NONCE))
    devices = [
        {"index": i, "uuid": uuid, "pci": f"0000:0{i}:00.0", "checksum": right, "expected": right, "managed": True, **END} for i, uuid in enumerate(uuids)
    ]
    base = {"schema": cuda_probe.SCHEMA, "nonce": NONCE, "simulated": False, "driver_version": 12040, "devices": devices, **END}
    return json.dumps({**base, "library": "/usr/lib/x86_64-linux-gnu/libcuda.so.550.163.01", **changed}) + "\n"


GOOD = report(*UUIDS)


def run(request: str, stdout: str = GOOD, **changed: Any) -> dict[str, Any]:
    """A run that the canary declared, by default a good one."""
    declared = {"path": request, "engine": "docker", "request": request, "devices": "all", "payload": "cuda_probe", "nonce": NONCE}
    return {**declared, "stdout": stdout, "stderr": "", "rc": 0, **changed}


def refused(request: str, stderr: str, rc: int = 125) -> dict[str, Any]:
    """A run that the engine did not start."""
    return run(request, "", stderr=stderr, rc=rc)


def judged(identifier: str, runs: list[dict[str, Any]], host: str | None = GOOD, stack: dict[str, Any] | None = None) -> Outcome:
    """What one rule says about the runs."""
    probes = {**DOCKER, **({"cuda_probe": host} if host is not None else {})}
    return RULES[identifier].judge(Facts({"probes": probes, "runs": runs}), Wanted(STACK if stack is None else stack))
