# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""CUDA in the container images against the driver and the GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.architectures import ARCHITECTURES, described
from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.cuda_releases import TOOLKIT_DRIVER, cuda_of, named, oldest_driver
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.candidates import at_least, other_drivers
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.knowledge import images, toolkits
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.model import NOTE, REFUSAL, WARNING, Change, Found, rule
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.version import number
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.view import Gpu, Image, PinSet

Capability = tuple[int, int]
# A product whose name only tells its generation is taken for the generation's first.
_OLDEST_OF = {row.name: capability for capability, row in sorted(ARCHITECTURES.items(), reverse=True)}
_NEWEST_CUDA = max(TOOLKIT_DRIVER)


def _capability(gpu: Gpu) -> Capability | None:
    return gpu.capability or (_OLDEST_OF.get(gpu.architecture.name) if gpu.architecture else None)


def _other_images(image: Image, low: Capability, high: Capability) -> tuple[Change, ...]:
    """The CUDA releases within bounds for an image, the newest first; the reference must then be that image's."""
    place = f"{image.place}.cuda"
    within = sorted((cuda for cuda in TOOLKIT_DRIVER if low <= cuda <= high), reverse=True)
    changes: list[Change] = [{place: named(cuda)} for cuda in within]
    return (*changes, *(() if image.is_canary else ({image.place: None},)))


_BUILD = "take the image of that CUDA release, with its digest"


@rule(
    "cuda_release_known",
    severity=WARNING,
    why="A CUDA version of which there is no release is a slip of the pen; the drivers and GPUs that it would need cannot be told.",
    fix="Write the CUDA version that is in the image.",
    source=images.RELEASE_NOTES,
)
def cuda_release_is_known(pins: PinSet) -> Iterator[Found]:
    """The image's CUDA is a release that there is"""
    for image in pins.images:
        if image.cuda >= min(TOOLKIT_DRIVER) and image.cuda not in TOOLKIT_DRIVER:
            reason = f"{image.place} ({image}) has CUDA {named(image.cuda)}, of which no release is known; the newest is {named(_NEWEST_CUDA)}"
            yield Found(reason, f"{image.place}.cuda", changes=_other_images(image, (11, 0), min(image.cuda, _NEWEST_CUDA)), advice=_BUILD)


@rule(
    "cuda_driver",
    severity=REFUSAL,
    why="A program of a CUDA major release runs from that major's minimum driver on (11: 450.80.02, 12: 525.60.13, 13: 580.65.06). "
    "Below it only forward compatibility "
    "helps: the package cuda-compat in the image, on data centre GPUs, over a long-term or production branch.",
    fix="Take a newer driver, or an image of an older CUDA major.",
    source=images.COMPATIBILITY,
)
def driver_runs_cuda(pins: PinSet) -> Iterator[Found]:
    """The driver runs the image's CUDA"""
    for image in pins.images:
        needed = oldest_driver(image.cuda)
        if needed is None or not pins.driver.before(needed) or not pins.gpus:
            continue
        reason = f"{image.place} ({image}) has CUDA {named(image.cuda)}, which needs driver {needed} or later, and {pins.driver} is pinned"
        hindrance = _no_forward_compatibility(pins, image)
        changes = (*other_drivers(pins, at_least(needed)), *_other_images(image, (10, 0), cuda_of(pins.driver.upstream) or (0, 0)))
        if hindrance:
            yield Found(f"{reason}; forward compatibility does not help: {hindrance}", f"{image.place}.cuda", changes=changes, advice=_BUILD)
        else:
            forward = f"it runs by forward compatibility only, with cuda-compat-{image.cuda[0]}-{image.cuda[1]} in the image"
            yield Found(f"{reason}; {forward}", f"{image.place}.cuda", severity=WARNING, changes=changes, advice=_BUILD)


def _no_forward_compatibility(pins: PinSet, image: Image) -> str:
    """Why forward compatibility is no way out; empty where it is one."""
    base = images.FORWARD_BASE.get(image.cuda[0])
    consumer = next((gpu for gpu in pins.gpus if gpu.is_consumer), None)
    low, high = toolkits.NO_COMPAT
    if image.own_canary:
        return "our canary holds PTX and no CUDA user space"
    if base is None or pins.branch < base:
        return f"it begins with driver branch {base or 'of a later CUDA'}"
    if consumer:
        return f"{consumer} is no data centre GPU (804)"
    if pins.toolkit and low <= pins.toolkit.numbers < high:
        return f"container toolkit {pins.toolkit} does not mount the image's compatibility libraries"
    return ""


