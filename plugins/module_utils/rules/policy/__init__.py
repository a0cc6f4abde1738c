# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Policy: control groups, SELinux, AppArmor and limits, which can deny what all other layers allow."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.rules.policy import cgroups, limits, security_modules

__all__ = ["cgroups", "limits", "security_modules"]
