# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Engine: whether its release can do what is asked of it, CDI above all, and the low-level runtime below it."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.engine_releases import CDI_ON_SINCE, CDI_SINCE, GPUS_SINCE, PODMAN_CDI_SINCE
from ansible_collections.goldnode.gpu.plugins.module_utils.model import ENGINE
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.versions import at_least
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.engine.daemon import without_docker
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.engine.runtimes import toolkit_expected
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.quotes import quote
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown

# moby daemon/devices.go and daemon/cdi.go; the last one is what an engine says that takes the CDI name for a path.
CDI_OFF = (
    r"could not select device driver \\?\"?cdi\\?\"?|no CDI device driver registered|CDI (?:is|support is) (?:disabled|not enabled)"
    r"|error gathering device information while adding custom device \\?\"[\w.]*nvidia\.com/[^\n]*|(?:stat|lstat) [\w.]*nvidia\.com/[\w./=:-]+: no "
    r"such file[^\n]*"
)
NO_GPUS_FLAG = r"unknown flag: --gpus"
API = r"client version (?P<client>[\d.]+) is too (?P<how>new|old)[^\n]*"
COMPOSE = r"Additional property (?:gpus|devices|runtime) is not allowed|Unsupported config option for [\w.]+: '(?:runtime|deploy|devices|gpus)'"
RUNC = (
    r"this version of runc doesn't work on cgroups v2|(?:cgroup|cgroups?) ?v2[^\n]*not (?:yet )?supported by (?:runc|crun)"
    r"|unknown version specified|unsupported (?:OCI|spec) version[^\n]*"
)


@rule(
    "engine.cdi_enabled",
    layer=ENGINE,
    probes=("docker_info", "docker_version", "podman_version"),
    symptom=(
        "docker: 'could not select device driver \"cdi\"', 'no CDI device driver registered', or nvidia.com/gpu=all is taken for a path: "
        "'error gathering device information while adding custom device'."
    ),
    cause="CDI is off in the daemon: Docker before 28.2 needs features.cdi in daemon.json, Docker before 25 and Podman before 4.1 have none.",
    fix=(
        'Set {"features": {"cdi": true}} in /etc/docker/daemon.json (provision_pool does; nvidia-ctk runtime configure --runtime=docker '
        "--cdi.enabled) and restart docker."
    ),
    verify="docker info lists 'CDI spec directories'.",
    source="Docker Engine 25.0 and 28.2 release notes; moby cmd/dockerd/daemon.go",
)
def cdi_enabled(facts: Facts, wanted: Wanted) -> Outcome:
    """The engine takes CDI devices, where they are asked for"""
    said = facts.engine_said(CDI_OFF)
    if said:
        return _no_cdi(facts, quote(said))
    if without_docker(facts, wanted) or not wanted or not toolkit_expected(facts, wanted):
        return not_applicable("no Docker, no container toolkit, or nothing asks by CDI")
    if facts.docker_info is None or "ServerVersion" not in facts.docker_info:
        return unknown()
    if at_least(facts.docker_info["ServerVersion"], CDI_SINCE) is False:
        return not_applicable("Docker before 25 has no CDI")
    directories = facts.docker_info.get("CDISpecDirs")
    return passed(", ".join(directories)) if directories else _no_cdi(facts, "CDI is off")


def _no_cdi(facts: Facts, said: str) -> Outcome:
    """Too old, or off."""
    versions = facts.engine_versions or {}
    docker, podman = versions.get("docker"), versions.get("podman")
    if at_least(docker, CDI_SINCE) is False:
        return failed(
            "Docker 25 or later", docker, cause=f"Docker {docker} has no CDI, it came with 25.0: {said}.", remedy="Upgrade Docker, or ask by --gpus all."
        )
    if docker is None and at_least(podman, PODMAN_CDI_SINCE) is False:
        return failed("Podman 4.1 or later", podman, cause=f"Podman {podman} has no CDI, it came with 4.1: {said}.", remedy="Upgrade Podman.")
    if at_least(docker, CDI_ON_SINCE):
        cause = f"CDI is switched off in Docker {docker} (features.cdi = false in daemon.json): {said}."
        return failed("CDI spec directories", said, cause=cause)
    release = f"Docker {docker}" if docker else "The daemon"
    return failed(
        "CDI spec directories", said, cause=f'{release} has CDI switched off: before 28.2 it needs "features": {{"cdi": true}} in daemon.json ({said}).'
    )


@rule(
    "engine.release_serves_request",
    layer=ENGINE,
    probes=("docker_version",),
    symptom="'unknown flag: --gpus'; 'client version 1.52 is too new'; Compose: 'Additional property gpus is not allowed' or 'Unsupported config option'.",
    cause="The engine, its client or Compose is too old (or the client too old for the daemon) for the way in which GPUs are asked for.",
    fix="Upgrade Docker and Compose together from download.docker.com: --gpus needs Docker 19.03, deploy.…devices Compose 1.28, gpus: Compose 2.30.",
    verify="docker version shows client and server of one release; docker compose version",
    source="Docker Engine 19.03, 29.0 release notes; docker/compose release notes 1.28.0, 2.30.0",
)
def release_serves_request(facts: Facts, wanted: Wanted) -> Outcome:
    """Engine and client are new enough for what is asked"""
    docker = (facts.engine_versions or {}).get("docker")
    flag, api, compose = (facts.engine_said(pattern) for pattern in (NO_GPUS_FLAG, API, COMPOSE))
    asked = any(run.get("engine") == "docker" and run.get("request") == "gpus" for run in facts.runs)
    if flag or (asked and at_least(docker, GPUS_SINCE) is False):
        return failed("Docker 19.03 or later", docker or "unknown flag: --gpus", cause=f"Docker {docker or 'here'} is older than 19.03 and has no --gpus.")
    if api:
        side = "older than the client" if api[1]["how"] == "new" else "newer than the client, whose API it no longer speaks (29.0 raised the minimum to 1.44)"
        return failed("client and daemon that speak one API", quote(api), cause=f"The Docker daemon is {side}: {quote(api)}.")
    if compose:
        return failed(
            "a Compose that knows the option",
            quote(compose),
            cause=f"This release of Compose does not know how GPUs are asked for here: {quote(compose)}.",
        )
    return passed(f"Docker {docker}") if docker else unknown()


@rule(
    "engine.low_level_runtime_fits",
    layer=ENGINE,
    probes=("runc_version", "docker_info"),
    symptom="'this version of runc doesn't work on cgroups v2', 'unknown version specified', with and without a GPU.",
    cause="runc or crun is too old for the host's cgroup hierarchy or for the engine above it.",
    fix="Upgrade runc (1.0.0-rc93 and later know cgroup v2; 1.1.12 and later are safe) or crun together with the engine: containerd.io brings its own runc.",
    verify="runc --version; docker run --rm hello-world",
    source="opencontainers/runc CHANGELOG.md; containers/crun releases",
)
def low_level_runtime_fits(facts: Facts, wanted: Wanted) -> Outcome:
    """runc fits the host and the engine"""
    said, version = facts.engine_said(RUNC), facts.bundle.text("runc_version") or (facts.docker_versions or {}).get("runc")
    if said:
        return failed(
            "a runc that fits",
            quote(said),
            cause=f"The low-level runtime {(version or 'runc').splitlines()[0]} does not fit this host: {quote(said)}.",
        )
    return passed(version.splitlines()[0]) if version else unknown()
