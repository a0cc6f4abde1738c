# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Engine: the daemon that answers, what it is and what it was told."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.model import ENGINE
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.docker import upstream
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.nvidia import tool_version
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import packages
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, equals_pin, failed, not_applicable, passed, rule, unknown

NO_DOCKER = "this node has no Docker"
RESTART = "systemctl restart docker (running containers stop unless live-restore is on); journalctl -u docker says why it does not come up."
# docker's client, client/errors.go of moby.
NO_ANSWER = re.compile(
    r"Cannot connect to the Docker daemon|error during connect|permission denied while trying to connect|failed to connect to the docker API"
)
# A runtime's own clock and the file system's differ by less; systemd prints whole seconds.
SAME_MOMENT_S = 2


def without_docker(facts: Facts, wanted: Wanted) -> bool:
    """Docker's rules do not apply: another engine is pinned, or nothing is pinned and there is none."""
    pinned = wanted.pin("container_engine")
    return pinned != "docker" if pinned else facts.bundle.absent("docker_info")


@rule(
    "engine.daemon_answers",
    layer=ENGINE,
    probes=("docker_info", "docker_service"),
    symptom="docker: 'Cannot connect to the Docker daemon', or every docker command hangs.",
    cause="The Docker daemon does not answer.",
    fix=RESTART,
    verify="docker info prints a Server section.",
    source="docker-info(1)",
)
def daemon_answers(facts: Facts, wanted: Wanted) -> Outcome:
    """The Docker daemon answers"""
    if without_docker(facts, wanted):
        return not_applicable(NO_DOCKER)
    if facts.docker_info is not None:
        return passed(f"Docker {facts.docker_info.get('ServerVersion', '')}".strip())
    service = (facts.service("docker_service") or {}).get("ActiveState", "unknown")
    said = _silence(facts)
    if said is None and service not in ("failed", "inactive"):
        return unknown()
    return failed("an answer from the daemon", f"{said or 'no answer'}; docker.service {service}")


def _silence(facts: Facts) -> str | None:
    """What says that no daemon answers: docker's own words, its absence, or that it had to be killed. None: nothing says so."""
    if facts.bundle.absent("docker_info"):
        return "docker is not installed"
    lines = [line for line in (facts.bundle.output("docker_info") or "").splitlines() if NO_ANSWER.search(line)]
    return facts.bundle.error("docker_info") or (lines[-1].strip() if lines else None)


@rule(
    "engine.version_is_pinned",
    layer=ENGINE,
    probes=("docker_version", "podman_version", "containerd_version"),
    symptom="Containers get their GPUs another way than on the pool's other nodes: CDI support and defaults change between engine versions.",
    cause="The engine that answers is not of the pinned version: it was upgraded, or its daemon was not restarted after the upgrade.",
    fix=packages.PROVISION,
    verify="docker version --format '{{.Server.Version}}'",
    source="Docker Engine release notes 25, 28.2, 29.2 (CDI)",
)
def version_is_pinned(facts: Facts, wanted: Wanted) -> Outcome:
    """The engine that answers has the pinned version"""
    engine = wanted.pin("container_engine")
    versions = {
        "docker": (facts.docker_versions or {}).get("Engine"),
        "podman": tool_version(facts.bundle.text("podman_version") or ""),
        "containerd": tool_version(facts.bundle.text("containerd_version") or ""),
    }
    return _equals_upstream(versions.get(engine), wanted.pin(engine, "version") if engine else None)


@rule(
    "engine.containerd_version",
    layer=ENGINE,
    probes=("docker_version",),
    symptom="Containers start or stop differently than on the pool's other nodes.",
    cause="containerd is not of the pinned version, or was not restarted after its upgrade.",
    fix=packages.PROVISION,
    verify="docker version shows containerd's version in its Server section.",
    source="docs/pins_and_locks.md, key docker",
)
def containerd_version(facts: Facts, wanted: Wanted) -> Outcome:
    """containerd has the pinned version"""
    return _equals_upstream((facts.docker_versions or {}).get("containerd"), wanted.pin("docker", "containerd"))


@rule(
    "engine.runc_version",
    layer=ENGINE,
    probes=("docker_version", "runc_version"),
    symptom="Device permissions or security options behave differently than on the pool's other nodes.",
    cause="runc is not of the pinned version.",
    fix=packages.PROVISION,
    verify="runc --version",
    source="docs/pins_and_locks.md, key docker",
)
def runc_version(facts: Facts, wanted: Wanted) -> Outcome:
    """runc has the pinned version"""
    engine = wanted.pin("container_engine")
    by_docker = (facts.docker_versions or {}).get("runc")
    observed = by_docker if engine == "docker" else tool_version(facts.bundle.text("runc_version") or "")
    return _equals_upstream(observed, wanted.pin(engine, "runc") if engine else None)


def _equals_upstream(observed: str | None, pinned: str | None) -> Outcome:
    return equals_pin(observed and upstream(observed), pinned and upstream(pinned))


