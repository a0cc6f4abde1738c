# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Where a pool's packages come from (package_sources.yml), and whom it trusts for that (trust.yml)."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.shape import read_mapping, sentences


def _one(description: str, pattern: str) -> dict[str, Any]:
    item = {"type": "string", "pattern": pattern, "description": description}
    return {"type": "array", "items": item, "minItems": 1, "maxItems": 1, "description": f"a list with one entry, {description}"}


_TEXT = {
    "type": "string",
    "pattern": r"^[^\x00-\x1f\x7f]+\Z",
    "description": "a text on one line, as the repository's own index says it (a dnf repository's: docs/pins_and_locks.md)",
}
_REPOSITORY = {
    "type": "object",
    "description": "{name, uris, suites, components, origin, label, key}",
    "properties": {
        "name": {"type": "string", "pattern": r"^[a-z0-9][a-z0-9_-]*\Z", "description": "a short name of small letters, digits, - and _"},
        # one InRelease is one snapshot: a second suite or address is an entry of its own
        "uris": _one("the repository's address", r"^(https?|file|copy):/\S*\Z"),
        "suites": _one("the suite (a second suite is a second entry), or / where the repository is flat", r"^\S+\Z"),
        "components": {
            "type": "array",
            "items": {"type": "string", "pattern": r"^\S+\Z", "description": "a component"},
            "description": "a list of components; [] where the repository is flat",
        },
        "origin": _TEXT,
        "label": _TEXT,
        "key": {"type": "string", "minLength": 1, "description": "the name of a key under goldnode_trust.repositories in trust.yml"},
        "dated": {"type": "boolean", "description": "true where the address is a snapshot whose index may be past its last day"},
    },
    "required": ["name", "uris", "suites", "components", "origin", "label", "key"],
    "additionalProperties": False,
}
_REPOSITORIES = {"type": "array", "items": _REPOSITORY, "minItems": 1, "description": "a list of {name, uris, suites, components, origin, label, key}"}
# The moment in the address of a snapshot (snapshot.debian.org, snapshot.ubuntu.com).
_STAMP = re.compile(r"/\d{8}T\d{6}Z(/|$)")
_KEY = {
    "type": "object",
    "description": "{fingerprint, public_key}",
    "properties": {
        "fingerprint": {
            "type": "string",
            "pattern": "^[0-9A-F]{40}([0-9A-F]{24})?$",
            "description": "a fingerprint of 40 hex digits, capital letters, no spaces",
        },
        "public_key": {"type": "string", "pattern": "^-----BEGIN PGP PUBLIC KEY BLOCK-----", "description": "an ASCII-armoured OpenPGP public key"},
    },
    "required": ["fingerprint", "public_key"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Key:
    """A repository key: the name under which trust.yml has it, fingerprint and armoured text."""

    name: str
    fingerprint: str
    public_key: str


@dataclass(frozen=True)
class Repository:
    """One suite at one address, with the identity that its Release file must show and the key that signs it."""

    name: str
    uri: str
    suite: str
    components: tuple[str, ...]
    origin: str
    label: str
    key: Key
    dated: bool = False

    def identity(self) -> dict[str, Any]:
        """What a lock says of a repository, but for the moment's snapshot."""
        return {
            "name": self.name,
            "uris": [self.uri],
            "suites": [self.suite],
            "components": list(self.components),
            "origin": self.origin,
            "label": self.label,
            "key_fingerprint": self.key.fingerprint,
        }

    def entry(self, architecture: str, keyring: Path | str) -> str:
        """The deb822 source entry."""
        lines = ["Types: deb", f"URIs: {self.uri}", f"Suites: {self.suite}"]
        lines += [f"Components: {' '.join(self.components)}"] if self.components else []
        lines += ["Check-Valid-Until: no"] if self.dated else []
        return "\n".join([*lines, f"Architectures: {architecture}", f"Signed-By: {keyring}", ""])


def read_repositories(sources: Path, trust: Path) -> list[Repository]:
    """The pool's repositories with their keys, sorted by name; keys are not yet compared with their fingerprints."""
    keys = read_mapping(trust, "goldnode_trust").get("repositories", {})
    return make_repositories(read_mapping(sources, "package_sources_repositories"), keys, str(sources), str(trust))


def make_repositories(entries: Any, keys: Mapping[str, Any], sources: str, trust: str) -> list[Repository]:
    """As `read_repositories`; `sources` and `trust` are how sentences call the places where both were written."""
    found = sentences(entries, _REPOSITORIES)
    if found:
        raise LockError(f"{sources}: {'; '.join(found)}.")
    names = [entry["name"] for entry in entries]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise LockError(f"{sources}: {', '.join(twice)} is the name of more than one repository; each needs its own.")
    return sorted((_repository(entry, keys, sources, trust) for entry in entries), key=lambda repository: repository.name)


def _repository(entry: Mapping[str, Any], keys: Mapping[str, Any], sources: str, trust: str) -> Repository:
    name = entry["key"]
    if name not in keys:
        raise LockError(f"{sources}: repository {entry['name']} names the key {name}; {trust} has {', '.join(sorted(keys)) or 'none'}.")
    if entry.get("dated") and not _STAMP.search(entry["uris"][0]):
        said = f"is dated, but its address {entry['uris'][0]} has no moment such as 20261128T081213Z"
        raise LockError(f"{sources}: repository {entry['name']} {said}: only a snapshot may be past its last day of validity.")
    found = sentences(keys[name], _KEY)
    if found:
        raise LockError(f"{trust}: goldnode_trust.repositories.{name}: {'; '.join(found)}.")
    return Repository(
        name=entry["name"],
        uri=entry["uris"][0],
        suite=entry["suites"][0],
        components=tuple(entry["components"]),
        origin=entry["origin"],
        label=entry["label"],
        key=Key(name, keys[name]["fingerprint"], keys[name]["public_key"]),
        dated=entry.get("dated", False),
    )


def check_key(key: Key, home: Path) -> None:
    """That the armoured text holds the key of that fingerprint and no other; `home` is an empty directory for gpg."""
    command = ["gpg", "--homedir", str(home), "--batch", "--with-colons", "--show-keys"]
    shown = subprocess.run(command, input=key.public_key, capture_output=True, text=True, check=False)
    found = primary_fingerprints(shown.stdout)
    if found != [key.fingerprint]:
        held = f"holds {', '.join(found)}" if found else "holds no OpenPGP key that gpg can read"
        raise LockError(f"trust.yml: the public key {key.name} {held}; its fingerprint is stated as {key.fingerprint}. Ask the vendor which one is right.")


def primary_fingerprints(colons: str) -> list[str]:
    """The fingerprints of the primary keys in gpg's colon listing: the `fpr` line after each `pub` line."""
    kinds = [line.split(":") for line in colons.splitlines() if line.startswith(("pub:", "sub:", "fpr:"))]
    return [line[9] for before, line in zip(kinds, kinds[1:]) if before[0] == "pub" and line[0] == "fpr"]
