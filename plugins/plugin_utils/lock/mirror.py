# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A mirror of exactly what a lock names: below a folder one signed repository for each of the lock's, with the packages under their locked names.

Origin, label, suite and file names stay those of the lock, so a pool that is pointed at the mirror resolves to the same packages.
New packages come first, then the index, then what is not locked goes: a client sees the old repository or the new one, also after a kill.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import urlopen

import yaml
from ansible_collections.goldnode.gpu.plugins.plugin_utils import commands
from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_of, file_digest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.expiry import snapshot_url
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.families import DNF
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.pins import ARCHITECTURES
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.sources import primary_fingerprints

SCHEMA = "goldnode.mirror/v1"
STATE, SOURCES, TRUST, REPOSITORIES = "mirror.json", "package_sources.yml", "trust.yml", "repositories"
KEY = "mirror"
# Seconds without a byte.
TIMEOUT = 60
_CHUNK = 2**20


@dataclass(frozen=True)
class Wanted:
    """One locked package: `path` is where it lies below the mirror, `urls` from where it can be fetched, the best first."""

    name: str
    version: str
    path: str
    size: int
    sha256: str
    urls: tuple[str, ...]


@dataclass(frozen=True)
class Signer:
    """Who signs the indexes: a gpg home with the secret key, its fingerprint and its public half in ASCII."""

    home: Path
    fingerprint: str
    public_key: str

    def sign(self, *words: str | Path) -> None:
        """gpg with that key; what it writes is given by --output."""
        commands.run([*_gpg(self.home), "--yes", "--local-user", f"{self.fingerprint}!", "--digest-algo", "SHA512", *words], LockError)


@dataclass(frozen=True)
class Mirror:
    """A folder with a mirror of one pool's lock, served at `url`."""

    folder: Path
    url: str
    lock: Mapping[str, Any]

    @property
    def is_dnf(self) -> bool:
        return self.lock["pins"]["os"]["distribution"] in DNF

    def repository(self, name: str) -> Path:
        return self.folder / REPOSITORIES / name


def wanted(lock: Mapping[str, Any]) -> list[Wanted]:
    """Every package of a lock, in its order."""
    repositories = {one["name"]: one for one in lock["repositories"]}
    return [_wanted(package, repositories[package["repository"]]) for package in lock["packages"]]


def _wanted(package: Mapping[str, Any], repository: Mapping[str, Any]) -> Wanted:
    below = PurePosixPath(package["filename"])
    if below.is_absolute() or ".." in below.parts:
        raise LockError(f"the lock's file name of {package['name']}, {package['filename']}, leads out of its repository; lock from another one.")
    locked = {**package, "filename": quote(str(below), safe="/~:")}
    here = f"{repository['uris'][0].rstrip('/').replace('copy:', 'file:')}/{locked['filename']}"
    saved = snapshot_url(locked, repository)
    path = f"{REPOSITORIES}/{repository['name']}/{below}"
    return Wanted(package["name"], package["version"], path, package["size"], package["sha256"], (here, *([saved] if saved else [])))


@contextmanager
def signer(key_file: Path | None, home: Path | None, fingerprint: str | None) -> Iterator[Signer]:
    """The key that a person gave, as a file with the secret key or as a gpg home; a key is never made."""
    if home is not None:
        yield _signer(home, fingerprint, str(home))
        return
    assert key_file is not None
    if not key_file.is_file():
        raise LockError(f"the signing key {key_file} is not there; give a file with the secret key (gpg --armor --export-secret-keys).")
    with tempfile.TemporaryDirectory(prefix="goldnode-gpg-") as own:
        try:
            commands.run([*_gpg(own), "--pinentry-mode", "loopback", "--passphrase", "", "--import", key_file], LockError)
            yield _signer(Path(own), fingerprint, str(key_file))
        finally:
            commands.run(["gpgconf", "--homedir", own, "--kill", "all"], LockError)


