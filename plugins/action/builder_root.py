# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Action twin of the module builder_root. An action, because the builder belongs to the ansible-playbook process, the parent of this one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.goldnode.gpu.plugins.plugin_utils.builder_root import Builder, BuilderError

ARGUMENTS = {
    "pool": {"type": "str", "required": True},
    "state_dir": {"type": "path", "required": True},
    "state": {"type": "str", "choices": ["mounted", "unpacked", "unmounted", "packed", "absent"], "required": True},
    "source": {"type": "path"},
    "newest": {"type": "int"},
}


class ActionModule(ActionBase):
    """Runs on the controller and never connects to the host of its task."""

    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        _, arguments = self.validate_argument_spec(
            ARGUMENTS, required_if=[("state", "mounted", ["source"]), ("state", "unpacked", ["source"]), ("state", "packed", ["newest"])]
        )
        if os.geteuid() != 0:
            raise AnsibleActionFail("a root file system is unpacked with its owners and mounted, which only root can; run this as root")
        builder = Builder(Path(arguments["state_dir"]) / "builders", arguments["pool"])
        try:
            return {"changed": True, "root": str(builder.root), **_STATES[arguments["state"]](builder, arguments)}
        except BuilderError as error:
            raise AnsibleActionFail(str(error)) from error


def _unpacked(builder: Builder, arguments: dict[str, Any]) -> dict[str, Any]:
    builder.claim(os.getppid())
    return {"newest": builder.unpack(Path(arguments["source"]))}


def _mounted(builder: Builder, arguments: dict[str, Any]) -> dict[str, Any]:
    returned = _unpacked(builder, arguments)
    builder.mount()
    return returned


def _unmounted(builder: Builder, arguments: dict[str, Any]) -> dict[str, Any]:
    builder.unmount()
    return {}


def _packed(builder: Builder, arguments: dict[str, Any]) -> dict[str, Any]:
    target = builder.home / "image.tar.zst"
    builder.pack(target, arguments["newest"])
    return {"path": str(target)}


def _absent(builder: Builder, arguments: dict[str, Any]) -> dict[str, Any]:
    there = builder.home.exists()
    builder.disclaim(os.getppid())
    return {"changed": there and not builder.home.exists()}


_STATES = {"unpacked": _unpacked, "mounted": _mounted, "unmounted": _unmounted, "packed": _packed, "absent": _absent}
