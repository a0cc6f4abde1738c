# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Fabric manager, NVLink subnet manager and IMEX: where NVSwitch is, and at which version."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.knowledge.products import BOARD, FABRIC_GUIDE, NOWHERE, PERHAPS, RACK, WHOLE_BOARD
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.model import NOTE, REFUSAL, WARNING, Found, rule
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.view import Gpu, PinSet

ANY_NVLSM = "2*"  # its versions are dates (2025.10.8); which one fits which driver is nowhere listed


def _on_board(pins: PinSet, *kinds: str) -> Gpu | None:
    """A GPU of which a node has a whole baseboard."""
    return next((gpu for gpu in pins.gpus if gpu.switch in kinds and gpu.count >= WHOLE_BOARD), None)


def _none_has_switches(pins: PinSet) -> bool:
    """Whether every GPU is of a product that never sits behind NVSwitch."""
    return bool(pins.gpus) and all(gpu.switch == NOWHERE for gpu in pins.gpus)


def _names(pins: PinSet) -> str:
    return ", ".join(f"{gpu.count} x {gpu}" for gpu in pins.gpus)


@rule(
    "fabric_manager_missing",
    severity=REFUSAL,
    why="On boards with NVSwitch the fabric manager sets up the switches; without it CUDA says system not yet initialized (802).",
    fix="Pin fabric_manager at the driver's version.",
    source=FABRIC_GUIDE,
)
def fabric_manager_is_there(pins: PinSet) -> Iterator[Found]:
    """A node with NVSwitch has the fabric manager"""
    gpu = _on_board(pins, BOARD, PERHAPS)
    if gpu is None or "fabric_manager" in pins.pins:
        return
    change = {"fabric_manager.version": pins.driver.text}
    if gpu.switch == BOARD:
        yield Found(f"{gpu.count} x {gpu} sit behind NVSwitch, and no fabric_manager is pinned: CUDA fails with 802", "fabric_manager", changes=(change,))
    elif gpu.architecture is None or gpu.architecture.name != "Rubin":
        reason = (
            f"{gpu.count} x {gpu} are SXM boards behind NVSwitch or PCIe cards, which the name does not tell; on the former CUDA fails "
            f"with 802 without fabric_manager"
        )
        changes = (change, {f"{gpu.place}.model": f"{gpu.model} PCIe"})
        yield Found(reason, "fabric_manager", severity=WARNING, changes=changes, advice="write the whole name of the product")


@rule(
    "fabric_manager_version",
    severity=REFUSAL,
    why="Fabric manager and IMEX speak to the driver by a protocol of their own: another version, even of the same branch, does not "
    "start, and CUDA fails with 802.",
    fix="Pin them at the driver's version, and move them together.",
    source=FABRIC_GUIDE,
)
def companions_have_the_drivers_version(pins: PinSet) -> Iterator[Found]:
    """Fabric manager and IMEX have the driver's version"""
    for subject in ("fabric_manager", "imex"):
        other = pins.pinned(subject)
        if other is not None and other.numbers != pins.driver.numbers:
            reason = f"{subject} is {other} and the driver {pins.driver}: they must be the same release"
            yield Found(reason, f"{subject}.version", changes=({f"{subject}.version": pins.driver.text},))


@rule(
    "nvlsm_missing",
    severity=REFUSAL,
    why="On HGX B200 and B300 the switches are InfiniBand devices, which the subnet manager nvlsm must bring up before the fabric manager.",
    fix="Pin nvlsm, with the module ib_umad loaded.",
    source="NVIDIA fabric manager user guide; spectrocloud/CanvOS #700",
)
def nvlsm_is_there(pins: PinSet) -> Iterator[Found]:
    """A board of Blackwell has the NVLink subnet manager"""
    gpu = _on_board(pins, BOARD)
    if gpu and gpu.product.nvlsm and "nvlsm" not in pins.pins:
        reason = f"{gpu.count} x {gpu} have NVLink 5 switches, and no nvlsm is pinned: the fabric manager does not start without it"
        yield Found(reason, "nvlsm", changes=({"nvlsm.version": ANY_NVLSM},), advice="nvlsm has versions of its own: write the one of your repository")


