# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Action twin of the module package_sources_info: keys are checked on the controller, a node may lack gpg."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import check_lock
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.node_files import node_files, sources_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.sources import make_repositories

ARGUMENTS = {
    "repositories": {"type": "list", "elements": "dict", "required": True},
    "trust": {"type": "dict", "required": True},
    "stack": {"type": "dict", "required": True},
}


class ActionModule(ActionBase):
    """Runs on the controller and never connects to the host of its task."""

    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        _, arguments = self.validate_argument_spec(ARGUMENTS)
        try:
            repositories = make_repositories(arguments["repositories"], arguments["trust"], "package_sources_repositories", "package_sources_trust")
            stack = check_lock(arguments["stack"], "goldnode_stack")
            files, sources = node_files(repositories, stack), sources_of(stack)
        except LockError as error:
            raise AnsibleActionFail(str(error)) from None
        return {
            "changed": False,
            "files": [{"path": path, "content": files[path]} for path in sorted(files)],
            "folders": list(sources.folders),
            "patterns": list(sources.patterns),
            "refresh": sources.refresh(repositories),
        }
