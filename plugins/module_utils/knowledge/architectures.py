# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""GPUs, their compute capability, and which CUDA releases and PyTorch wheels have code for them.

Sources, collected 2026-11-30: CUDA 13.x release notes (deprecated architectures); NVIDIA's supported drivers and architectures; products
from developer.nvidia.com/cuda-gpus; wheels from pytorch RELEASE.md and pytorch/pytorch #157517, #172352, #190385.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Architecture(NamedTuple):
    """A compute capability with the first and the last CUDA major.minor whose tools know it; `last` None: still."""

    name: str
    first: str
    last: str | None


# compute capability -> architecture
ARCHITECTURES = {
    (3, 0): Architecture("Kepler", "6.0", "10.2"),
    (3, 5): Architecture("Kepler", "6.0", "11.8"),
    (3, 7): Architecture("Kepler", "6.5", "11.8"),
    (5, 0): Architecture("Maxwell", "6.5", "12.9"),
    (5, 2): Architecture("Maxwell", "6.5", "12.9"),
    (5, 3): Architecture("Maxwell", "6.5", "12.9"),
    (6, 0): Architecture("Pascal", "8.0", "12.9"),
    (6, 1): Architecture("Pascal", "8.0", "12.9"),
    (6, 2): Architecture("Pascal", "8.0", "12.9"),
    (7, 0): Architecture("Volta", "9.0", "12.9"),
    (7, 2): Architecture("Volta", "9.2", "12.9"),
    (7, 5): Architecture("Turing", "10.0", None),
    (8, 0): Architecture("Ampere", "11.0", None),
    (8, 6): Architecture("Ampere", "11.1", None),
    (8, 7): Architecture("Ampere", "11.4", None),
    (8, 9): Architecture("Ada", "11.8", None),
    (9, 0): Architecture("Hopper", "11.8", None),
    (10, 0): Architecture("Blackwell", "12.8", None),
    (10, 3): Architecture("Blackwell", "12.9", None),
    (10, 7): Architecture("Rubin", "13.4", None),  # CUTLASS 4.8 and cuDNN 9.25 notes, 2026-08
    (11, 0): Architecture("Blackwell", "13.0", None),
    (12, 0): Architecture("Blackwell", "12.8", None),
    (12, 1): Architecture("Blackwell", "12.9", None),
}

# A product's name -> compute capability; the first that matches.
PRODUCTS = (
    (r"\b(?:V?R200|VR\d{3}|R100)\b|Rubin", (10, 7)),
    (r"\bG?B300\b", (10, 3)),
    (r"\bG?B[12]00\b", (10, 0)),
    (r"\bGB10\b|DGX Spark", (12, 1)),
    (r"\bRTX ?50[5-9]0|\bRTX PRO \d{4}(?: Blackwell)?", (12, 0)),
    (r"\bThor\b", (11, 0)),
    (r"\bG?H[128]00\b|\bH20\b", (9, 0)),
    (r"\bL(?:2|4|20|40S?|40G)\b|\bRTX ?40[5-9]0|\bRTX \d{4} Ada|\bRTX 6000 Ada", (8, 9)),
    (r"\bOrin\b", (8, 7)),
    (r"\bA[18]00\b|\bA30X?\b", (8, 0)),
    (r"\bA(?:2|10G?|16|40)\b|\bRTX ?30[5-9]0|\bRTX A\d{4}", (8, 6)),
    (r"\bXavier\b", (7, 2)),
    (r"\bT(?:4G?|40|10)\b|\bRTX ?20[5-8]0|\bGTX ?16[0-9]0|\bTITAN RTX|\bQuadro RTX|\bT(?:400|600|1000|1200)\b", (7, 5)),
    (r"\bV100S?\b|\bTITAN V\b|\bGV100\b", (7, 0)),
    (r"\bP100\b|\bGP100\b", (6, 0)),
    (r"\bTX2\b", (6, 2)),
    (r"\bP(?:4|6|40)\b|\bGTX ?10[1-8]0|\bTITAN Xp?\b|\bQuadro P\d{3,4}|\bGT ?1030", (6, 1)),
    (r"\bJetson Nano\b|\bTX1\b|\bTegra X1\b", (5, 3)),
    (r"\bM(?:4|6|40|60)\b|\bGTX ?9[5-8]0|\bTITAN X\b|\bQuadro M[2456]\d{3}", (5, 2)),
    (r"\bM10\b|\bGTX ?7[45]0|\bQuadro [KM]\d{3,4}\b|\bGT ?730", (5, 0)),
    (r"\bK80\b", (3, 7)),
    (r"\bK(?:20|40)[mcsx]?\b|\bGTX ?780|\bGTX TITAN\b", (3, 5)),
)

# PyTorch's wheels of CUDA 12.8 and later have no code below this; those of 12.6 were the last for Maxwell, Pascal and Volta (cu126).
WHEELS_OLDEST = (7, 5)
LAST_WHEEL_FOR_OLD = "cu126"
# The first PyTorch with Blackwell kernels in its wheels.
BLACKWELL_TORCH = "2.7"

# The cards on which forward compatibility (cuda-compat) works: data centre GPUs, NGC-ready RTX boards, Jetson. Not these (804).
CONSUMER = r"\bGeForce\b|\bGTX\b|\bTITAN\b|\bRTX ?[2-5]0[5-9]0\b"


def capability(name: str) -> tuple[int, int] | None:
    """The compute capability of a product by its name; None for one that is not in our table."""
    return next((found for pattern, found in PRODUCTS if re.search(pattern, name, re.I)), None)


def compiled_for(text: str) -> tuple[int, int] | None:
    """`sm_120`, `compute_90a`, `12.0` -> compute capability."""
    match = re.search(r"(?:sm|compute)_(\d+?)(\d)[af]?\b", text)
    if match:
        return int(match.group(1)), int(match.group(2))
    dotted = re.search(r"(\d{1,2})\.(\d)\b", text)
    return (int(dotted.group(1)), int(dotted.group(2))) if dotted else None


def target(found: tuple[int, int]) -> str:
    """(12, 0) -> `sm_120`."""
    return f"sm_{found[0]}{found[1]}"


def described(found: tuple[int, int]) -> str:
    """(12, 0) -> `compute capability 12.0 (sm_120, Blackwell)`."""
    known = ARCHITECTURES.get(found)
    return f"compute capability {found[0]}.{found[1]} ({target(found)}{', ' + known.name if known else ''})"
