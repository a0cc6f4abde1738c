# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The GPU container runs that a canary turn declares; the probe on the node starts them as they are (docs/canary.md)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

LABEL = "goldnode.canary"

# How each path asks the engine for all devices.
REQUESTS = {
    "cdi": ["--device", "nvidia.com/gpu=all"],
    "gpus": ["--gpus", "all"],
}
# A container of the canary may do nothing but compute: no root, no network, no disk, no capability, few processes, little memory.
RESTRICTIONS = ["--rm", "--pull", "never", "--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
USER = "65532:65532"


class CanaryError(Exception):
    """One sentence: what, expected, observed, what to do."""


def canary_image(stack: Mapping[str, Any]) -> str:
    """The canary container image of a lock, `name@digest`; a tag beside the digest is left out."""
    images = [image for image in stack.get("images", []) if image.get("use") == "canary"]
    if not images:
        raise CanaryError(f"The lock of pool {stack.get('pool')} has no canary container image; pin canary_image in pins.yml and run lock_stack.")
    name = images[0]["reference"].partition("@")[0]
    return f"{re.sub(r':[^:/]*$', '', name)}@{images[0]['digest']}"


def container_name(slot: str, path: str) -> str:
    """The container's name, by slot and path, of the characters that Docker allows."""
    return re.sub("[^A-Za-z0-9_.-]+", "-", f"goldnode-canary-{slot}-{path}")


def declared_run(image: str, nonce: str, slot: str, path: str, limit_s: int, pids: int, memory: str) -> dict[str, Any]:
    """One run, as probe.py's `--runs` takes it."""
    if path not in REQUESTS:
        raise CanaryError(f'There is no GPU path "{path}"; write {" or ".join(REQUESTS)} (gpu_canary_paths).')
    name = container_name(slot, path)
    limits = ["--pids-limit", str(pids), "--memory", memory, "--user", USER]
    argv = ["docker", "run", *RESTRICTIONS, *limits, "--label", f"{LABEL}={slot}", "--name", name, *REQUESTS[path], image, "--nonce", nonce]
    return {
        "path": path,
        "engine": "docker",
        "request": path,
        "devices": "all",
        "image": image,
        "payload": "cuda_probe",
        "user": USER,
        "nonce": nonce,
        "name": name,
        "argv": argv,
        "limit_s": limit_s,
    }


def workload_run(workload: Mapping[str, Any], canary: str, nonce: str, slot: str, limit_s: int) -> dict[str, Any]:
    """A run that somebody describes: `path`, `request` and `argv`, a command line in which {name}, {image} and {nonce} stand for this turn's."""
    missing = [key for key in ("path", "request", "argv") if not workload.get(key)]
    if missing:
        raise CanaryError(f"A workload's run has no {' and no '.join(missing)}; expected path, request and argv (docs/canary.md).")
    image = workload.get("image") or canary
    name = container_name(slot, workload["path"])
    argv = [word.replace("{name}", name).replace("{image}", image).replace("{nonce}", nonce) for word in shlex.split(workload["argv"])]
    return {"engine": argv[0], **workload, "image": image, "nonce": nonce, "name": name, "argv": argv, "limit_s": limit_s}


def declared_runs(
    stack: Mapping[str, Any],
    nonce: str,
    slot: str,
    paths: Sequence[str] = ("cdi", "gpus"),
    limit_s: int = 60,
    pids: int = 128,
    memory: str = "4g",
    workloads: Sequence[Mapping[str, Any]] = (),
) -> list[dict[str, Any]]:
    """One run for each path and then for each workload; none for a pool that has no container toolkit on purpose. `limit_s` is one run's, in seconds."""
    pins = stack.get("pins", {})
    if pins.get("container_toolkit") is None:
        return []
    if pins.get("container_engine") != "docker":
        raise CanaryError(f"Pool {stack.get('pool')} has the engine {pins.get('container_engine')}; the canary's containers run on docker only.")
    image = canary_image(stack)
    canary = [declared_run(image, nonce, slot, path, limit_s, pids, memory) for path in paths]
    return canary + [workload_run(workload, image, nonce, slot, limit_s) for workload in workloads]
