# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What containers with a GPU did."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import container_run, docker
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import fact
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.engine import EngineFacts


class ContainerFacts(EngineFacts):
    """What containers with a GPU did."""

    @fact
    def container_runs(self) -> tuple[container_run.Run, ...]:
        """The runs of the bundle, with what really served each request on this engine."""
        engine = (self.docker_versions or {}).get("Engine")
        return container_run.runs(self.runs, docker.upstream(engine) if engine else None)
