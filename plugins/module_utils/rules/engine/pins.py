# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Engine: its versions and packages against the pool's lock."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.model import ENGINE
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.docker import upstream
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.nvidia import tool_version
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import packages
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, equals_pin, rule


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


@packages.versions_rule("engine.package_versions", layer=ENGINE, verify="dpkg -l | grep -E 'docker|containerd|runc' shows the locked versions.")
def engine_packages(facts: Facts, wanted: Wanted) -> Outcome:
    """Engine packages are installed at their locked versions"""
    return packages.packages_are_locked_ones(facts, wanted, ENGINE)


@packages.holds_rule("engine.packages_held", layer=ENGINE)
def engine_holds(facts: Facts, wanted: Wanted) -> Outcome:
    """The locked engine packages are held"""
    return packages.packages_are_held(facts, wanted, ENGINE)


@packages.configuration_rule("engine.configuration_is_provisioned", layer=ENGINE)
def engine_configuration(facts: Facts, wanted: Wanted) -> Outcome:
    """daemon.json is as provisioning left it"""
    return packages.configuration_is_provisioned(facts, wanted, "/etc/docker/daemon.json")
