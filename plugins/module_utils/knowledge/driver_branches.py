# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""GPU architectures against driver branches and kinds of kernel module.

Sources, collected 2026-11-30: NVIDIA's CUDA toolkit, driver and architecture matrix (last branches); data centre driver installation guide 590 to
620 (kinds of module; 590 drops Maxwell, Pascal and Volta; 620 has open modules only); NVIDIA's UNIX driver page (legacy branches 390, 470, 580);
first branches from release notes. Device ids: pci.ids 2026.10.24, whose ids come in blocks by generation.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Architecture(NamedTuple):
    """The branches that serve a generation (`last` None: still served), and the kinds of kernel module that do."""

    name: str
    first: int
    last: int | None
    modules: tuple[str, ...]


PROPRIETARY = ("proprietary",)
BOTH = ("open", "proprietary")
OPEN = ("open",)

ARCHITECTURES = {
    one.name: one
    for one in (
        Architecture("Fermi", 256, 390, PROPRIETARY),
        Architecture("Kepler", 304, 470, PROPRIETARY),
        Architecture("Maxwell", 331, 580, PROPRIETARY),
        Architecture("Pascal", 367, 580, PROPRIETARY),
        Architecture("Volta", 384, 580, PROPRIETARY),
        Architecture("Turing", 410, None, BOTH),
        Architecture("Ampere", 450, None, BOTH),
        Architecture("Hopper", 520, None, BOTH),
        Architecture("Ada", 520, None, BOTH),
        Architecture("Blackwell", 570, None, OPEN),
        Architecture("Rubin", 615, None, OPEN),
    )
}

# First device id of each block of vendor 10de -> generation; a block ends where the next begins.
_BLOCKS = (
    (0x0000, None),
    (0x0FC0, "Kepler"),
    (0x1040, "Fermi"),
    (0x1180, "Kepler"),
    (0x1200, "Fermi"),
    (0x1280, "Kepler"),
    (0x1340, "Maxwell"),
    (0x15C2, "Pascal"),
    (0x1613, "Maxwell"),
    (0x1725, "Pascal"),
    (0x174D, "Maxwell"),
    (0x1B00, "Pascal"),
    (0x1D81, "Volta"),
    (0x1E02, "Turing"),
    (0x2080, "Ampere"),
    (0x2182, "Turing"),
    (0x2200, "Ampere"),
    (0x2302, "Hopper"),
    (0x2414, "Ampere"),
    (0x2681, "Ada"),
    (0x2900, "Blackwell"),
    (0x3000, "Rubin"),
    (0x3180, "Blackwell"),
    (0x3500, None),
)

# Product names as nvidia-smi, lspci and people write them; the first that matches counts.
_NAMES = (
    (r"\b(?:V?R200|VR\d{3}|R100)\b|\bGR10\d|Rubin", "Rubin"),
    (r"\bG?B[123]00\b|\bGB\d{3}\b|\bRTX\s?50[5-9]0|\bRTX PRO \d{4}|\bGB10\b|DGX Spark|Blackwell", "Blackwell"),
    (r"\bG?H[128]00\b|\bGH100\b|\bH20\b|Hopper", "Hopper"),
    (r"\bL(?:2|4|20|40S?|40G)\b|\bRTX\s?40[5-9]0|\bRTX [4-6]000 (?:SFF )?Ada|\bAD10\d|\bAda\b", "Ada"),
    (r"\bA(?:2|10[GM]?|16|30X?|40|100X?|800)\b|\bRTX\s?30[5-9]0|\bRTX A\d{4}|\bGA10\d|\bAX800\b|Ampere", "Ampere"),
    (r"\bT(?:4G?|40|10)\b|\bRTX\s?20[6-8]0|\bGTX\s?16[356]0|\bQuadro RTX|\bTITAN RTX|\bTU1\d\d|\bT(?:400|600|1000|1200)\b|Turing", "Turing"),
    (r"\bV100|\bTITAN V\b|\bGV100|Volta", "Volta"),
    (r"\bP(?:4|6|10|40|100)\b|\bGTX\s?10[1-8]0|\bGT\s?10[13]0|\bTITAN X[pP]\b|\bQuadro (?:P|GP)\d|\bMX[123]\d0|\bGP10\d|Pascal", "Pascal"),
    (r"\bM(?:4|6|10|40|60)\b|\bGTX\s?9[5-8]0|\bGTX\s?750|\bQuadro M\d|\bGM[12]\d\d|Maxwell", "Maxwell"),
    (r"\bK(?:10|20|40|80)[mc]?\b|\bGTX\s?[67][0-9]0M?\b|\bGT\s?7[1-4]0|\bQuadro K\d|\bGK[12]\d\d|Kepler", "Kepler"),
)


def of_device(identifier: str) -> Architecture | None:
    """The generation of a PCI device (`10de:1bb3`)."""
    vendor, _, device = identifier.lower().partition(":")
    if vendor != "10de" or not re.fullmatch(r"[0-9a-f]{4}", device):
        return None
    name = [name for start, name in _BLOCKS if start <= int(device, 16)][-1]
    return ARCHITECTURES[name] if name else None


def of_name(words: str) -> Architecture | None:
    """The generation that a product's name tells."""
    return next((ARCHITECTURES[name] for pattern, name in _NAMES if re.search(pattern, words)), None)


def branch(version: str) -> int:
    """`550.163.01` -> 550."""
    return int(version.split(".")[0])