def _signer(home: Path, fingerprint: str | None, where: str) -> Signer:
    if not home.is_dir():
        raise LockError(f"the gpg home {home} is not there; give the folder that has the signing key.")
    listed = commands.run([*_gpg(home), "--with-colons", "--list-secret-keys"], LockError)
    there = primary_fingerprints(re.sub("^s(ec|sb):", lambda kind: {"ec": "pub:", "sb": "sub:"}[kind[1]], listed, flags=re.MULTILINE))
    chosen = [one for one in there if fingerprint in (None, one)]
    if len(chosen) != 1:
        asked = f"the secret key {fingerprint}" if fingerprint else "one secret key"
        raise LockError(f"{where} has the secret keys {', '.join(there) or '(none)'}; expected {asked}. Name the one that signs by signing_fingerprint.")
    return Signer(home, chosen[0], commands.run([*_gpg(home), "--armor", "--export", chosen[0]], LockError))


def _gpg(home: Path | str) -> list[str | Path]:
    return ["gpg", "--homedir", home, "--batch", "--no-tty", "--quiet"]


def refuse_other_folder(mirror: Mirror) -> None:
    """That the folder is empty, not there, or a mirror of this pool: what is not locked will be removed from it."""
    state = _state(mirror)
    if state is None and mirror.folder.exists() and not _is_empty(mirror.folder):
        raise LockError(f"{mirror.folder} is not empty and no mirror of ours (it has no {STATE}); give an empty folder or one that mirror_packages filled.")
    if state is not None and state.get("pool") != mirror.lock["pool"]:
        raise LockError(f"{mirror.folder} is the mirror of pool {state.get('pool')}, not of {mirror.lock['pool']}; give each pool a folder of its own.")


def _is_empty(folder: Path) -> bool:
    """Whether nobody put anything there; hidden files are what a killed first run left."""
    return folder.is_dir() and all(path.name.startswith(".") for path in folder.iterdir())


def _state(mirror: Mirror) -> dict[str, Any] | None:
    path = mirror.folder / STATE
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise LockError(f"{path} cannot be read as JSON ({error}); remove it and the mirror beside it, and run again.") from None
    if not isinstance(state, dict) or state.get("schema") != SCHEMA:
        raise LockError(f"{path} is not of schema {SCHEMA}; give another folder.")
    return state


@dataclass(frozen=True)
class Plan:
    """What a mirror lacks: packages to fetch, files to remove, and whether its index has to be written."""

    fetch: tuple[Wanted, ...]
    remove: tuple[str, ...]
    index: bool

    @property
    def changes(self) -> bool:
        return bool(self.fetch or self.remove or self.index)


def plan(mirror: Mirror, fingerprint: str) -> Plan:
    """The mirror's folder against the lock, each file by its content."""
    packages = wanted(mirror.lock)
    state = _state(mirror) or {}
    index: dict[str, str] = state.get("index", {})
    current = state.get("content") == _content(mirror, fingerprint) and all(_has(mirror.folder / path, digest) for path, digest in index.items())
    fetch = tuple(one for one in packages if not _has(mirror.folder / one.path, f"sha256:{one.sha256}"))
    return Plan(fetch, tuple(_extra(mirror, index)), not current)


def _has(path: Path, digest: str) -> bool:
    return path.is_file() and file_digest(path) == digest


def _extra(mirror: Mirror, index: Iterable[str]) -> list[str]:
    """Below the repositories all that is neither locked nor of the index; beside them what write_text left when it was killed."""
    known = {one.path for one in wanted(mirror.lock)} | set(index)
    there = [*(mirror.folder / REPOSITORIES).rglob("*"), *mirror.folder.glob(".*.new")]
    files = (path for path in there if path.is_symlink() or not path.is_dir())
    return sorted(name for name in (str(path.relative_to(mirror.folder)) for path in files) if name not in known)


def _content(mirror: Mirror, fingerprint: str) -> str:
    """What the index is made of: the repositories as they say they are, the packages, address and key."""
    repositories = [{key: one[key] for key in ("name", "suites", "components", "origin", "label")} for one in mirror.lock["repositories"]]
    return digest_of([repositories, sorted((one.path, one.sha256) for one in wanted(mirror.lock)), mirror.url, fingerprint])


