# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The lock as a document: made, read back and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_of, digest_without
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.catalogue import Package
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.families import DRIVER, ENGINE, KERNEL, TOOLKIT
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.pins import problems
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.shape import sentences
from ansible_collections.goldnode.gpu.plugins.plugin_utils.yaml_text import read_strict

SCHEMA_ID = "goldnode.lock/v1"
LAYERS = (KERNEL, DRIVER, TOOLKIT, ENGINE)
_PACKAGE_KEYS = ("name", "version", "architecture", "repository", "origin", "filename", "size", "sha256", "layer")
LOCK_SUFFIX = ".lock.yml"
_HEADER = "# Written by goldnode.gpu.lock_stack, never by hand: a changed value is refused. Edit group_vars/<pool>/pins.yml and lock again.\n"

_TEXT = {"type": "string", "pattern": r"^[^\x00-\x1f\x7f]*\Z", "description": "a text on one line"}
# What Debian policy 5.6.1 and 5.6.12 and RPM's specifications allow, and nothing that a shell, a URL or a line of text could take for its own.
_NAME = {"type": "string", "pattern": r"^[A-Za-z0-9][A-Za-z0-9+._-]*\Z", "description": "a name of letters, digits and + . _ -"}
_VERSION = {"type": "string", "pattern": r"^[A-Za-z0-9][A-Za-z0-9.+:~^_-]*\Z", "description": "a version of letters, digits and . + : ~ ^ _ -"}
_FILENAME = {
    "type": "string",
    "pattern": r"^(?!/)(?!(.*/)?\.\.(/|\Z))[^\x00-\x20\x7f]+\Z",
    "description": "a path below the repository's address, without .. and spaces",
}
_DIGEST = {"type": "string", "pattern": r"^sha256:[0-9a-f]{64}\Z", "description": "sha256:<64 hex>"}
_LIST_OF_TEXT = {"type": "array", "items": _TEXT, "description": "a list of texts"}


def _mapping(**properties: Any) -> dict[str, Any]:
    described = f"{{{', '.join(properties)}}}"
    return {"type": "object", "description": described, "properties": properties, "required": list(properties), "additionalProperties": False}


def _list_of(**properties: Any) -> dict[str, Any]:
    return {"type": "array", "items": _mapping(**properties), "description": f"a list of {{{', '.join(properties)}}}"}


SCHEMA = _mapping(
    schema={"const": SCHEMA_ID, "description": SCHEMA_ID},
    pool=_TEXT,
    pins={"type": "object", "description": "the mapping goldnode_pins"},
    pins_digest=_DIGEST,
    repositories=_list_of(
        name=_TEXT,
        uris=_LIST_OF_TEXT,
        suites=_LIST_OF_TEXT,
        components=_LIST_OF_TEXT,
        origin=_TEXT,
        label=_TEXT,
        key_fingerprint=_TEXT,
        snapshot=_DIGEST,
        date={"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z", "description": "when the index was made, in UTC (2026-11-30T20:14:05Z)"},
    ),
    packages=_list_of(
        name=_NAME,
        version=_VERSION,
        architecture=_NAME,
        repository=_NAME,
        origin=_TEXT,
        filename=_FILENAME,
        size={"type": "integer", "description": "a size in bytes"},
        sha256={"type": "string", "pattern": r"^[0-9a-f]{64}\Z", "description": "64 hex digits"},
        layer={"enum": list(LAYERS), "description": " or ".join(LAYERS)},
    ),
    images=_list_of(use={"enum": ["canary", "workload"], "description": "canary or workload"}, reference=_TEXT, digest=_DIGEST),
    digest=_DIGEST,
)


def make_lock(
    pool: str, pins: Mapping[str, Any], written: Mapping[str, Any], repositories: Sequence[Mapping[str, Any]], packages: Iterable[Package]
) -> dict[str, Any]:
    """The lock of a pool. `pins`: with ranges replaced; `written`: as pins.yml has them, which is what `pins_digest` is over.

    `LockError` where what the repositories say makes no lock that can be read again.
    """
    lock = {
        "schema": SCHEMA_ID,
        "pool": pool,
        "pins": dict(pins),
        "pins_digest": digest_of(written),
        "repositories": sorted((dict(one) for one in repositories), key=lambda one: str(one["name"])),
        "packages": [_entry(package) for package in sorted(packages, key=lambda one: (LAYERS.index(one.layer), one.name))],
        "images": _images(pins),
    }
    return check_lock({**lock, "digest": digest_without(lock)}, f"what was resolved for pool {pool}")


def _entry(package: Package) -> dict[str, Any]:
    return {key: getattr(package, key) for key in _PACKAGE_KEYS}


def _images(pins: Mapping[str, Any]) -> list[dict[str, str]]:
    uses = [("canary", pins["canary_image"]), *(("workload", image) for image in pins.get("workload_images", []))]
    return [{"use": use, "reference": image["reference"], "digest": image["reference"].partition("@")[2]} for use, image in uses]


def check_lock(lock: Any, where: str) -> dict[str, Any]:
    """The lock itself, once shape, digest and pins are right."""
    schema = lock.get("schema", SCHEMA_ID) if isinstance(lock, Mapping) else SCHEMA_ID
    if schema != SCHEMA_ID:
        raise LockError(f"{where} is of schema {schema}, this goldnode.gpu reads {SCHEMA_ID}: lock the pool again with lock_stack.")
    found = sentences(lock, SCHEMA)
    if found:
        raise LockError(f"{where} is not a lock: {'; '.join(found)}.")
    try:
        computed = digest_without(lock)
    except (TypeError, ValueError) as error:
        raise LockError(f"{where} is not a lock: {' '.join(str(error).split())}.") from None
    if lock["digest"] != computed:
        raise LockError(
            f"{where} was changed after lock_stack wrote it: its digest is {lock['digest']}, its content has {computed}. "
            f"Restore it from git, or lock again: ansible-playbook goldnode.gpu.lock_stack -e pool={lock['pool']}"
        )
    wrong = problems(lock["pins"])
    if wrong:
        raise LockError(f"{where}: pins: {'; '.join(wrong)}.")
    return dict(lock)


def read_lock(path: Path, pool: str | None = None) -> dict[str, Any]:
    """A checked lock file; with `pool`, of no other pool."""
    try:
        lock = read_strict(path)
    except FileNotFoundError:
        pool = path.name.removesuffix(LOCK_SUFFIX) if path.name.endswith(LOCK_SUFFIX) else "<pool>"
        raise LockError(f"{path} is not there; lock_stack writes it: ansible-playbook goldnode.gpu.lock_stack -e pool={pool}") from None
    except (OSError, ValueError) as error:
        raise LockError(f"{path} cannot be read as YAML: {' '.join(str(error).split())}.") from None
    checked = check_lock(lock, str(path))
    if pool not in (None, checked["pool"]):
        raise LockError(f"{path} is the lock of pool {checked['pool']}, not of {pool}; give the lock of {pool}.")
    return checked


class _Dumper(yaml.SafeDumper):
    """Every value written out: what reads a lock again takes no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def render(lock: Mapping[str, Any]) -> str:
    """The one text of a lock file."""
    return _HEADER + yaml.dump(dict(lock), Dumper=_Dumper, sort_keys=False, width=200, allow_unicode=True)
