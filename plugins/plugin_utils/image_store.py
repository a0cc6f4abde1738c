# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The image store: files named by the SHA-256 of their bytes, and an index of what was built from what.

    <state>/store/sha256/<2 hex>/<62 hex>   a blob: an image (root file system tar) or its manifest
    <state>/store/builds/<64 hex>.json      build key -> record `goldnode.image/v1`

Every write goes to the file `incoming`, is flushed to the disk, and is renamed, so a killed writer leaves no half file under a
digest. Every read verifies the digest.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import canonical, file_digest
from filelock import FileLock

DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
SCHEMA = "goldnode.image/v1"
NAMED = ("image_digest", "manifest_digest")  # the blobs that a record names


class StoreError(Exception):
    """What the store cannot do, in one sentence."""


class ImageStore:
    """The store below one state directory. It makes its directories at the first write."""

    def __init__(self, state_dir: Path) -> None:
        self.root = state_dir / "store"

    def put(self, source: Path) -> str:
        """Stores a file's bytes and returns their digest; storing the same bytes again changes nothing."""
        with source.open("rb") as stream, self._written(source.name) as (target, commit):
            hasher = hashlib.sha256()
            while block := stream.read(1 << 20):
                hasher.update(block)
                target.write(block)
            digest = "sha256:" + hasher.hexdigest()
            commit(self._blob(digest))
        return digest

    def path(self, digest: str) -> Path:
        """The path of a blob whose bytes were just verified to have this digest."""
        path = self._blob(digest)
        if not path.is_file():
            raise StoreError(f"{self.root} does not hold {digest}; build it again: ansible-playbook goldnode.gpu.build_image -e pool=<pool>")
        observed = file_digest(path)
        if observed != digest:
            raise StoreError(f"{path} is damaged: it should hold {digest} but holds {observed}; remove that file and build the image again")
        return path

    def list(self) -> list[str]:
        """The digests of all blobs, sorted. Nothing is verified."""
        return sorted(f"sha256:{path.parent.name}{path.name}" for path in self.root.glob("sha256/[0-9a-f][0-9a-f]/*"))

    def record(self, key: str, record: Mapping[str, Any]) -> None:
        """Remembers what a build made. The blobs that the record names must be in the store."""
        for name in NAMED:
            self.path(str(record[name]))
        with self._written("record") as (target, commit):
            target.write(canonical({**record, "schema": SCHEMA}))
            commit(self._build(key))

    def built(self, key: str) -> dict[str, Any] | None:
        """The record of a build whose blobs are all still there and whole, else None: then it is built again."""
        record = _record(self._build(key))
        if record is None:
            return None
        try:
            for name in NAMED:
                self.path(record[name])
        except StoreError:
            return None
        return record

    def record_of(self, image_digest: str) -> dict[str, Any]:
        """The record of the build that made an image."""
        self._blob(image_digest)
        for path in sorted(self.root.glob("builds/*.json")):
            record = _record(path)
            if record is not None and record["image_digest"] == image_digest:
                return record
        raise StoreError(f"{self.root} has no record of a build of {image_digest}; build it here: ansible-playbook goldnode.gpu.build_image -e pool=<pool>")

    def newest_of_lock(self, lock_digest: str) -> dict[str, Any] | None:
        """The record of the last build from a lock, None where there was none."""
        paths = sorted(self.root.glob("builds/*.json"), key=lambda path: path.stat().st_mtime_ns)
        records = [record for path in reversed(paths) if (record := _record(path)) is not None]
        return next((record for record in records if record.get("lock_digest") == lock_digest), None)

    def _blob(self, digest: str) -> Path:
        hexadecimal = _hexadecimal(digest)
        return self.root / "sha256" / hexadecimal[:2] / hexadecimal[2:]

    def _build(self, key: str) -> Path:
        return self.root / "builds" / f"{_hexadecimal(key)}.json"

    @contextmanager
    def _written(self, what: str) -> Iterator[tuple[BinaryIO, Callable[[Path], None]]]:
        """A new file in the store and the function that makes it visible under its final path. One writer at a time."""
        temporary = self.root / "incoming"
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with FileLock(self.root / "lock"):
                try:
                    # under the lock what lies there is the rest of a killed writer
                    with temporary.open("wb") as target:
                        yield target, lambda final: _publish(target, temporary, final)
                finally:
                    temporary.unlink(missing_ok=True)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            free = shutil.disk_usage(self.root).free >> 20
            raise StoreError(f"no space for {what} in {self.root} ({free} MiB free); free some and run the same command again") from error


def _record(path: Path) -> dict[str, Any] | None:
    """The record of a build; None where there is none or the file is damaged: both are not built."""
    try:
        record = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    whole = isinstance(record, dict) and all(isinstance(record.get(name), str) for name in NAMED)
    return record if whole else None


def _hexadecimal(digest: str) -> str:
    match = DIGEST.fullmatch(digest)
    if match is None:
        raise StoreError(f"{digest!r} is no image digest; expected sha256: and 64 hexadecimal digits, as build_image printed it")
    return match[1]


def _publish(stream: BinaryIO, temporary: Path, final: Path) -> None:
    """Makes a written file durable, then visible: bytes, name, directory entry, in this order."""
    stream.flush()
    os.fsync(stream.fileno())
    temporary.chmod(0o444)
    final.parent.mkdir(parents=True, exist_ok=True)
    temporary.rename(final)
    directory = os.open(final.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
