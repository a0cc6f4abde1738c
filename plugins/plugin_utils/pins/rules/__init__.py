# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The rules, by subject; importing this package registers all of them."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.rules import cuda, driver, engine, fabric, gpu, kernel, mig, system, toolkit, versions

__all__ = ["cuda", "driver", "engine", "fabric", "gpu", "kernel", "mig", "system", "toolkit", "versions"]
