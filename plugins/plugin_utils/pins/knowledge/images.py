# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""CUDA images and frameworks against driver and GPU; releases of CUDA and capabilities of GPUs are in module_utils.

Sources, collected 2026-11-30: docs.nvidia.com/deploy/cuda-compatibility (minor version and forward compatibility); CUDA 13.x release notes; pytorch
RELEASE.md and pytorch/pytorch #157517, #160269, #172352; NVIDIA Blackwell compatibility guide; docs.vllm.ai (GPU requirements); TensorRT support matrix.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

Numbers = tuple[int, ...]
COMPATIBILITY = "docs.nvidia.com/deploy/cuda-compatibility"
RELEASE_NOTES = "CUDA Toolkit release notes"

# Forward compatibility: CUDA major -> the oldest driver branch that its cuda-compat package accepts below.
FORWARD_BASE = {13: 535, 12: 470}
# A canary below this holds PTX alone, which runs on every later GPU (docs/canary.md): no CUDA image of that age is a canary.
PTX_ONLY_BELOW = (10, 0)


class Framework(NamedTuple):
    """A framework's name, and the first version that has kernels for a compute capability's major number: in its own builds, and in NVIDIA's (NGC)."""

    pattern: str
    first: Mapping[int, Numbers]
    ngc: Mapping[int, Numbers]
    source: str


PYTORCH = "pytorch RELEASE.md; pytorch/pytorch #157517, #160269, #172352; NGC PyTorch 25.01 (torch 2.6 with CUDA 12.8)"
_TORCH = {8: (1, 7), 9: (1, 13), 10: (2, 7), 12: (2, 7)}
FRAMEWORKS = (Framework(r"(?:py)?torch", _TORCH, {**_TORCH, 10: (2, 6), 12: (2, 6)}, PYTORCH),)


class Dropped(NamedTuple):
    """From `since` of a framework up to, not including, `until` (built with CUDA `cuda` or later) no kernels below a compute capability."""

    pattern: str
    since: Numbers
    until: Numbers
    cuda: tuple[int, int]
    capability: tuple[int, int]
    last: str
    source: str


_EVER = (9999,)
DROPPED = (
    Dropped(r"(?:py)?torch", (2, 7), (2, 8), (12, 8), (7, 5), "its wheels of CUDA 12.6 have them", PYTORCH),
    Dropped(r"(?:py)?torch", (2, 8), _EVER, (12, 8), (7, 0), "its wheels of CUDA 12.6 have them", PYTORCH),
    Dropped(r"(?:py)?torch", (2, 11), _EVER, (12, 8), (7, 5), "its wheels of CUDA 12.6 have them", PYTORCH),
    Dropped(r"vllm", (0,), _EVER, (0, 0), (7, 0), "vLLM never had them", "docs.vllm.ai, GPU requirements"),
    Dropped(r"tensorrt(?![-_ ]?llm)", (10, 5), _EVER, (0, 0), (7, 5), "TensorRT 10.4 is the last", "TensorRT support matrix"),
)
# Compute capabilities of which nothing was seen but announcements: nothing is refused for their sake. Rubin: CUTLASS 4.8 and cuDNN 9.25 notes.
UNSEEN = frozenset({(10, 7)})
