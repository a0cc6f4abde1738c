# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The versions that the rules of CUDA compare: what the driver can do, what the image is made for, what the GPUs are."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge import architectures, cuda_releases
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts


def driver_cuda(facts: Facts) -> tuple[int, int] | None:
    """The newest CUDA that the host's driver can do."""
    said = cuda_releases.release(str(facts.nvidia_smi_cuda)) if facts.nvidia_smi_cuda else None
    return said or (cuda_releases.cuda_of(str(facts.driver_version)) if facts.driver_version else None)


def image_cuda(facts: Facts) -> tuple[int, int] | None:
    """The CUDA release that the container image or its framework is made for."""
    return cuda_releases.release(str(facts.image_cuda_version)) if facts.image_cuda_version else None


def compute_capabilities(facts: Facts) -> list[tuple[int, int]]:
    """The compute capability of each kind of GPU whose name is known."""
    found = (architectures.capability(name) for name in facts.gpu_names or ())
    return sorted({capability for capability in found if capability})
