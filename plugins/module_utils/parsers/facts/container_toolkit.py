# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The container toolkit and its CDI specs."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import nvidia
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import Base, fact


class ContainerToolkitFacts(Base):
    """The container toolkit and its CDI specs."""

    @fact
    def toolkit_version(self) -> str | None:
        """Version of nvidia-ctk."""
        return nvidia.tool_version(self.need("nvidia_ctk_version"))

    @fact
    def cdi_specs(self) -> tuple[nvidia.CdiSpec, ...]:
        """NVIDIA's CDI specs, of whatever file; not known where a file is only an excerpt that does not say what it is for."""
        specs = [nvidia.cdi_spec(path, text) for path, text in self.known(self.bundle.files("cdi_specs")).items()]
        if not all(spec.kind for spec in specs):
            return self.known(None)
        return tuple(spec for spec in specs if spec.kind.startswith("nvidia.com/"))
