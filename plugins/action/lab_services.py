# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Action twin of plugins/modules/lab_services.py."""

from __future__ import annotations

from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import services
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.action import STATE_DIR, LabAction, Params


class ActionModule(LabAction):
    ARGUMENTS = STATE_DIR

    def apply(self, params: Params) -> dict[str, Any]:
        started = services.ensure(self.lab(params))
        return {"changed": bool(started), "started": started}
