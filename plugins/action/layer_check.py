# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Runs a `<layer>_check` module with the inventory's `goldnode_probe_args`, which a module on the node cannot see.

All ten names lead here (meta/runtime.yml).
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    """See the documentation of each check module."""

    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        arguments = dict(self._task.args)
        arguments.setdefault("probe_args", self._templar.template((task_vars or {}).get("goldnode_probe_args") or []))
        return {**result, **self._execute_module(module_args=arguments, task_vars=task_vars)}
