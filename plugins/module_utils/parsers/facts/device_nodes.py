# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The device nodes below /dev and the majors that the kernel gave out."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import linux
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import Base, fact


class DeviceNodeFacts(Base):
    """The device nodes below /dev and the majors that the kernel gave out."""

    @fact
    def device_nodes(self) -> dict[str, linux.DeviceNode]:
        """NVIDIA's nodes below /dev, by path; the folders of the capability nodes (nvidia-caps, nvidia-caps-imex-channels) are none."""
        nodes = {} if self.bundle.absent("ls_dev_nvidia") else linux.device_nodes(self.need("ls_dev_nvidia"))
        return {path: node for path, node in nodes.items() if not (node.kind == "d" and path.startswith("/dev/nvidia-caps"))}

    @fact
    def majors(self) -> dict[str, int]:
        """The character majors that the kernel's drivers have registered."""
        return linux.character_majors(self.need("proc_devices"))
