# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Looks for newer stacks that hold together."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any, ClassVar

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import read_lock
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.pools import inventory_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.resolve import PoolFiles, read_offers
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.upgrade import proposals
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.upgrade_report import write_proposals
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.check import check
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.files import read_waivers
from ansible_collections.goldnode.gpu.plugins.plugin_utils.report_action import Given, Report, ReportAction


class ActionModule(ReportAction):
    """See the documentation of the module of the same name."""

    ARGUMENTS: ClassVar[dict[str, Any]] = {
        "pool": {"type": "str", "required": True},
        "lock_file": {"type": "path"},
    }

    def report(self, given: Given, place: Path, variables: Given) -> Report:
        files = PoolFiles(f"{given['pool']}", inventory_of(variables, given["pool"]))
        today = datetime.now(timezone.utc).date()
        lock = read_lock(Path(given["lock_file"] or files.lock), files.pool)
        waivers = read_waivers(files.waivers)
        found = proposals(lock, read_offers(files, lock["pins"]["os"]), lambda pins: check(pins, today, waivers))
        return write_proposals(files, lock, found, place)
