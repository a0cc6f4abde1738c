# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Facts: what a bundle says, in the field's terms. Each is parsed when it is first asked for; None means not known.

A stated value takes the place of the parsed fact of the same name, so the names of facts are the table of stated names, and a rule never
knows which of the two it was. One file for the facts of each layer.
"""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.container_toolkit import ContainerToolkitFacts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.cuda import CudaFacts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.device_nodes import DeviceNodeFacts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.orchestrator import OrchestratorFacts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.policy import PolicyFacts

__all__ = ["Facts"]


class Facts(OrchestratorFacts, CudaFacts, PolicyFacts, ContainerToolkitFacts, DeviceNodeFacts):
    """All facts of one bundle; a layer's facts build on those of the layers that it needs."""
