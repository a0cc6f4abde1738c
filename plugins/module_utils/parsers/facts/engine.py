# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The container engine that answers, and its configuration."""

from __future__ import annotations

from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import docker, linux
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import fact
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.driver import DriverFacts


class EngineFacts(DriverFacts):
    """The container engine that answers, and its configuration."""

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
