# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Control groups, security modules and what they forbid."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import fact
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.engine import EngineFacts


class PolicyFacts(EngineFacts):
    """Control groups, security modules and what they forbid."""

    @fact
    def docker_security_options(self) -> tuple[str, ...]:
        """`name=apparmor`, `name=selinux`, …"""
        text = self.bundle.text("docker_security_options")
        return tuple(text.split()) if text else tuple(self.known(self.docker_info)["SecurityOptions"])

    @fact
    def cgroup_version(self) -> int | None:
        """2 for the unified hierarchy, 1 for the legacy or hybrid one."""
        return {"cgroup2fs": 2, "tmpfs": 1}.get(self.need("cgroup_fstype").strip())
