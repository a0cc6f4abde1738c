# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A GPU container run of the evidence -> how far it came. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Mapping

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import cuda_probe

# docker-run(1): 125 the daemon failed, 126 the program cannot be invoked, 127 it is not there; podman and nerdctl do the same.
NOT_STARTED = (125, 126, 127)
# From 29.2 on dockerd serves --gpus by CDI first (moby 86f122af27) and takes the hook only if that fails.
JIT_CDI_SINCE = (29, 2)

# The engine had prepared the container, its hooks included, when it did not find or could not start the program in it. runc, crun.
PROGRAM_MISSING = re.compile(
    r'exec:? "(?!\S*nvidia-c)[^"]*": (?:executable file not found|stat |permission denied|no such file)|executable file `[^`]+` not found in \$PATH'
    r"|exec (?:user process caused|/\S+|container process)[^\n]*(?:exec format error|no such file or directory)|exec format error"
)
# What an engine says in place of the program, where a report gives no exit code.
ENGINE_REFUSED = re.compile(
    r"Error response from daemon:|OCI runtime create failed|^Error: (?:crun|runc|setting up CDI|OCI)|unable to start container process", re.M
)
# Compose refuses its file with exit code 1, or 15 or 14: no container was tried.
COMPOSE_REFUSED = re.compile(
    r"Unsupported config option for services|Additional propert(?:y|ies) [^\n]*not allowed|attributes are exclusive|contains an invalid value"
)


@dataclass(frozen=True)
class Run:
    """One attempt. `label` names it in sentences; `declared`: it is a path that the pool wants to work; `started` is None where the evidence does not say."""

    label: str
    request: str | None
    devices: str | None
    code_path: str | None
    nonce: str | None
    payload: str | None
    declared: bool
    started: bool | None
    said: str
    report: cuda_probe.Report | None


def runs(evidence: tuple[Mapping[str, Any], ...], engine_version: str | None) -> tuple[Run, ...]:
    """All runs of a bundle."""
    return tuple(_run(run, engine_version) for run in evidence)


def _run(run: Mapping[str, Any], engine_version: str | None) -> Run:
    report = cuda_probe.report(run.get("stdout") or "")
    request = run.get("request")
    return Run(
        label=str(run.get("path") or request or "container"),
        request=request,
        devices=run.get("devices"),
        code_path=run.get("code_path") or code_path(request, engine_version),
        nonce=cuda_probe.nonce(run.get("nonce")),
        payload=run.get("payload"),
        declared=bool(run.get("path")),
        started=True if report else _started(run),
        said=words(run),
        report=report,
    )


def _started(run: Mapping[str, Any]) -> bool | None:
    rc = run.get("rc")
    text = words(run)
    if PROGRAM_MISSING.search(text):
        return True
    if COMPOSE_REFUSED.search(text):
        return False
    if rc is None and ENGINE_REFUSED.search(text):
        return False
    if run.get("error") or (isinstance(rc, int) and rc in NOT_STARTED):
        return False
    if isinstance(rc, int):
        return True
    return None


def words(run: Mapping[str, Any]) -> str:
    """What the attempt said when it failed, without Docker's warnings (limits that the node's control groups cannot hold) and advice."""
    text = run.get("error") or run.get("stderr") or run.get("stdout") or ""
    lines = [line.strip() for line in text.splitlines()]
    return "\n".join(line for line in lines if line and not line.startswith(("WARNING:", "See 'docker run --help'", "Run 'docker run --help'")))


def code_path(request: str | None, engine_version: str | None) -> str | None:
    """What really serves a request: `cdi`, `hook` or `jit-cdi`; None where that is not known."""
    if request == "cdi":
        return "cdi"
    if request != "gpus" or engine_version is None:
        return None
    version = tuple(int(part) for part in engine_version.split(".")[:2])
    return "jit-cdi" if version >= JIT_CDI_SINCE else "hook"
