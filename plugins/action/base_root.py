# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Action twin of plugins/modules/base_root.py."""

from __future__ import annotations

from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import base, repository
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.action import LabAction, Params


class ActionModule(LabAction):
    def apply(self, params: Params) -> dict[str, Any]:
        root, built = base.ensure()
        debs = sorted(root.debs.glob("*.deb"))
        return {
            "changed": built,
            "key": root.key,
            "path": str(root.tar),
            "packages": [str(deb) for deb in debs],
            "versions": {name: version for name, version in map(repository.name_and_version, debs)},
        }
