# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Hardware: GPUs, their memory, links, power and place on PCI. The narrow faults stand before those that they cause."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.rules.hardware import bus, power, memory, nvlink, errors, inventory  # isort: skip

__all__ = ["bus", "errors", "inventory", "memory", "nvlink", "power"]