@rule(
    "cuda_minor_compatibility",
    severity=WARNING,
    why="Within a CUDA major release programs run on older drivers by minor version compatibility: but no PTX of a newer release is "
    "compiled (222) and no newer API is there (36).",
    fix="Take the driver that was released with the image's CUDA, or an image of the driver's; waive it where no program compiles PTX at run time.",
    source=images.COMPATIBILITY,
)
def cuda_is_not_newer(pins: PinSet) -> Iterator[Found]:
    """The image's CUDA is not newer than the driver's"""
    for image in pins.images:
        newest, needed = cuda_of(pins.driver.upstream), oldest_driver(image.cuda)
        if newest and image.cuda > newest and needed and not pins.driver.before(needed):
            reason = (
                f"{image.place} ({image}) has CUDA {named(image.cuda)} and driver {pins.driver} CUDA {named(newest)}: minor version compatibility, no newer PTX"
            )
            released_with = TOOLKIT_DRIVER.get(image.cuda, pins.driver.upstream)
            changes = (*_other_images(image, (10, 0), newest), *other_drivers(pins, at_least(released_with)))
            # a workload may hold code for its GPUs; a canary that only compiles PTX cannot run at all
            severity = WARNING if image.place == "canary_image" else NOTE
            yield Found(reason, f"{image.place}.cuda", severity=severity, changes=changes, advice=_BUILD)


@rule(
    "cuda_dropped_gpu",
    severity=REFUSAL,
    why="A CUDA release has no code for GPUs that it dropped: 13.0 dropped Maxwell, Pascal and Volta, 12.0 dropped Kepler. Its "
    "libraries say no kernel image is available (209).",
    fix="Take an image of the last CUDA release that has the GPU.",
    source="CUDA Toolkit 13.0 and 12.0 release notes",
)
def cuda_still_has_gpu(pins: PinSet) -> Iterator[Found]:
    """The image's CUDA still has code for the GPU"""
    for image in pins.images:
        for gpu in pins.gpus:
            capability = _capability(gpu)
            last = ARCHITECTURES[capability].last if capability in ARCHITECTURES else None
            if capability and last and image.cuda > _release(last):
                reason = f"{image.place} ({image}) has CUDA {named(image.cuda)}, and {last} was the last with code for {gpu}, {described(capability)}"
                yield Found(reason, f"{image.place}.cuda", changes=_other_images(image, (10, 0), _release(last)), advice=_BUILD)
                break


@rule(
    "cuda_too_old_for_gpu",
    severity=REFUSAL,
    why="A GPU runs the machine code of its own compute capability's major number, and PTX. An image that is older than the GPU has no "
    "such code, and most frameworks ship no PTX: "
    "no kernel image is available (209).",
    fix="Take an image of the first CUDA release that has the GPU, or a later one.",
    source="NVIDIA CUDA compatibility guides of the architectures; CUDA release notes",
)
def cuda_knows_gpu(pins: PinSet) -> Iterator[Found]:
    """The image's CUDA has code for the GPU"""
    for image in pins.images:
        for gpu in pins.gpus:
            capability = _capability(gpu)
            if capability is None or capability not in ARCHITECTURES or (image.is_canary and image.cuda < images.PTX_ONLY_BELOW):
                continue
            first, exact = _first(capability), _release(ARCHITECTURES[capability].first)
            about = f"{image.place} ({image}) has CUDA {named(image.cuda)}"
            if image.cuda < first:
                reason = f"{about}, and {named(first)} is the first with code for {gpu}, {described(capability)}: it runs there by PTX only, if it has any"
                severity = REFUSAL if image.framework and capability not in images.UNSEEN else WARNING
                changes = _images_for(image, capability)
                yield Found(reason, f"{image.place}.cuda", severity=severity, changes=changes, advice=_BUILD)
                break
            if image.cuda < exact:
                yield Found(
                    f"{about}: {gpu} runs its code of {capability[0]}.0; {named(exact)} is the first with its own", f"{image.place}.cuda", severity=NOTE
                )
                break


def _images_for(image: Image, capability: Capability) -> tuple[Change, ...]:
    """Images of the CUDA releases that have a GPU, the oldest first, each with the framework's first release that has it too; failing that, none."""
    first = _first(capability)
    releases = [{f"{image.place}.cuda": named(cuda)} for cuda in sorted(TOOLKIT_DRIVER) if cuda >= first]
    better = [(one, _first_release(one, image, capability)) for one in images.FRAMEWORKS]
    newer = [release for one, release in better if release and (_version_of(one.pattern, image) or release) < release]
    framework = _other_framework(image, ".".join(map(str, newer[0]))) if newer else {}
    removal = () if image.is_canary else ({image.place: None},)
    return (*releases, *({**release, **framework} for release in releases[:2]), *removal)


