# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Of which generation the node's GPUs are: their architecture decides on branch, kind of module and fabric."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.driver_branches import Architecture, of_device, of_name
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts


def generations(facts: Facts) -> dict[str, Architecture]:
    """Each GPU whose generation is known, by PCI address or name."""
    found = {gpu: of_device(identifier) or of_name(name) for gpu, (identifier, name) in (facts.gpu_identities or {}).items()}
    return {gpu: one for gpu, one in found.items() if one}