@rule(
    "fabric_manager_unused",
    severity=WARNING,
    why="Without NVSwitch the fabric manager's service fails at each boot, and a node that is fine looks broken.",
    fix="Take fabric_manager (and nvlsm) out of the pins.",
    source=FABRIC_GUIDE,
)
def fabric_manager_has_switches(pins: PinSet) -> Iterator[Found]:
    """Fabric manager and subnet manager are pinned where NVSwitch is"""
    for subject in ("fabric_manager", "nvlsm"):
        if subject in pins.pins and _none_has_switches(pins):
            yield Found(f"{subject} is pinned, and {_names(pins)} have no NVSwitch: its service fails at each boot", subject, changes=({subject: None},))
    if "nvlsm" in pins.pins and not _none_has_switches(pins) and not any(gpu.product.nvlsm or gpu.switch == RACK for gpu in pins.gpus):
        yield Found(f"nvlsm is pinned, and {_names(pins)} have no NVLink 5 switches, which alone need it", "nvlsm", severity=NOTE)
    if "fabric_manager" in pins.pins and pins.gpus and all(gpu.switch == RACK for gpu in pins.gpus):
        yield Found(
            f"fabric_manager is pinned, and the switches of {_names(pins)} are in trays of the rack, where theirs runs", "fabric_manager", severity=NOTE
        )


@rule(
    "fabric_manager_beside_doca",
    severity=WARNING,
    why="On SLES 16 the modules of DOCA OFED bring an ib_core of their own, with which the fabric manager may not start.",
    fix="Leave DOCA OFED out, or try the fabric manager on a canary first.",
    source="docs.nvidia.com/cuda/archive/13.2.1, known issues",
)
def fabric_manager_without_doca(pins: PinSet) -> Iterator[Found]:
    """On SLES 16 the fabric manager has no DOCA OFED beside it"""
    for index, module in enumerate(pins.pins.get("extra_modules", [])):
        if pins.family == "sles" and pins.archive_release == "16" and "fabric_manager" in pins.pins and re.search(r"ofed|doca|mlnx", module["name"], re.I):
            place = f"extra_modules[{index}]"
            yield Found(f"{module['name']} beside the fabric manager on {pins.system}: it may not start (ib_core)", place, changes=({place: None},))


@rule(
    "imex_missing",
    severity=WARNING,
    why="In a rack of Grace Blackwell the trays share memory over NVLink by nvidia-imex; without it each tray is alone.",
    fix="Pin imex at the driver's version.",
    source="NVIDIA IMEX guide; gpu_operator platform support",
)
def imex_is_there(pins: PinSet) -> Iterator[Found]:
    """A tray of a Grace Blackwell rack has IMEX"""
    for gpu in pins.gpus:
        alone = "NVL4" in gpu.words.split() or gpu.count < 2
        if gpu.switch == RACK and not alone and "imex" not in pins.pins:
            reason = f"{gpu.count} x {gpu} are a tray of a rack, and no imex is pinned: NVLink to other trays does not work"
            yield Found(reason, gpu.place, changes=({"imex.version": pins.driver.text},))


@rule(
    "imex_unused",
    severity=NOTE,
    why="IMEX serves NVLink between nodes, which only racks of Grace superchips have.",
    fix="Take imex out of the pins.",
    source="NVIDIA IMEX guide",
)
def imex_has_a_rack(pins: PinSet) -> Iterator[Found]:
    """IMEX is pinned where NVLink goes between nodes"""
    if "imex" in pins.pins and pins.gpus and not any(gpu.switch == RACK or gpu.product.grace for gpu in pins.gpus):
        yield Found(f"imex is pinned, and {_names(pins)} have no NVLink between nodes", "imex")