def fill(mirror: Mirror, todo: Plan, key: Signer) -> None:
    """Does what the plan says; what was done before a kill is not done again."""
    mirror.folder.mkdir(parents=True, exist_ok=True)
    with _alone(mirror.folder):
        state = {"schema": SCHEMA, "pool": mirror.lock["pool"]}
        before = _state(mirror)
        if before is None:
            _write_state(mirror, state)
        for package in todo.fetch:
            fetch(package, mirror.folder / package.path)
        if todo.index or todo.fetch:
            index = [path for repository in mirror.lock["repositories"] for path in _write_index(mirror, repository, key)]
            index += _write_snippets(mirror, key)
            digests = {str(path.relative_to(mirror.folder)): file_digest(path) for path in index}
            _write_state(mirror, {**state, "content": _content(mirror, key.fingerprint), "index": digests})
        for path in _extra(mirror, (_state(mirror) or {}).get("index", {})):
            (mirror.folder / path).unlink()
        _remove_empty(mirror.folder / REPOSITORIES)


def _write_state(mirror: Mirror, state: Mapping[str, Any]) -> None:
    write_text(mirror.folder / STATE, json.dumps(state, indent=1) + "\n")


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise LockError(f"another mirror_packages works on {folder}; wait until it has ended and run again.") from None
    finally:
        os.close(descriptor)


