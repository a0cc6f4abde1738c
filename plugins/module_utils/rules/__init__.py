# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""All rules, registered by these imports."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.rules import (
    container,
    container_toolkit,
    cuda,
    device_nodes,
    driver,
    engine,
    hardware,
    kernel,
    orchestrator,
    policy,
)
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import RULES, Rule

__all__ = [
    "RULES",
    "Rule",
    "container",
    "container_toolkit",
    "cuda",
    "device_nodes",
    "driver",
    "engine",
    "hardware",
    "kernel",
    "orchestrator",
    "policy",
]
