# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Controller side of `simulated_packages`; its documentation is `plugins/modules/simulated_packages.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.goldnode.gpu.plugins.plugin_utils.simulated_gpu import build, catalogue, deb


class ActionModule(ActionBase):
    """Builds the stand-in packages of the lab where they are not yet built from these sources."""

    _requires_connection = False
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Validate, build, list."""
        super().run(tmp, task_vars)
        spec = {"sources": {"type": "path", "required": True}, "path": {"type": "path", "required": True}}
        _, arguments = self.validate_argument_spec(argument_spec=spec)
        target = Path(arguments["path"])
        try:
            changed = build.present(Path(arguments["sources"]), target, check=self._task.check_mode)
        except (deb.BuildError, catalogue.CatalogueError, OSError) as error:
            raise AnsibleActionFail(f"the stand-in packages could not be built: {error}") from error
        return {"changed": changed, "path": str(target), "packages": build.listed(target)}
