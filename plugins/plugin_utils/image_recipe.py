# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What an image is made from besides its lock: the base root, the roles and modules, and the settings of the pool."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_of, file_digest

ROLES = ("package_sources", "kernel", "nvidia_driver", "container_toolkit", "docker", "image_build")
# What these roles run on a node. A change of any of these files may change an image; a rebuild too many is harmless.
FOLDERS = (*(f"roles/{role}" for role in ROLES), "plugins/modules", "plugins/module_utils")
# Where the base lies says nothing about what it holds.
NOT_SETTINGS = ("image_build_base",)


def settings_of(variables: Iterable[str]) -> list[str]:
    """The names of the variables that set the roles, sorted."""
    prefixes = tuple(f"{role}_" for role in ROLES)
    return sorted(name for name in variables if name.startswith(prefixes) and name not in NOT_SETTINGS)


def recipe_digest(collection: Path, base: Path, settings: Mapping[str, Any]) -> str:
    """The digest of base, files and settings."""
    files = {str(path.relative_to(collection)): file_digest(path) for path in _files(collection)}
    return digest_of({"base": file_digest(base), "files": files, "settings": settings})


def build_key(lock_digest: str, recipe: str) -> str:
    """Under which the store remembers a build: the same lock and recipe need no second one."""
    return digest_of({"lock_digest": lock_digest, "recipe_digest": recipe})


def source_of(collection: Path) -> dict[str, Any]:
    """Commit of the sources and whether they have changes of their own; both None for a collection that is no git clone."""
    commit = _git(collection, "rev-parse", "HEAD")
    changes = _git(collection, "status", "--porcelain")
    return {"commit": commit, "dirty": None if changes is None else bool(changes)}


def _files(collection: Path) -> Iterator[Path]:
    for folder in FOLDERS:
        yield from (path for path in (collection / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def _git(collection: Path, *words: str) -> str | None:
    """What git says; None where it knows nothing. The clone may belong to another user than the root who builds."""
    try:
        done = subprocess.run(["git", "-c", f"safe.directory={collection}", "-C", str(collection), *words], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
