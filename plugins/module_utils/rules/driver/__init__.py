# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Driver: kind and branch for the GPUs, module and user space, firmware, vGPU, services, and CUDA on the host. What names a cause stands before what
only shows that something is broken.
"""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.rules.driver import fit, vgpu, versions, module, firmware, fabric, mig, serving  # isort: skip

__all__ = ["fabric", "firmware", "fit", "mig", "module", "serving", "versions", "vgpu"]