def _remove_empty(top: Path) -> None:
    for folder in sorted((path for path in top.rglob("*") if path.is_dir() and not path.is_symlink()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()


def fetch(package: Wanted, target: Path) -> None:
    """The package from the first place that has exactly it; the file is there only once its size and SHA-256 are the lock's."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name[:200]}.part")
    said = []
    for url in package.urls:
        try:
            _download(package, url, part)
        except LockError as error:
            said.append(f"{url}: {error}")
            part.unlink(missing_ok=True)
            continue
        part.replace(target)
        return
    raise LockError(
        f"{package.name} {package.version} of the lock cannot be fetched ({'; '.join(said)}). "
        f"Put the file with SHA-256 {package.sha256} at {target} yourself, from a node's cache or another mirror, or lock again; then run the same command."
    )


def _download(package: Wanted, url: str, part: Path) -> None:
    digest, size = hashlib.sha256(), 0
    try:
        # a lock's addresses are http(s), file or copy (sources.py)
        with urlopen(url, timeout=TIMEOUT) as reply, part.open("wb") as file:  # noqa: S310
            while size <= package.size and (chunk := reply.read(_CHUNK)):
                size += len(chunk)
                digest.update(chunk)
                file.write(chunk)
    except HTTPError as error:
        raise LockError(f"{error.code} {error.reason}") from None
    except URLError as error:
        raise LockError(getattr(error.reason, "strerror", None) or str(error.reason)) from None
    except (TimeoutError, ConnectionError, HTTPException) as error:
        raise LockError(str(error) or type(error).__name__) from None
    if (size, digest.hexdigest()) != (package.size, package.sha256):
        raise LockError(f"has {size} bytes with SHA-256 {digest.hexdigest()[:12]}, locked are {package.size} with {package.sha256[:12]}")


def _write_index(mirror: Mirror, repository: Mapping[str, Any], key: Signer) -> list[Path]:
    """The signed index of one repository; the paths of its files."""
    mirror.repository(repository["name"]).mkdir(parents=True, exist_ok=True)
    return (_write_dnf if mirror.is_dnf else _write_apt)(mirror, repository, key)


def _write_apt(mirror: Mirror, repository: Mapping[str, Any], key: Signer) -> list[Path]:
    top, suite = mirror.repository(repository["name"]), repository["suites"][0]
    flat = suite.endswith("/")
    dist = top / suite.strip("/") if flat else top / "dists" / suite
    architecture = ARCHITECTURES[mirror.lock["pins"]["os"]["arch"]]
    inside = "" if flat else f"{repository['components'][0]}/binary-{architecture}/"
    packages = [one for one in mirror.lock["packages"] if one["repository"] == repository["name"]]
    text = "".join(_paragraph(top, one) for one in packages)
    listing = dist / f"{inside}Packages"
    write_text(listing, text)
    packed = _write_bytes(listing.with_name("Packages.gz"), gzip.compress(text.encode(), mtime=0))
    hashed = "".join(f" {file_digest(path).removeprefix('sha256:')} {path.stat().st_size} {inside}{path.name}\n" for path in (listing, packed))
    fields = {"Origin": repository["origin"], "Label": repository["label"]}
    fields |= {} if flat else {"Suite": suite, "Codename": suite, "Components": repository["components"][0], "Architectures": architecture}
    # of now, not of the lock: apt takes no index that is older than the one it has
    fields["Date"] = f"{datetime.now(timezone.utc):%a, %d %b %Y %H:%M:%S} UTC"
    release, signed, fresh = dist / "Release", dist / "InRelease", dist / ".InRelease"
    write_text(release, "".join(f"{name}: {value}\n" for name, value in fields.items()) + f"SHA256:\n{hashed}")
    key.sign("--output", fresh, "--clear-sign", release)
    fresh.replace(signed)
    release.unlink()
    return [listing, packed, signed]


def _paragraph(top: Path, package: Mapping[str, Any]) -> str:
    control = commands.run(["dpkg-deb", "--field", top / PurePosixPath(package["filename"])], LockError)
    return f"{control.rstrip()}\nFilename: {package['filename']}\nSize: {package['size']}\nSHA256: {package['sha256']}\n\n"


def _write_bytes(path: Path, content: bytes) -> Path:
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_bytes(content)
    fresh.replace(path)
    return path


def _write_dnf(mirror: Mirror, repository: Mapping[str, Any], key: Signer) -> list[Path]:
    """Made and signed in a folder beside, which then takes the place of the old one."""
    top = mirror.repository(repository["name"])
    with tempfile.TemporaryDirectory(dir=mirror.folder / REPOSITORIES, prefix=".index-") as beside:
        files = Path(beside) / "packages.txt"
        names = [str(PurePosixPath(one["filename"])) for one in mirror.lock["packages"] if one["repository"] == repository["name"]]
        files.write_text("".join(f"{name}\n" for name in names))
        create = ["createrepo_c", "--quiet", "--no-database", "--general-compress-type", "gz", "--repo", repository["label"]]
        commands.run([*create, "--pkglist", files, "--outputdir", beside, top], LockError)
        repomd = Path(beside) / "repodata" / "repomd.xml"
        key.sign("--armor", "--output", f"{repomd}.asc", "--detach-sign", repomd)
        shutil.rmtree(top / "repodata", ignore_errors=True)
        (Path(beside) / "repodata").rename(top / "repodata")
    return sorted((top / "repodata").iterdir())


def _write_snippets(mirror: Mirror, key: Signer) -> list[Path]:
    """package_sources.yml in the place of the pool's, and the key for its trust.yml."""
    entries = [_entry(mirror, one) for one in mirror.lock["repositories"]]
    trust = {KEY: {"fingerprint": key.fingerprint, "public_key": key.public_key}}
    texts: Iterable[tuple[str, str, Mapping[str, Any]]] = (
        (
            SOURCES,
            f"# Written by mirror_packages: in place of group_vars/{mirror.lock['pool']}/package_sources.yml.\n",
            {"package_sources_repositories": entries},
        ),
        (TRUST, "# Written by mirror_packages: add this key to trust.yml beside hosts.yml.\n", {"goldnode_trust": {"repositories": trust}}),
    )
    for name, head, content in texts:
        write_text(mirror.folder / name, head + yaml.safe_dump(content, sort_keys=False, width=200))
    return [mirror.folder / SOURCES, mirror.folder / TRUST]


def _entry(mirror: Mirror, repository: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": repository["name"],
        "uris": [f"{mirror.url.rstrip('/')}/{REPOSITORIES}/{repository['name']}"],
        "suites": list(repository["suites"]),
        "components": list(repository["components"][:1]),
        "origin": repository["origin"],
        "label": repository["label"],
        "key": KEY,
    }


def page(mirror: Mirror, todo: Plan, done: bool) -> Sequence[str]:
    """What was done, or in check mode would be, and what to do with it."""
    fetched, removed = ("fetched", "removed") if done else ("would fetch", "would remove")
    size = sum(one.size for one in todo.fetch) / 10**6
    return [
        f"{fetched} {len(todo.fetch)} of {len(mirror.lock['packages'])} packages ({size:.0f} MB), {removed} {len(todo.remove)} files",
        f"use it: {mirror.folder / SOURCES} in place of the pool's package_sources.yml, the key of {mirror.folder / TRUST} in trust.yml, then lock_stack",
    ]
