# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A dnf repository's signed index: repomd.xml against its signature, primary.xml against repomd.xml, then whose it is.

dnf itself checks the signature of the metadata only where `repo_gpgcheck` says so; a lock is made from nothing that was not signed.
The metadata has no last day of validity, so an index that is old but signed cannot be told from one that does not move.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import subprocess
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta, timezone
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import file_digest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.catalogue import Index
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.rpm_metadata import Content, Repomd, read_primary, read_repomd
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.sources import Key, Repository, check_key

SCHEMES = ("https:", "http:", "file:")
REPOMD = "repodata/repomd.xml"
# Seconds without a byte; repomd.xml is some kilobytes, RHEL's primary.xml some 100 MB unpacked.
TIMEOUT = 60
_REPOMD_LIMIT = 4 * 2**20
_UNPACKED_LIMIT = 4 * 2**30
_CHUNK = 2**20
# A clock may be wrong by a little, and a mirror's by a time zone.
_AHEAD = timedelta(days=1)
_ALGORITHMS = ("sha256", "sha384", "sha512")
_HALF_SYNCED = "the mirror is half synced or damaged; wait for its next sync or take another"
# OpenPGP's numbers (RFC 4880, 9.4) of digests that can be forged: MD5, SHA-1, RIPEMD-160
_WEAK = {"1", "2", "3"}
# gpg's status (doc/DETAILS) -> what it means for the reader; the first that is there decides.
_MEANINGS = {
    "BADSIG": f"its repomd.xml is not the one that was signed: it was changed, or {_HALF_SYNCED}",
    "EXPKEYSIG": "the key {key} of trust.yml, which signs it, has expired",
    "REVKEYSIG": "the key {key} of trust.yml, which signs it, was revoked",
    "EXPSIG": "its signature has expired: the mirror is no longer updated",
    "VALIDSIG": "its signature by the key {key} of trust.yml is over a digest that can be forged (MD5, SHA-1)",
    "NODATA": "its repomd.xml.asc holds no signature",
}


def read_index(repository: Repository, arch: str, folder: Path) -> Index:
    """Fetches and checks one repository's index for nodes of `arch` below `folder`, an empty directory; `LockError` where it is refused."""
    home = folder / "gnupg"
    home.mkdir(mode=0o700)
    check_key(repository.key, home)
    try:
        return _read(repository, arch, folder, home)
    except LockError as error:
        raise LockError(f"repository {repository.name} ({repository.uri}): {error}.") from None


def _read(repository: Repository, arch: str, folder: Path, home: Path) -> Index:
    _check_form(repository)
    signed = _fetch(repository, REPOMD, folder / "repomd.xml", _REPOMD_LIMIT, "it has no repodata/repomd.xml there: check the address")
    signature = _fetch(repository, f"{REPOMD}.asc", folder / "repomd.xml.asc", _REPOMD_LIMIT, "it is not signed: it has no repodata/repomd.xml.asc")
    _check_signature(signed, signature, repository.key, home)
    described = read_repomd(signed.read_bytes())
    _check_repomd(repository, described)
    primary = _primary(repository, described.primary, folder)
    packages, vendors = read_primary(_unpacked(primary), repository, arch)
    if vendors and repository.origin not in vendors:
        raise LockError(f"it is another than package_sources.yml says: the vendor of its packages is {_either(vendors)}, expected {repository.origin}")
    date = described.date.strftime("%Y-%m-%dT%H:%M:%SZ")
    return Index({**repository.identity(), "snapshot": file_digest(signed), "date": date}, packages)


def _check_form(repository: Repository) -> None:
    if not repository.uri.startswith(SCHEMES):
        raise LockError(f"its address must begin with {', '.join(SCHEMES)}")
    if repository.suite != "/" or repository.components:
        raise LockError('a dnf repository has no suites and components; write suites: ["/"] and components: []')


def _fetch(repository: Repository, path: str, target: Path, limit: int, missing: str) -> Path:
    url = f"{repository.uri.rstrip('/')}/{path}"
    try:
        # the scheme was checked
        with urlopen(url, timeout=TIMEOUT) as reply, target.open("wb") as file:  # noqa: S310
            _copy(reply, file, limit)
    except URLError as error:
        absent = error.code in (404, 410) if isinstance(error, HTTPError) else isinstance(error.reason, FileNotFoundError)
        raise LockError(f"{missing if absent else 'it cannot be reached'} ({url}: {getattr(error.reason, 'strerror', None) or error.reason})") from None
    except (OSError, HTTPException, ValueError) as error:
        raise LockError(f"it cannot be reached ({url}: {str(error) or type(error).__name__})") from None
    return target


