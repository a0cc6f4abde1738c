# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Action twin of plugins/modules/base_root.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import base, repository
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.action import LabAction, Params


class ActionModule(LabAction):
    ARGUMENTS: ClassVar[Params] = {"packages_dir": {"type": "path", "required": True}}

    def apply(self, params: Params) -> dict[str, Any]:
        root, built = base.ensure()
        debs = base.keep_packages(root, Path(params["packages_dir"]))
        return {
            "changed": built,
            "key": root.key,
            "path": str(root.tar),
            "versions": dict(map(repository.name_and_version, debs)),
        }
