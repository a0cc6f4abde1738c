# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The pins' form: lock_stack's own schema, and container images without a digest, behind which the rest is judged all the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.pins import SCHEMA, engine_problems
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.shape import sentences
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.change import changed, in_words
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.model import NOTE, REFUSAL, PinRule, Statement

DOCS = "docs/pins_and_locks.md"
SCHEMA_RULE = PinRule(
    "pins.schema",
    lambda _pins: iter(()),
    REFUSAL,
    "The pins have the form that docs/pins_and_locks.md describes",
    "A missing key, an unknown one, a number where text is meant (12.8 would lose a zero) or another engine's mapping: what is "
    "meant cannot be told, and nothing else is judged.",
    "Write what the sentence accepts.",
    DOCS,
)
FLOATING_TAG = PinRule(
    "pins.floating_tag",
    lambda _pins: iter(()),
    REFUSAL,
    "A container image is named by its digest",
    "A tag can be pushed again: the same pins would be another CUDA or framework tomorrow, on one node and not on the other.",
    "Write name:tag@sha256:…; docker buildx imagetools inspect <image> prints the digest.",
    DOCS,
)
MODULE_NAME = PinRule(
    "pins.extra_module_name",
    lambda _pins: iter(()),
    NOTE,
    "An extra module is named by its DKMS package",
    "lock_stack finds an extra module by its package's name; another name is understood by people alone.",
    "Write the package's name, such as mlnx-ofed-kernel-dkms.",
    DOCS,
)
_NO_DIGEST = re.compile(r"[^@\s]+")
_PLACEHOLDER = "@sha256:" + "0" * 64
_NUMBER = re.compile(r"(?P<place>\S+) is the number (?P<value>\S+); accepted: .*quotes")
_OTHER = re.compile(r"unknown key (?P<unknown>[^;\s]+);|(?P<engine>docker|containerd|podman) is pinned, but")


def untagged(pins: Any) -> list[tuple[str, str]]:
    """The images without a digest, by dotted place; whatever has another form is the schema's affair."""
    if not isinstance(pins, Mapping):
        return []
    listed = pins.get("workload_images")
    entries = [
        ("canary_image", pins.get("canary_image")),
        *((f"workload_images[{i}]", one) for i, one in enumerate(listed if isinstance(listed, list) else [])),
    ]
    return [
        (f"{place}.reference", entry["reference"])
        for place, entry in entries
        if isinstance(entry, Mapping) and isinstance(entry.get("reference"), str) and _NO_DIGEST.fullmatch(entry["reference"])
    ]


def module_names(pins: Any) -> list[tuple[str, str]]:
    """The extra modules that are named otherwise than their DKMS package, by dotted place: only lock_stack needs the package's name."""
    listed = pins.get("extra_modules") if isinstance(pins, Mapping) else None
    names = [
        (f"extra_modules[{index}].name", one.get("name")) for index, one in enumerate(listed if isinstance(listed, list) else []) if isinstance(one, Mapping)
    ]
    return [(place, name) for place, name in names if isinstance(name, str) and name and not name.endswith("-dkms")]


def judgeable(pins: Any) -> Any:
    """The pins with a placeholder for each digest that is missing and a package's name for each module, so that everything else can be judged."""
    digests = {place: reference + _PLACEHOLDER for place, reference in untagged(pins)}
    names = {place: re.sub(r"[^a-z0-9+._-]", "-", f"{name.lower()}-dkms".lstrip("+._-")) for place, name in module_names(pins)}
    return changed(pins, {**digests, **names}) if digests or names else pins


def form(pins: Any) -> Iterator[Statement]:
    """What is wrong with the pins' form."""
    for place, reference in untagged(pins):
        reason = f'{place} is "{reference}", without a digest: the tag can move'
        yield Statement(FLOATING_TAG.id, REFUSAL, reason, DOCS, {"change": None, "words": FLOATING_TAG.fix}, place)
    for place, name in module_names(pins):
        reason = f'{place} is "{name}"; lock_stack resolves an extra module by the name of its DKMS package (mlnx-ofed-kernel-dkms)'
        yield Statement(MODULE_NAME.id, NOTE, reason, DOCS, place=place)
    whole = judgeable(pins)
    for words in sentences(whole, SCHEMA) or engine_problems(whole):
        change = repair(words)
        offered = {"change": change, "words": in_words(change) if change else words.rpartition("accepted: ")[2]}
        yield Statement(SCHEMA_RULE.id, REFUSAL, words, DOCS, offered, words.removeprefix("unknown key ").split(" ", 1)[0].rstrip(";"))


def repair(sentence: str) -> dict[str, Any] | None:
    """The change that a sentence of the schema leaves no doubt about."""
    number, other = _NUMBER.match(sentence), _OTHER.match(sentence)
    if number:
        return {number.group("place"): number.group("value")}
    return {other.group("unknown") or other.group("engine"): None} if other else None
