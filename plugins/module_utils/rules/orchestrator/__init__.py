# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Orchestrator: what Kubernetes and other schedulers were told about the GPUs. Judged only where somebody put its evidence into the bundle."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.rules.orchestrator import device_plugin, mig, operator, pods, schedulers

__all__ = ["device_plugin", "mig", "operator", "pods", "schedulers"]
