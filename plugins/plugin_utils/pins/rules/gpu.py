# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""GPUs against the driver, the kind of its module, and the machine."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.driver_branches import Architecture
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.candidates import at_least, on_branch, other_drivers
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.knowledge import drivers
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.knowledge.products import BOARD, RACK, WHOLE_BOARD
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.model import NOTE, REFUSAL, WARNING, Change, Found, by_confidence, rule
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.rules.kernel import for_architecture
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.view import Gpu, PinSet

DRIVER = "nvidia_driver.version"
MODULES = "nvidia_driver.modules"
MATRIX = "NVIDIA CUDA toolkit, driver and architecture matrix"
# The first branch with open modules, and the first without proprietary ones.
OPEN_SINCE, OPEN_ONLY_SINCE = 515, 620
# Generations of which nothing was seen but announcements: nothing is refused for their sake.
UNSEEN = frozenset({"Rubin"})
# More GPUs than a node was ever sold with.
MANY = 16


def _without(gpu: Gpu) -> Change:
    return {gpu.place: None}


def _serving(pins: PinSet, architecture: Architecture) -> tuple[Change, ...]:
    """Drivers that serve a generation, with modules of a kind that does."""
    kind = pins.modules if pins.modules in architecture.modules else architecture.modules[0]
    other = {} if kind == pins.modules else {MODULES: kind}
    return tuple({**change, **other} for change in other_drivers(pins, on_branch(architecture.first, architecture.last)))


@rule(
    "gpu_known",
    severity=NOTE,
    why="What is not known of a GPU is not judged: neither its driver nor its CUDA.",
    fix="Write the product's name as nvidia-smi -L prints it, or its PCI id (10de:26b9).",
    source="pci.ids 2026.10.24",
)
def gpu_is_known(pins: PinSet) -> Iterator[Found]:
    """The GPU's model is known"""
    for gpu in pins.gpus:
        if gpu.architecture is None:
            yield Found(f"no GPU is known by the name {gpu}: nothing about it was judged", f"{gpu.place}.model")


@rule(
    "gpu_driver_branch",
    severity=REFUSAL,
    why="A driver branch serves some generations of GPUs: 580 is the last for Maxwell, Pascal and Volta, 470 for Kepler; 570 is the "
    "first for Blackwell, 615 for Rubin. "
    "Another branch loads and finds no device.",
    fix="Take a branch that serves every GPU of the pool, or divide the pool.",
    source=MATRIX,
)
def driver_serves_gpu(pins: PinSet) -> Iterator[Found]:
    """The driver's branch serves the GPU's generation"""
    for gpu in pins.gpus:
        one = gpu.architecture
        if one is None or one.first <= pins.branch <= (one.last or pins.branch):
            continue
        words = f"{one.last} is the last branch for it" if one.last and pins.branch > one.last else f"{one.first} is the first branch for it"
        reason = f"driver {pins.driver} does not serve {gpu} ({one.name}): {words}"
        severity = WARNING if one.name in UNSEEN else REFUSAL
        yield Found(reason, gpu.place, severity=severity, changes=(*_serving(pins, one), _without(gpu)))


@rule(
    "gpu_driver_release",
    severity=REFUSAL,
    why="A product needs a driver release that knows it; an older one of a branch that serves its generation says No devices were found.",
    fix="Take the first driver that knows the product, or a later one.",
    source="NVIDIA/cloud-native-docs gpu-operator platform support, 2026-08-21; MIG user guide 620",
)
def driver_knows_product(pins: PinSet) -> Iterator[Found]:
    """The driver's release knows the product"""
    for gpu in pins.gpus:
        first = gpu.product.driver
        served = gpu.architecture is None or pins.branch >= gpu.architecture.first
        if first and served and pins.driver.before(first):
            reason = f"{gpu} needs driver {first} or later, and {pins.driver} is pinned"
            yield Found(reason, gpu.place, severity=by_confidence(gpu.product.confidence), changes=(*other_drivers(pins, at_least(first)), _without(gpu)))


