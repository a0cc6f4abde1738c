# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The container engines that answer, and their configuration."""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import containerd, docker, linux, nvidia
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.bundle import folded
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import Message, fact, first_with
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.driver import DriverFacts

# What daemons and their clients say; a run's words stand in `messages`.
DRIVER_TOOLS = ("nvidia_smi", "cuda_probe")
DAEMON_WORDS = ("docker_info", "docker_version", "docker_service", "docker_log", "containerd_log", "journal", "podman_info")


class EngineFacts(DriverFacts):
    """The container engines that answer, and their configuration."""

    @fact
    def docker_versions(self) -> dict[str, str]:
        """Component of the daemon that answers -> version."""
        return docker.server_versions(self.need("docker_version"))

    @fact
    def docker_info(self) -> dict[str, Any] | None:
        """What the daemon says it runs with; not known when it does not answer."""
        info = docker.info(self.need("docker_info"))
        return info if info and info.get("ServerVersion", "?") != "" else None

    @fact
    def docker_config(self) -> dict[str, Any] | None:
        """daemon.json; empty when there is none."""
        return {} if self.bundle.absent("docker_daemon_json") else docker.as_json(self.need("docker_daemon_json") or "{}")

    @fact
    def docker_started(self) -> float | None:
        """When the daemon was started, seconds since the epoch."""
        return linux.systemd_time(self.known(self.service("docker_service"))["ActiveEnterTimestamp"])

    @fact
    def containerd_config(self) -> containerd.ContainerdConfig:
        """What containerd's CRI plugin was told, as far as the file was seen."""
        return containerd.config(self.need("containerd_config"))

    @fact
    def engine_versions(self) -> dict[str, str]:
        """Engine -> version, of each that printed one; docker's is the daemon's."""
        text = self.bundle.text("docker_version") or ""
        loose = re.search(r"^Docker version ([\w.+~-]+)", text, re.M)
        by_docker = (self.docker_versions or {}).get("Engine") or (self.docker_info or {}).get("ServerVersion") or (loose.group(1) if loose else None)
        others = {name: nvidia.tool_version(self.bundle.text(f"{name}_version") or "") for name in ("podman", "containerd", "crio", "nerdctl")}
        found = {"docker": by_docker, **others}
        return {name: version for name, version in found.items() if version}

    @fact
    def engine_messages(self) -> tuple[Message, ...]:
        """What containers, their tools and the daemons said in words: no JSON, as a container that started prints it, and not the driver's own tools."""
        spoken = (*(self.messages or ()), *(Message(name, folded(self.bundle.output(name) or "")) for name in DAEMON_WORDS))
        return tuple(message for message in spoken if message.text and message.text.lstrip()[:1] != "{" and not message.source.startswith(DRIVER_TOOLS))

    def engine_said(self, pattern: str) -> tuple[Message, re.Match[str]] | None:
        """The first message, of containers, tools or daemons, that has the pattern, and where."""
        return first_with(pattern, self.engine_messages or ())
