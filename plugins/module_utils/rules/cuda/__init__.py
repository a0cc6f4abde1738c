# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""CUDA in the container: its user space fits driver and GPU, and every call succeeds with the right numbers by this driver."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.rules.cuda import architectures, compatibility, frameworks, images, processes, results

__all__ = ["architectures", "compatibility", "frameworks", "images", "processes", "results"]
