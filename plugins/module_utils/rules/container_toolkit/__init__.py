# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Container toolkit: its packages and releases, its configuration, its hooks, and the CDI specs that it makes of the driver."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.rules.container_toolkit import cdi, configuration, hooks, packages, releases

__all__ = ["cdi", "configuration", "hooks", "packages", "releases"]
