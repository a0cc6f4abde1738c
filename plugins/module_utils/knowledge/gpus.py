# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""NVIDIA's data centre GPUs and switches by PCI device id.

Source: pci.ids 2026.10.24 (Debian sid, package pci.ids), entries with a product name, Pascal and later; collected 2026-11-30.
"""

from __future__ import annotations

import re

# device id of vendor 10de -> product
PRODUCTS = {
    "15f7": "Tesla P100 PCIe 12GB",
    "15f8": "Tesla P100 PCIe 16GB",
    "15f9": "Tesla P100 SXM2 16GB",
    "15fc": "Tesla P100-DGXS-16GB",
    "1b38": "Tesla P40",
    "1b39": "Tesla P10",
    "1bb3": "Tesla P4",
    "1bb4": "Tesla P6",
    "1db1": "Tesla V100 SXM2 16GB",
    "1db2": "Tesla V100 DGXS 16GB",
    "1db3": "Tesla V100 FHHL 16GB",
    "1db4": "Tesla V100 PCIe 16GB",
    "1db5": "Tesla V100 SXM2 32GB",
    "1db6": "Tesla V100 PCIe 32GB",
    "1db7": "Tesla V100 DGXS 32GB",
    "1db8": "Tesla V100 SXM3 32GB",
    "1dbd": "Tesla GV100 DGX1-V",
    "1df5": "Tesla V100 SXM2 16GB",
    "1df6": "Tesla V100S PCIe 32GB",
    "1e35": "Tesla T10",
    "1e37": "Tesla T10 16GB / GRID RTX T10-2/T10-4/T10-8",
    "1e38": "Tesla T40 24GB",
    "1eb8": "Tesla T4",
    "20b0": "A100 SXM4 40GB",
    "20b1": "A100 PCIe 40GB",
    "20b2": "A100 SXM4 80GB",
    "20b3": "A100-SXM-64GB",
    "20b5": "A100 PCIe 80GB",
    "20b7": "A30 PCIe",
    "20b8": "A100X",
    "20b9": "A30X",
    "20bd": "A800 SXM4 40GB",
    "20be": "GRID A100A",
    "20bf": "GRID A100B",
    "20f1": "A100 PCIe 40GB",
    "20f3": "A800-SXM4-80GB",
    "20f5": "A800 80GB PCIe",
    "20f6": "A800 40GB PCIe",
    "20fd": "AX800 Converged Accelerator",
    "2235": "A40",
    "2236": "A10",
    "2237": "A10G",
    "2238": "A10M",
    "230c": "H20 NVL16",
    "230e": "H20 NVL16",
    "2313": "H100 CNX",
    "2321": "H100L 94GB",
    "2322": "H800 PCIe",
    "2324": "H800",
    "2328": "H20B",
    "2329": "H20",
    "232c": "H20 HBM3e",
    "2330": "H100 SXM5 80GB",
    "2331": "H100 PCIe",
    "2335": "H200 SXM 141GB",
    "2336": "H100",
    "2337": "H100 SXM5 64GB",
    "2338": "H100 SXM5 96GB",
    "2339": "H100 SXM5 94GB",
    "233a": "H800L 94GB",
    "233b": "H200 NVL",
    "233d": "H100 96GB",
    "2342": "GH200 120GB / 480GB",
    "2348": "GH200 144G HBM3e",
    "237e": "H100 GH3",
    "25b6": "A2 / A16",
    "26b5": "L40",
    "26b7": "L20",
    "26b8": "L40G",
    "26b9": "L40S",
    "26ba": "L20",
    "26f5": "L40 CNX",
    "27b6": "L2",
    "27b8": "L4",
    "2901": "B200",
    "2909": "HGX B200 168GB",
    "290a": "B200",
    "2920": "TS4 / B100",
    "2941": "HGX GB200",
    "29bc": "B100",
    "2bb5": "RTX PRO 6000 Blackwell Server Edition",
    "2c3a": "RTX PRO 4500 Blackwell Server Edition",
    "3182": "B300 SXM6 AC",
    "31a1": "GB300 MaxQ",
    "31c2": "GB300",
    "31c3": "GB300-252",
}

# NVSwitch on the PCI bus (Hopper and older; later ones show as InfiniBand devices). Same source.
NVSWITCHES = frozenset({"10de:1af1", "10de:22a3"})


def is_model(model: str, identifier: str, name: str) -> bool:
    """Whether a PCI device is of a pinned model: its id (`10de:2236`), or a product name or family found as whole words (`A10` is not `A100`)."""
    if re.fullmatch(r"[0-9a-f]{4}:[0-9a-f]{4}", model, re.I):
        return identifier == model.lower()
    product = f"{PRODUCTS.get(identifier.split(':')[-1], '')} {name}"
    return bool(re.search(rf"(?<!\w){re.escape(model)}(?!\w)", product, re.I))


def product(identifier: str, name: str) -> str:
    """What to call a PCI device in a report."""
    return PRODUCTS.get(identifier.split(":")[-1]) or name or identifier