@rule(
    "engine.default_runtime_is_runc",
    layer=ENGINE,
    probes=("docker_info",),
    symptom="Every container, also those that need no GPU, goes through NVIDIA's runtime and fails when that breaks.",
    cause="Docker's default runtime is not runc.",
    fix="Remove default-runtime from /etc/docker/daemon.json (provision_pool does) and restart docker.",
    verify="docker info --format '{{.DefaultRuntime}}' prints runc.",
    source="NVIDIA/gpu-operator #188",
)
def default_runtime_is_runc(facts: Facts, wanted: Wanted) -> Outcome:
    """Docker's default runtime stays runc"""
    if without_docker(facts, wanted) or not wanted:
        return not_applicable("no Docker, or no lock that wants one")
    return equals_pin((facts.docker_info or {}).get("DefaultRuntime"), "runc", "default runtime")


@rule(
    "engine.cdi_enabled",
    layer=ENGINE,
    probes=("docker_info",),
    symptom="docker: 'could not select device driver \"cdi\"', or '--device nvidia.com/gpu=all' is taken for a path.",
    cause="CDI is off in the daemon: Docker before 28.2 needs features.cdi in daemon.json.",
    fix='Set {"features": {"cdi": true}} in /etc/docker/daemon.json (provision_pool does) and restart docker.',
    verify="docker info lists 'CDI spec directories'.",
    source="Docker Engine 25.0 and 28.2 release notes",
)
def cdi_enabled(facts: Facts, wanted: Wanted) -> Outcome:
    """The daemon takes CDI devices, where it can"""
    if without_docker(facts, wanted) or not _toolkit_expected(facts, wanted):
        return not_applicable("no Docker or no container toolkit on this node")
    if facts.docker_info is None or "ServerVersion" not in facts.docker_info:
        return unknown()
    if int(upstream(facts.docker_info["ServerVersion"]).split(".")[0]) < 25:
        return not_applicable("Docker before 25 has no CDI")
    directories = facts.docker_info.get("CDISpecDirs")
    return passed(", ".join(directories)) if directories else failed("CDI spec directories", "CDI is off")


@rule(
    "engine.nvidia_runtime_registered",
    layer=ENGINE,
    probes=("docker_info",),
    symptom="docker run --runtime=nvidia: 'unknown or invalid runtime name: nvidia'.",
    cause="NVIDIA's runtime is not registered with the daemon.",
    fix="Register it in /etc/docker/daemon.json (provision_pool does; by hand nvidia-ctk runtime configure --runtime=docker) and restart docker.",
    verify="docker info --format '{{json .Runtimes}}' names nvidia.",
    source="NVIDIA Container Toolkit install guide; NVIDIA/k8s-device-plugin #479",
)
def nvidia_runtime_registered(facts: Facts, wanted: Wanted) -> Outcome:
    """NVIDIA's runtime is registered, where the toolkit is"""
    if without_docker(facts, wanted) or not _toolkit_expected(facts, wanted):
        return not_applicable("no Docker or no container toolkit on this node")
    runtimes = (facts.docker_info or {}).get("Runtimes")
    if runtimes is None:
        return unknown()
    return passed(", ".join(sorted(runtimes))) if "nvidia" in runtimes else failed("runtime nvidia", ", ".join(sorted(runtimes)))


def _toolkit_expected(facts: Facts, wanted: Wanted) -> bool:
    """The pin decides; without a lock, whether the toolkit is there."""
    return wanted.pin("container_toolkit") is not None if wanted else facts.toolkit_version is not None


@rule(
    "engine.restarted_since_change",
    layer=ENGINE,
    probes=("docker_daemon_json", "docker_info", "docker_service"),
    symptom="daemon.json is right, and Docker behaves as if it were not: 'unknown runtime', no CDI.",
    cause="/etc/docker/daemon.json was changed after the daemon started, or the daemon that answers does not read that file.",
    fix=RESTART,
    verify="docker info names the runtimes of daemon.json, and docker.service is younger than the file.",
    source="dockerd(8); Leon-Sander/Local-Multimodal-AI-Chat #31",
)
def restarted_since_change(facts: Facts, wanted: Wanted) -> Outcome:
    """The daemon runs with what daemon.json says"""
    if without_docker(facts, wanted):
        return not_applicable(NO_DOCKER)
    if facts.docker_config is None or facts.docker_info is None:
        return unknown()
    unread = sorted(set(facts.docker_config.get("runtimes") or ()) - set(facts.docker_info.get("Runtimes") or facts.docker_config.get("runtimes") or ()))
    if unread:
        return failed("the runtimes of daemon.json", f"the daemon does not know {', '.join(unread)}")
    return _younger_than_file(facts)


def _younger_than_file(facts: Facts) -> Outcome:
    """Whether the daemon started after the last change of its file."""
    changed, started = facts.bundle.mtime("docker_daemon_json"), facts.docker_started
    if facts.bundle.absent("docker_daemon_json"):
        return passed("no daemon.json")
    if changed is None or started is None:
        return unknown()
    late = changed - started - SAME_MOMENT_S
    return failed("the daemon started after the change", f"changed {late:.0f} s after the start", confidence="medium") if late > 0 else passed()


@packages.versions_rule("engine.package_versions", layer=ENGINE, verify="dpkg -l | grep -E 'docker|containerd|runc' shows the locked versions.")
def engine_packages(facts: Facts, wanted: Wanted) -> Outcome:
    """Engine packages are installed at their locked versions"""
    return packages.packages_are_locked_ones(facts, wanted, ENGINE)


@packages.holds_rule("engine.packages_held", layer=ENGINE)
def engine_holds(facts: Facts, wanted: Wanted) -> Outcome:
    """The locked engine packages are held"""
    return packages.packages_are_held(facts, wanted, ENGINE)
