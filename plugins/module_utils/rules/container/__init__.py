# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Containers: what they asked for, which devices and libraries of the host they got, and whether each way of asking starts one.

What says why stands before what says only that, so that a finding's first cause is the narrow one.
"""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.rules.container import asked, devices, libraries, limits, starts

__all__ = ["asked", "devices", "libraries", "limits", "starts"]