def _first(capability: Capability) -> Capability:
    """The first CUDA with machine code that the GPU runs: that of an older capability of the same major number will do."""
    same = [row.first for one, row in ARCHITECTURES.items() if one[0] == capability[0] and one <= capability]
    return _release(ARCHITECTURES[capability].first if capability in images.UNSEEN else min(same, key=number))


def _release(text: str) -> Capability:
    major, minor = number(text)[:2]
    return major, minor


@rule(
    "framework_gpu",
    severity=REFUSAL,
    why="A framework's build has kernels for a list of compute capabilities: PyTorch has Blackwell since 2.7 (NGC builds since 2.6), "
    "and in the wheels of CUDA 12.8 and later no Pascal since 2.8, no Volta since 2.11.",
    fix="Take a build of the framework that has the GPU.",
    source=images.PYTORCH,
)
def framework_has_gpu(pins: PinSet) -> Iterator[Found]:
    """The image's framework has kernels for the GPU"""
    for image in pins.images:
        capable = [(gpu, capability) for gpu in pins.gpus if (capability := _capability(gpu))]
        found = [one for gpu, capability in capable if (one := _too_old(image, gpu, capability) or _dropped(image, gpu, capability))]
        if found:
            # what serves the first GPU alone may leave out another
            yield replace(found[0], changes=tuple(change for one in found for change in one.changes))


def _version_of(pattern: str, image: Image) -> tuple[int, ...] | None:
    found = re.search(rf"(?:^|[\s/(]){pattern}\s*(?:==|[ =:v-])*\s*(\d+(?:\.\d+)*)", image.framework, re.I)
    return number(found.group(1)) if found else None


def _first_release(framework: images.Framework, image: Image, capability: Capability) -> tuple[int, ...] | None:
    """The framework's first release with kernels for a compute capability, in the build that the image is of."""
    return (framework.ngc if image.reference.startswith("nvcr.io/") else framework.first).get(capability[0])


def _too_old(image: Image, gpu: Gpu, capability: Capability) -> Found | None:
    for one in images.FRAMEWORKS:
        pinned, first = _version_of(one.pattern, image), _first_release(one, image, capability)
        if pinned and first and pinned < first:
            words = ".".join(map(str, first))
            reason = f"{image.place} has {image.framework}, and {words} is its first release with kernels for {gpu}, {described(capability)}"
            changes = (_other_framework(image, words), *_images_for(image, capability))
            return Found(reason, f"{image.place}.framework", one.source, changes=changes, advice=_BUILD)
    return None


def _dropped(image: Image, gpu: Gpu, capability: Capability) -> Found | None:
    for one in images.DROPPED:
        pinned = _version_of(one.pattern, image)
        if pinned and one.since <= pinned < one.until and image.cuda >= one.cuda and capability < one.capability:
            reason = f"{image.place} has {image.framework} of CUDA {named(image.cuda)}, which has no kernels for {gpu}, {described(capability)}: {one.last}"
            older: tuple[Change, ...] = _other_images(image, (11, 8), (one.cuda[0], one.cuda[1] - 1)) if one.cuda > (0, 0) else ({image.place: None},)
            return Found(reason, f"{image.place}.framework", one.source, changes=older, advice=_BUILD)
    return None


def _other_framework(image: Image, version: str) -> Change:
    return {f"{image.place}.framework": re.sub(r"\d+(?:\.\d+)*\S*", version, image.framework, count=1)}


_TAG = re.compile(r"(?:^|/)nvidia/cuda:(?P<tag>\d+\.\d+)|[-_]cu(?:da)?-?(?P<wheel>\d{2}\.\d|\d{3})(?=[-_.@]|$)")


@rule(
    "image_tag_cuda",
    severity=WARNING,
    why="The tag of the image names its CUDA. Where the pin says another, one of the two is wrong, and everything that was judged of it too.",
    fix="Write the CUDA of the image that the digest names.",
    source="tags of nvidia/cuda and pytorch/pytorch",
)
def tag_agrees_with_cuda(pins: PinSet) -> Iterator[Found]:
    """The CUDA in the image's tag is the one that is pinned"""
    for image in pins.images:
        found = _TAG.search(image.reference.partition("@")[0])
        if not found:
            continue
        text = found.group("tag") or found.group("wheel")
        tagged = text if "." in text else f"{text[:-1]}.{text[-1]}"
        if tagged != named(image.cuda):
            reason = f"{image.place}.cuda is {named(image.cuda)}, and the tag of {image} says {tagged}"
            yield Found(reason, f"{image.place}.cuda", changes=({f"{image.place}.cuda": tagged},))
