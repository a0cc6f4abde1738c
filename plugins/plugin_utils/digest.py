# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Content digests, the one way that locks, policies, releases, plans and images are named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def canonical(value: Any) -> bytes:
    """The one byte form of a JSON value: sorted keys, no spaces, UTF-8."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def digest_of(value: Any) -> str:
    """`sha256:<64 hex>` over the canonical form of a JSON value."""
    return "sha256:" + hashlib.sha256(canonical(value)).hexdigest()


def digest_without(mapping: Mapping[str, Any], key: str = "digest") -> str:
    """The digest that a mapping carries about itself under `key`: over everything else in it."""
    return digest_of({name: value for name, value in mapping.items() if name != key})


def file_digest(path: Path) -> str:
    """`sha256:<64 hex>` over a file's bytes."""
    with path.open("rb") as stream:
        return "sha256:" + hashlib.file_digest(stream, "sha256").hexdigest()


def short(digest: str | None) -> str:
    """A digest as people say it: its first seven hex digits."""
    return digest.removeprefix("sha256:")[:7] if digest else "none"
