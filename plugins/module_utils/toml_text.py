# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A mapping as TOML, the form in which containerd and Podman are configured. Pure; no Python on a node can write TOML by itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any


def toml_text(tree: Mapping[str, Any]) -> str:
    """Tables and `key = value` in sorted order: the same mapping gives the same bytes. TypeError for what TOML cannot hold (null)."""
    return "".join(f"{line}\n" for line in _table(tree, ())).lstrip("\n")


def _table(tree: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    plain = {key: value for key, value in tree.items() if not isinstance(value, Mapping)}
    if path and (plain or not tree):
        yield ""
        yield f"[{'.'.join(_key(key) for key in path)}]"
    for key in sorted(plain):
        yield f"{_key(key)} = {_value(plain[key])}"
    for key in sorted(tree.keys() - plain.keys()):
        yield from _table(tree[key], (*path, key))


def _key(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key, re.ASCII) else _value(key)


def _value(value: Any) -> str:
    """A scalar or a list of them; TOML's basic strings escape as JSON's do."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_value(item) for item in value)}]"
    if not isinstance(value, (str, bool, int, float)):
        raise TypeError(f"{type(value).__name__} has no form in TOML")
    return json.dumps(value, ensure_ascii=False)
