# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What Kubernetes prints, YAML, JSON or the text of `kubectl describe` -> facts. Pure, and without a YAML library: a node has none."""

from __future__ import annotations

import re
from dataclasses import dataclass

_RESOURCE = re.compile(r"""["']?(nvidia\.com/(?:gpu|mig-[\w.]+)(?:\.shared)?)["']?\s*[:=]\s*["']?(\d+)""")
_KEY = r"""^[ \t-]*["']?{}["']?\s*:\s*["']?([^\s"',#]+)"""
_SECTION = re.compile(r"""^[ \t]*["']?(capacity|allocatable|allocated resources)["']?\s*:""", re.M | re.I)
_MIG_PROFILE = re.compile(r"\b(\d+g\.\d+gb(?:\+\w+)?)\b")


@dataclass(frozen=True)
class Pod:
    """What a manifest asks for: NVIDIA's extended resources, the RuntimeClass, the container images; `claims` (DRA) and `privileged`."""

    gpus: dict[str, int]
    runtime_class: str | None
    images: tuple[str, ...]
    claims: bool
    privileged: bool


def resources(text: str) -> dict[str, int]:
    """NVIDIA's extended resources and how many of each."""
    return {name: int(count) for name, count in _RESOURCE.findall(text)}


def section(text: str, heading: str) -> str | None:
    """One section of a node's status, up to the next; None where the text has no sections of that name."""
    found = list(_SECTION.finditer(text))
    for number, match in enumerate(found):
        if match.group(1).lower() == heading:
            return text[match.end() : found[number + 1].start() if number + 1 < len(found) else len(text)]
    return None


def allocatable(text: str) -> dict[str, int]:
    """What the kubelet may give to pods."""
    return resources(section(text, "allocatable") or text)


def capacity(text: str) -> dict[str, int] | None:
    """What the device plugin has registered, healthy or not; None where the text does not say."""
    found = section(text, "capacity")
    return resources(found) if found is not None else None


def pod(text: str) -> Pod:
    """A pod's manifest, or one that has a pod's template."""
    runtime_class = re.search(_KEY.format("runtimeClassName"), text, re.M)
    return Pod(
        gpus=resources(text),
        runtime_class=runtime_class.group(1) if runtime_class else None,
        images=tuple(re.findall(_KEY.format("image"), text, re.M)),
        claims=bool(re.search(_KEY.format("resourceClaim(?:Template)?Name"), text, re.M)),
        privileged=bool(re.search(_KEY.format("privileged").replace(r"([^\s\"',#]+)", "true"), text, re.M)),
    )


def settings(text: str) -> dict[str, str]:
    """A container's environment in each form that people paste: `NAME=value`, `NAME: value`, `- name: NAME` with its `value:`."""
    plain = dict(re.findall(r"^[ \t-]*([A-Z][A-Z0-9_]+)\s*[=:]\s*[\"']?([^\s\"']*)", text, re.M))
    listed = dict(re.findall(r"name[\"']?\s*:\s*[\"']?([A-Z][A-Z0-9_]+)[\"']?,?\s+[\"']?value[\"']?\s*:\s*[\"']?([^\s\"',}]*)", text))
    return {**plain, **listed}


def mig_profiles(text: str) -> tuple[str, ...]:
    """The MIG profiles that a text names, each as often as it does."""
    return tuple(_MIG_PROFILE.findall(text))
