# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Says which locked packages have left their archive."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import read_lock
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.expiry import standings, write_result
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.pools import inventory_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.resolve import PoolFiles, read_offers
from ansible_collections.goldnode.gpu.plugins.plugin_utils.report_action import Given, Report, ReportAction


class ActionModule(ReportAction):
    """See the documentation of the module of the same name."""

    ARGUMENTS: ClassVar[dict[str, Any]] = {
        "pool": {"type": "str", "required": True},
        "lock_file": {"type": "path"},
    }

    def report(self, given: Given, place: Path, variables: Given) -> Report:
        files = PoolFiles(f"{given['pool']}", inventory_of(variables, given["pool"]))
        lock = read_lock(Path(given["lock_file"] or files.lock), files.pool)
        return write_result(lock, standings(lock, read_offers(files, lock["pins"]["os"]).packages), place)
