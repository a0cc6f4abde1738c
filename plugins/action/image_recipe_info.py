# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Action twin of the module image_recipe_info: the recipe is this collection, on the controller."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.goldnode.gpu.plugins.plugin_utils.image_recipe import build_key, recipe_digest, settings_of, source_of

ARGUMENTS = {"base": "path", "lock_digest": "str", "host": "str"}
COLLECTION = Path(__file__).resolve().parents[2]


class ActionModule(ActionBase):
    """Runs on the controller and never connects to the host of its task."""

    _requires_connection = False
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        _, arguments = self.validate_argument_spec({name: {"type": kind, "required": True} for name, kind in ARGUMENTS.items()})
        variables = (task_vars or {})["hostvars"][arguments["host"]]
        settings = {name: variables[name] for name in settings_of(variables)}
        try:
            recipe = recipe_digest(COLLECTION, Path(arguments["base"]), settings)
        except FileNotFoundError as error:
            raise AnsibleActionFail(
                f"{error.filename} is not there; image_build_base names the tar of the base root (in the lab create_lab makes it)"
            ) from error
        return {
            "changed": False,
            "lock_digest": arguments["lock_digest"],
            "recipe_digest": recipe,
            "key": build_key(arguments["lock_digest"], recipe),
            "source": source_of(COLLECTION),
        }
