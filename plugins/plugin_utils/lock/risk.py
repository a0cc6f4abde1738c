# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The risk class of a release: how far its lock is from the stable one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

PATCH, MINOR, MAJOR = "patch", "minor", "major"
KINDS = (PATCH, MINOR, MAJOR)
# Another of these is another machine, whatever its version numbers say.
_IDENTITY = ("os", "gpus", "mig", "container_engine")


def risk_class(lock: Mapping[str, Any], stable: Mapping[str, Any] | None) -> str:
    """`major` where there is no stable, another platform or another major version; else the largest step of any version."""
    if stable is None or any(lock["pins"].get(name) != stable["pins"].get(name) for name in _IDENTITY):
        return MAJOR
    new, old = dict(_versions(lock["pins"])), dict(_versions(stable["pins"]))
    if new.keys() != old.keys():
        return MAJOR
    return max((step(new[name], old[name]) for name in new), key=KINDS.index, default=PATCH)


def _versions(pins: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in pins.items():
        if isinstance(value, Mapping):
            yield from _versions(value, f"{prefix}{name}.")
        elif prefix and isinstance(value, str):
            yield f"{prefix}{name}", value


def step(new: str, old: str) -> str:
    """The first component that differs decides: the first is a major step, the second a minor one."""
    new, old = _whole(new), _whole(old)
    if new == old:
        return PATCH
    pairs = zip(_components(new), _components(old), strict=False)
    place = next((index for index, (one, other) in enumerate(pairs) if one != other), len(KINDS))
    return KINDS[max(0, 2 - place)]


def _whole(version: str) -> str:
    """A version without its epoch: `5:29.8.0-1~debian.13~trixie` and `29.9.0` are compared by what upstream counts."""
    return re.sub(r"^\d+:", "", version)


def _components(version: str) -> list[str]:
    return re.split(r"[.:+~-]", version)
