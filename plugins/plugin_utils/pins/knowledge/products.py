# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""GPU products: what NVLink they have, which driver they need, where they sit, and their MIG profiles.

Sources, collected 2026-11-30: pci.ids 2026.10.24; NVIDIA's MIG user guide 620 (deployment considerations, supported profiles); fabric manager user
guide; NVIDIA/cloud-native-docs gpu-operator platform support (2026-08-21); NVIDIA developer blog, July 2024 (open modules on Grace Hopper). Which
generation a product is: module_utils.knowledge.driver_branches; its compute capability: architectures; PCI ids: gpus.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MIG_GUIDE = "docs.nvidia.com/datacenter/tesla/mig-user-guide/620, deployment considerations and supported profiles"
FABRIC_GUIDE = "NVIDIA fabric manager user guide; error 802 of CUDA without it"

# Where NVSwitch is: on the baseboard of eight; perhaps (the name does not say whether it is the SXM board); in the rack's switch trays; nowhere.
BOARD, PERHAPS, RACK, NOWHERE, UNKNOWN = "board", "perhaps", "rack", "nowhere", "unknown"
# The smallest count at which a node has the whole baseboard, and with it the switches.
WHOLE_BOARD = 8


class Product(NamedTuple):
    """A product by its name; the first row that matches counts."""

    pattern: str
    switch: str = ""
    nvlsm: bool = False
    grace: bool = False
    driver: str = ""
    confidence: str = "high"


PRODUCTS = (
    Product(r"\bGB10\b|DGX Spark", grace=True, driver="580.65.06", confidence="medium"),
    Product(r"\bGB300\b", RACK, grace=True, driver="580.65.06", confidence="medium"),
    Product(r"\bGB200\b", RACK, grace=True, driver="570.133.20", confidence="medium"),
    Product(r"\bGH200\b|\bGH\d00\b", grace=True),
    Product(r"\bB300\b", BOARD, nvlsm=True, driver="580.65.06", confidence="medium"),
    Product(r"\bB[12]00\b", BOARD, nvlsm=True, driver="570.133.20"),
    Product(r"\bH[128]00L?\b.*(?:PCI-?E\b|\bNVL\b|\bCNX\b)|\bH[18]00L\b|\bH100 CNX\b"),
    Product(r"\bH[18]00\b.*(?:SXM|HBM3|HGX|DGX)|(?:SXM|HGX|DGX).*\bH[18]00\b|\bH200\b|\bH20B?\b", BOARD),
    Product(r"\bH[18]00\b", PERHAPS),
    Product(r"\bA[18]00X?\b.*(?:PCI-?E)|\bA[18]00X\b|\bAX800\b|\bA800 40GB Active\b"),
    Product(r"\bA[18]00\b.*(?:SXM|HGX|DGX)|(?:SXM|HGX|DGX).*\bA[18]00\b", BOARD),
    Product(r"\bA[18]00\b", PERHAPS),
    Product(r"\bV100\b.*\bSXM3\b|DGX-2\b", BOARD),
    Product(r"\b(?:V?R200|VR\d{3}|R100|Rubin)\b", PERHAPS, driver="615.71.09", confidence="low"),
    Product(r"RTX PRO \d{4} Blackwell|RTX PRO \d{4}", driver="575.51.03", confidence="low"),
    Product(r"\bRTX ?50[5-9]0", driver="570.86.15", confidence="medium"),
)

OTHER = Product("")


class MigGpu(NamedTuple):
    """The MIG profiles of a product, for one size of memory; `driver`: the first with MIG on it."""

    pattern: str
    memory: int
    profiles: tuple[str, ...]
    driver: str
    confidence: str = "high"