@rule(
    "gpu_kernel_modules",
    severity=REFUSAL,
    why="Open modules need a GSP, which Turing brought; proprietary ones do not bind to Grace Hopper and to Blackwell and later. The "
    "wrong kind loads and finds no device.",
    fix="Set nvidia_driver.modules to the kind that the GPU needs.",
    source="NVIDIA driver installation guide; NVIDIA developer blog, July 2024",
)
def modules_serve_gpu(pins: PinSet) -> Iterator[Found]:
    """The kernel module's kind serves the GPU"""
    for gpu in pins.gpus:
        one = gpu.architecture
        kinds = ("open",) if gpu.product.grace else one.modules if one else ("open", "proprietary")
        if pins.modules in kinds:
            continue
        name = f"{one.name}" if one else "Grace"
        reason = f"{gpu} ({name}{', Grace' if gpu.product.grace and one else ''}) needs {kinds[0]} kernel modules, and {pins.modules} ones are pinned"
        severity = WARNING if one and one.name in UNSEEN else REFUSAL
        with_driver = (*({**change, MODULES: kinds[0]} for change in _of_kind(pins, kinds[0], one)), _without(gpu))
        yield Found(reason, gpu.place, severity=severity, changes=({MODULES: kinds[0]}, *with_driver))


def _of_kind(pins: PinSet, kind: str, architecture: Architecture | None) -> tuple[Change, ...]:
    low, high = (OPEN_SINCE, None) if kind == "open" else (0, OPEN_ONLY_SINCE - 1)
    if architecture:
        low, high = max(low, architecture.first), architecture.last or high
    return other_drivers(pins, on_branch(low, high))


@rule(
    "kernel_modules_exist",
    severity=REFUSAL,
    why="Open kernel modules exist since branch 515; branch 620 has no proprietary ones any more.",
    fix="Set nvidia_driver.modules to the kind that the branch has, or take another branch.",
    source=drivers.INSTALL_620 + ": proprietary kernel modules removed; tags of NVIDIA/open-gpu-kernel-modules",
)
def modules_exist(pins: PinSet) -> Iterator[Found]:
    """The driver's branch has the kind of kernel module"""
    other = "open" if pins.modules == "proprietary" else "proprietary"
    if pins.modules == "proprietary" and pins.branch >= OPEN_ONLY_SINCE:
        reason = f"branch {pins.branch} has no proprietary kernel modules ({OPEN_ONLY_SINCE} removed them), and proprietary ones are pinned"
        yield Found(reason, MODULES, changes=({MODULES: other}, *other_drivers(pins, on_branch(0, OPEN_ONLY_SINCE - 1))))
    elif pins.modules == "open" and 0 < pins.branch < OPEN_SINCE:
        reason = f"branch {pins.branch} has no open kernel modules ({OPEN_SINCE} is the first), and open ones are pinned"
        yield Found(reason, MODULES, changes=({MODULES: other}, *other_drivers(pins, on_branch(OPEN_SINCE, None))))


@rule(
    "gpu_host_architecture",
    severity=REFUSAL,
    why="Grace Hopper, Grace Blackwell and GB10 are modules with an Arm processor: no x86_64 machine has one.",
    fix="Set os.arch to aarch64 and the kernel to one of it, or correct the model.",
    source="NVIDIA product pages; pci.ids 2026.10.24",
)
def grace_is_arm(pins: PinSet) -> Iterator[Found]:
    """A Grace superchip sits in an aarch64 node"""
    for gpu in pins.gpus:
        if gpu.product.grace and pins.arch != "aarch64":
            yield Found(f"{gpu} is a module with an Arm processor, and os.arch is {pins.arch}", gpu.place, changes=_on_arm(pins))


def _on_arm(pins: PinSet) -> tuple[Change, ...]:
    """An Arm node, with the kernel of the same release for it where its name tells the architecture."""
    change = {"os.arch": "aarch64"}
    return ({**change, "kernel.version": for_architecture(pins.kernel, "aarch64")}, change)


@rule(
    "gpu_count",
    severity=REFUSAL,
    why="The count is what a node must have: nodes with another number fail their check.",
    fix="Write what lspci -d 10de: lists on a node of the pool.",
    source="NVIDIA HGX and DGX system guides",
)
def count_is_plausible(pins: PinSet) -> Iterator[Found]:
    """The number of GPUs is one that nodes have"""
    for gpu in pins.gpus:
        place = f"{gpu.place}.count"
        if gpu.count == 0:
            yield Found(f"{gpu} has count 0: a node with one fails its check; a pool without GPUs has gpus: []", place, changes=({place: 1},))
        elif gpu.count > MANY and "A16" not in gpu.words:
            reason = f"count {gpu.count}: so many GPUs ({gpu}) in one node are more than nodes are sold with"
            yield Found(reason, place, severity=WARNING, changes=({place: MANY},))
        elif gpu.switch in (BOARD, RACK) and WHOLE_BOARD // 2 < gpu.count < WHOLE_BOARD:
            yield Found(f"{gpu.count} of {gpu}: its boards have 4 or 8 GPUs", place, severity=NOTE)
    if not pins.gpus:
        yield Found("the pool has no GPUs: nothing about them was judged", "gpus", severity=NOTE)
