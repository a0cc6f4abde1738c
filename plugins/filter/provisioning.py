# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Filters of the playbook provision_pool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.provisioning import release_of, report


class FilterModule:
    """Each is documented in the file of its name."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"channel_release": release_of, "provisioning_report": lambda nodes, pool: report(pool, nodes)}
