# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What Kubernetes and its device plugin say."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import Base, fact


class OrchestratorFacts(Base):
    """What Kubernetes and its device plugin say."""

    @fact
    def allocatable_gpus(self) -> int:
        """How many GPUs and MIG devices the kubelet may give to pods."""
        counts = re.findall(r"nvidia\.com/(?:gpu|mig-[\w.]+)\"?\s*[:=]\s*\"?(\d+)", self.need("node_allocatable"))
        return sum(int(count) for count in counts)