def _profiles(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_SEVENTHS_80 = _profiles("1g.10gb 1g.10gb+me 1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb")
_SEVENTHS_64 = _profiles("1g.8gb 1g.8gb+me 1g.16gb 2g.16gb 3g.32gb 4g.32gb 7g.64gb")
_SEVENTHS_96 = _profiles("1g.12gb 1g.12gb+me 1g.24gb 2g.24gb 3g.48gb 4g.48gb 7g.96gb")
_SEVENTHS_141 = _profiles("1g.18gb 1g.18gb+me 1g.35gb 2g.35gb 3g.71gb 4g.71gb 7g.141gb")

MIG_GPUS = (
    MigGpu(r"\bA30X?\b", 24, _profiles("1g.6gb 1g.6gb+me 2g.12gb 2g.12gb+me 4g.24gb"), "460.73.01"),
    MigGpu(r"\bA[18]00\b", 40, _profiles("1g.5gb 1g.5gb+me 1g.10gb 2g.10gb 3g.20gb 4g.20gb 7g.40gb"), "450.80.02"),
    MigGpu(r"\bA100\b", 64, _SEVENTHS_64, "450.80.02"),
    MigGpu(r"\bA[18]00X?\b", 80, _SEVENTHS_80, "450.80.02"),
    MigGpu(r"\bGH200\b", 96, _SEVENTHS_96, "535.54.03", "medium"),
    MigGpu(r"\bGH200\b", 144, _profiles("1g.18gb 1g.18gb+me 1g.36gb 2g.36gb 3g.72gb 4g.72gb 7g.144gb"), "550.54.14", "medium"),
    MigGpu(r"\bH100\b", 64, _SEVENTHS_64, "525.85.12"),
    MigGpu(r"\bH[18]00\b", 80, _SEVENTHS_80, "525.85.12"),
    MigGpu(r"\bH[18]00L?\b", 94, _profiles("1g.12gb 1g.12gb+me 1g.24gb 2g.24gb 3g.47gb 4g.47gb 7g.94gb"), "525.85.12"),
    MigGpu(r"\bH100\b", 96, _SEVENTHS_96, "525.85.12"),
    MigGpu(r"\bH200\b", 141, _SEVENTHS_141, "550.90.07"),
    MigGpu(r"\bH20B?\b", 96, _SEVENTHS_96, "535.161.07"),
    MigGpu(r"\bH20B?\b", 141, _SEVENTHS_141, "535.161.07", "medium"),
    MigGpu(r"\bB200\b", 180, _profiles("1g.23gb 1g.23gb+me 1g.45gb 2g.45gb 3g.90gb 4g.90gb 7g.180gb"), "570.133.20"),
    MigGpu(r"\bB300\b", 269, _profiles("1g.34gb 1g.34gb+me 1g.67gb 2g.67gb 3g.135gb 4g.135gb 7g.269gb"), "580.82.07", "medium"),
    MigGpu(r"\bGB200\b", 186, _profiles("1g.23gb 1g.23gb+me 1g.47gb 2g.47gb 3g.93gb 4g.93gb 7g.186gb"), "570.133.20", "low"),
    MigGpu(r"\bGB300\b", 278, _profiles("1g.35gb 1g.35gb+me 1g.70gb 2g.70gb 3g.139gb 4g.139gb 7g.278gb"), "580.82.07", "low"),
    MigGpu(
        r"\bRTX PRO 6000\b",
        96,
        _profiles("1g.24gb 1g.24gb+me 1g.24gb+gfx 1g.24gb+me.all 1g.24gb-me 2g.48gb 2g.48gb+gfx 2g.48gb+me.all 2g.48gb-me 4g.96gb 4g.96gb+gfx"),
        "575.51.03",
        "medium",
    ),
    MigGpu(r"\bRTX PRO 5000\b", 48, _profiles("1g.12gb 1g.24gb 2g.48gb"), "575.57.08", "low"),
    MigGpu(r"\bRTX PRO 4500\b", 32, _profiles("1g.16gb 2g.32gb"), "575.64", "low"),
)
# Generations in which a GPU without a row has no MIG for sure; a newer one may have what this table lacks.
NO_MIG = frozenset({"Kepler", "Maxwell", "Pascal", "Volta", "Turing", "Ampere", "Ada"})


def product(words: str) -> Product:
    """The row of a product's name; one without peculiarities has none and gets an empty one."""
    return next((one for one in PRODUCTS if re.search(one.pattern, words, re.I)), OTHER)


def mig_gpus(words: str) -> list[MigGpu]:
    """The MIG rows of a product's name: several where the name does not tell the memory."""
    rows = [one for one in MIG_GPUS if re.search(one.pattern, words, re.I)]
    memory = re.search(r"(\d{2,3}) ?GB?\b", words, re.I)
    exact = [one for one in rows if memory and abs(one.memory - int(memory.group(1))) <= one.memory // 10]
    return exact or rows
