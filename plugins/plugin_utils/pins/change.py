# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Changing pins by dotted places: `gpus[0].count`, `nvidia_driver.version`."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.shape import shown

_PART = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
# The one key that is required and may be empty.
_NULLABLE = "container_toolkit"


def parts(place: str) -> list[str | int]:
    """`gpus[0].count` -> ["gpus", 0, "count"]."""
    return [name or int(index) for name, index in _PART.findall(place)]


def changed(pins: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the pins with every change made; None takes a key or an entry out."""
    copied = copy.deepcopy(dict(pins))
    for place, value in change.items():
        *path, last = parts(place)
        here: Any = copied
        for part in path:
            here = here.setdefault(part, {}) if isinstance(here, dict) else here[part]
        if value is None and place != _NULLABLE:
            here.pop(last, *(() if isinstance(last, int) else (None,)))
        else:
            here[last] = value
    return copied


def in_words(change: Mapping[str, Any]) -> str:
    """`set nvidia_driver.version to "580.178.04", take fabric_manager out`."""
    return ", ".join(_words(place, value) for place, value in change.items())


def _words(place: str, value: Any) -> str:
    if value is None:
        return f"set {place} to null" if place == _NULLABLE else f"take {place} out"
    return f"set {place} to {shown(value) if isinstance(value, str) else value}"
