# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a node should be: `goldnode_stack`, the whole lock of its release, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class Wanted:
    """Read access to a lock (docs/pins_and_locks.md); every pin of no lock at all is None."""

    def __init__(self, stack: Mapping[str, Any] | None) -> None:
        self.stack: Mapping[str, Any] = stack or {}

    def __bool__(self) -> bool:
        return bool(self.stack)

    def pin(self, *path: str) -> Any:
        """The pin at a path (`"kernel", "version"`), or None where the lock has none."""
        value: Any = self.stack.get("pins")
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def has(self, key: str) -> bool:
        """Whether the lock speaks about a top-level pin at all, `null` included."""
        return key in (self.stack.get("pins") or {})

    def packages(self, layer: str) -> Sequence[Mapping[str, str]]:
        """The locked packages of one layer: name, version, architecture, …"""
        return [package for package in self.stack.get("packages") or [] if package.get("layer") == layer]