def _copy(reply: IO[bytes], file: IO[bytes], limit: int) -> None:
    """At most one byte more than there can be, by which the check of the whole fails."""
    left = limit + 1
    while left > 0 and (chunk := reply.read(min(_CHUNK, left))):
        left -= len(chunk)
        file.write(chunk)


def _check_signature(signed: Path, signature: Path, key: Key, home: Path) -> None:
    # a public key needs no agent, which would stay behind
    gpg = ["gpg", "--homedir", str(home), "--batch", "--no-autostart", "--status-fd", "1"]
    subprocess.run([*gpg, "--import"], input=key.public_key, capture_output=True, text=True, check=False)
    done = subprocess.run([*gpg, "--verify", str(signature), str(signed)], capture_output=True, text=True, check=False)
    if key.fingerprint not in good_signers(done.stdout):
        raise LockError(meaning(done.stdout, key.name))


def good_signers(status: str) -> list[str]:
    """The fingerprints of the primary keys behind good signatures in gpg's status lines; an expired or revoked key's is none, nor one over a weak digest."""
    found = []
    for words in (dict(_words(block)) for block in status.split("[GNUPG:] NEWSIG")):
        valid = words.get("VALIDSIG", [])
        if "GOODSIG" in words and len(valid) > 9 and valid[7] not in _WEAK:
            found.append(valid[9])
    return found


def _words(block: str) -> Iterator[tuple[str, list[str]]]:
    for line in block.splitlines():
        _, found, said = line.partition("[GNUPG:] ")
        if found and said.split():
            yield said.split()[0], said.split()[1:]


def meaning(status: str, key: str) -> str:
    """Why gpg's status lines are no good signature."""
    said = {keyword for keyword, _ in _words(status)}
    text = next((text for keyword, text in _MEANINGS.items() if keyword in said), "it is not signed by the key {key} of trust.yml")
    return text.format(key=key)


def _check_repomd(repository: Repository, described: Repomd) -> None:
    if described.date > datetime.now(timezone.utc) + _AHEAD:
        raise LockError(f"its index is of {described.date:%Y-%m-%d}: this machine's clock is behind")
    if described.tags and repository.label not in described.tags:
        raise LockError(f"it is another than package_sources.yml says: the tag of its repomd.xml is {_either(described.tags)}, expected {repository.label}")


def _primary(repository: Repository, wanted: Content, folder: Path) -> Path:
    if wanted.algorithm not in _ALGORITHMS:
        raise LockError(f"its repomd.xml has a checksum of type {wanted.algorithm}; accepted: {', '.join(_ALGORITHMS)}")
    path = folder / f"primary{Path(wanted.href).suffix}"
    _fetch(repository, wanted.href, path, wanted.size, f"its repomd.xml names {wanted.href}, which is not there: {_HALF_SYNCED}")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, wanted.algorithm).hexdigest()
    if found != wanted.checksum:
        raise LockError(f"its {wanted.href} is not the one that its repomd.xml names: {_HALF_SYNCED}")
    return path


@contextmanager
def _zstd(path: Path, _mode: str) -> Iterator[IO[bytes]]:
    try:
        process = subprocess.Popen(["zstd", "-dcq", str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        raise LockError("its primary.xml is packed with zstd, which is not on this machine; install the package zstd") from None
    with process as running:
        assert running.stdout is not None
        yield running.stdout
    if running.returncode:
        raise OSError("zstd cannot read it")


_OPENERS: dict[str, Callable[[Path, str], AbstractContextManager[Any]]] = {
    ".gz": gzip.open,
    ".xz": lzma.open,
    ".bz2": bz2.open,
    ".zst": _zstd,
    ".xml": Path.open,
}


def _unpacked(path: Path) -> Iterator[bytes]:
    """The bytes of primary.xml, of which there is an end."""
    opener = _OPENERS.get(path.suffix)
    if opener is None:
        raise LockError(f"its primary.xml is packed as {path.suffix}; accepted: {', '.join(_OPENERS)}")
    left = _UNPACKED_LIMIT
    try:
        with opener(path, "rb") as file:
            while left > 0 and (chunk := file.read(_CHUNK)):
                left -= len(chunk)
                yield chunk
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise LockError(f"its primary.xml cannot be unpacked ({error})") from None
    if left <= 0:
        raise LockError(f"its primary.xml is larger than {_UNPACKED_LIMIT} bytes")


def _either(values: Any) -> str:
    return " or ".join(sorted(values))
