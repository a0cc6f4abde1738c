# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A repository's signed index, read by the controller's own apt in directories of its own: apt checks signature and validity, we the identity."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import file_digest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.catalogue import Index, parse_packages
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.pins import ARCHITECTURES
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.sources import Repository, check_key
from debian.deb822 import Deb822

# What apt says (2.4 to 3.0, LC_ALL=C) -> what it means for the reader; the first that fits decides.
_MEANINGS: tuple[tuple[str, str], ...] = (
    (r"is expired|Valid-Until", "its index is expired: the mirror is no longer updated, or this machine's clock is wrong"),
    (r"is not valid yet|Not live until", "its index is not valid yet: this machine's clock is behind"),
    (
        r"unexpected size|Hash Sum mismatch",
        "its files do not match its signed index: the mirror is half synced or damaged; wait for its next sync or take another",
    ),
    (r"NO_PUBKEY|Missing key|couldn't be verified|BADSIG|EXPKEYSIG|REVKEYSIG|verification failed", "it is not signed by the key {key} of trust.yml"),
    (r"is not signed|does not have a Release file.*\n?.*404", "it has no signed index there: check address and suite"),
    (r"does not have a Release file", "it has no index there: check address and suite, and that it can be reached from this machine"),
    (r"Could not (resolve|connect)|Connection (failed|refused|timed out)|Temporary failure|Failed to fetch|Unable to connect", "it cannot be reached"),
)


def read_index(repository: Repository, arch: str, folder: Path) -> Index:
    """Fetches and checks one repository's index for nodes of `arch` (as pins write it) below `folder`, an empty directory; `LockError` where it is refused."""
    architecture = ARCHITECTURES[arch]
    _make_directories(folder)
    check_key(repository.key, folder / "gnupg")
    keyring = folder / "key.asc"
    keyring.write_text(repository.key.public_key, encoding="utf-8")
    sources = folder / "goldnode.sources"
    sources.write_text(repository.entry(architecture, keyring), encoding="utf-8")
    _update(repository, architecture, folder, sources)
    release = _release_file(folder)
    fields = Deb822(release.read_text(encoding="utf-8", errors="replace"))
    _check_identity(repository, fields)
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in sorted((folder / "lists").glob("*_Packages"))]
    packages = tuple(package for text in texts for package in parse_packages(text, repository.name, repository.origin))
    return Index({**repository.identity(), "snapshot": file_digest(release), "date": _date(fields)}, packages)


def _make_directories(folder: Path) -> None:
    # apt fetches as its own user, which must be able to pass
    folder.chmod(0o755)
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    (folder / "gnupg").mkdir(mode=0o700)
    (folder / "status").touch()


def _update(repository: Repository, architecture: str, folder: Path, sources: Path) -> None:
    options: Mapping[str, object] = {
        "Dir::Etc::sourcelist": sources,
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State::lists": folder / "lists",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder / "cache",
        "APT::Architecture": architecture,
        # apt's own defaults may be looser than a lock can be
        "Acquire::Check-Valid-Until": "true",
        "Acquire::Check-Date": "true",
        "Acquire::AllowInsecureRepositories": "false",
        "Acquire::AllowWeakRepositories": "false",
        "Acquire::Languages": "none",
        "Acquire::GzipIndexes": "false",
        "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled": "false",
    }
    configuration = folder / "apt.conf"
    configuration.write_text("\n".join(['Dir::Etc::main "/dev/null";', 'Dir::Etc::parts "/dev/null";', *_transport(), ""]), encoding="utf-8")
    command = ["apt-get", "update", "-q", "--error-on=any", *(f"-o{name}={value}" for name, value in options.items())]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C", "APT_CONFIG": str(configuration)})
    if done.returncode != 0:
        raise LockError(f"repository {repository.name} ({repository.uri} {repository.suite}): {meaning(done.stderr + done.stdout, repository.key.name)}.")


def _transport() -> list[str]:
    """How this machine reaches http and https (proxy, certificates): all that is taken of its own configuration, in which hooks and validity may be set."""
    done = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C"})
    return [line for line in done.stdout.splitlines() if re.match(r"Acquire::https?(::|\s)", line, re.IGNORECASE)]


def meaning(said: str, key: str) -> str:
    """What apt's messages mean, with its first error in brackets."""
    lines = [line for line in said.splitlines() if line.startswith(("E:", "W:", "Err:"))]
    first = next((line for line in lines if line.startswith("E:")), lines[0] if lines else "apt gave no reason")
    text = next((text for pattern, text in _MEANINGS if re.search(pattern, said)), "apt refuses it")
    return f"{text.format(key=key)} (apt: {first.removeprefix('E:').strip().rstrip('.')})"


def _release_file(folder: Path) -> Path:
    return next(path for pattern in ("*InRelease", "*Release") for path in sorted((folder / "lists").glob(pattern)))


def _date(release: Deb822) -> str:
    """When the index was made: `Date: Sat, 28 Nov 2026 08:12:13 UTC` -> `2026-11-28T08:12:13Z`."""
    return parsedate_to_datetime(release["Date"]).strftime("%Y-%m-%dT%H:%M:%SZ")


def _check_identity(repository: Repository, release: Deb822) -> None:
    wanted = {"Origin": repository.origin, "Label": repository.label}
    wrong = [f'{field} is "{release.get(field, "")}", expected "{value}"' for field, value in wanted.items() if release.get(field, "") != value]
    names = {release.get("Suite", ""), release.get("Codename", "")}
    if not repository.suite.endswith("/") and repository.suite not in names:
        wrong.append(f'suite is "{" or ".join(sorted(names))}", expected "{repository.suite}"')
    if wrong:
        raise LockError(f"repository {repository.name} ({repository.uri}) is another than package_sources.yml says: {'; '.join(wrong)}.")
