# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a node's apt or dnf is told: sources with their keys; for apt also how the origins rank and what unattended-upgrades leaves alone."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.package_families import PACKAGE_GLOBS
from ansible_collections.goldnode.gpu.plugins.module_utils.platforms import MANAGERS, manager_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.pins import ARCHITECTURES
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.sources import Key, Repository, check_key

KEYRINGS = "/etc/apt/keyrings"
SOURCES = "/etc/apt/sources.list.d"
PREFERENCES = "/etc/apt/preferences.d/goldnode-origins"
UNATTENDED = "/etc/apt/apt.conf.d/52goldnode-unattended"
_WRITTEN = "Written by the role goldnode.gpu.package_sources; changes are lost."
_IDENTITY = ("uris", "suites", "components", "origin", "label", "key_fingerprint")


RPM_KEYS = "/etc/pki/rpm-gpg"
YUM_REPOS = "/etc/yum.repos.d"


@dataclass(frozen=True)
class Sources:
    """For one package manager: what is below which folders, and the commands by which it accepts the files."""

    folders: tuple[str, ...]
    patterns: tuple[str, ...]
    make: Callable[[Sequence[Repository], Mapping[str, Any]], dict[str, str]]
    refresh: Callable[[Sequence[Repository]], list[list[str]]]


def sources_of(stack: Mapping[str, Any]) -> Sources:
    """What this lock's nodes install with."""
    _check_platform(stack)
    return _SOURCES[manager_of(stack)]


def node_files(repositories: Sequence[Repository], stack: Mapping[str, Any]) -> dict[str, str]:
    """Path on the node -> content, once every key is the one that the trust states and the lock's repositories are all there."""
    sources = sources_of(stack)
    for key in {repository.key.name: repository.key for repository in repositories}.values():
        _check_key(key)
    _check_subset(repositories, stack)
    return sources.make(repositories, stack)


def _apt_files(repositories: Sequence[Repository], stack: Mapping[str, Any]) -> dict[str, str]:
    architecture = ARCHITECTURES[stack["pins"]["os"]["arch"]]
    files = {keyring(repository.key): repository.key.public_key for repository in repositories}
    files |= {source_path(repository): f"# {_WRITTEN}\n{repository.entry(architecture, keyring(repository.key))}" for repository in repositories}
    files[PREFERENCES] = preferences(repositories, stack["pins"]["os"]["distribution"])
    files[UNATTENDED] = unattended()
    return files


def _apt_refresh(repositories: Sequence[Repository]) -> list[list[str]]:
    """One source at a time. apt-get update returns 0 where a signature was refused, unless told by --error-on."""
    options = ("--quiet", "--error-on=any", "--option=Dir::Etc::sourceparts=-", "--option=APT::Get::List-Cleanup=false")
    return [["apt-get", "update", *options, f"--option=Dir::Etc::sourcelist={source_path(repository)}"] for repository in repositories]


def _dnf_files(repositories: Sequence[Repository], _stack: Mapping[str, Any]) -> dict[str, str]:
    keys = {_rpm_key(repository.key): repository.key.public_key for repository in repositories}
    return keys | {f"{YUM_REPOS}/{_section(repository)}.repo": f"# {_WRITTEN}\n{repository_text(repository)}" for repository in repositories}


def _dnf_refresh(repositories: Sequence[Repository]) -> list[list[str]]:
    """rpm knows the keys before it installs files; --assumeyes lets dnf take the same keys for the metadata, by the file that was checked."""
    imports = sorted({_rpm_key(repository.key) for repository in repositories})
    names = ",".join(_section(repository) for repository in repositories)
    # A repository that cannot be read is an error here, whatever dnf.conf says.
    options = ("--assumeyes", "--disablerepo=*", f"--enablerepo={names}", "--setopt=skip_if_unavailable=False")
    return [["rpm", "--import", *imports], ["dnf", "makecache", *options]]


def repository_text(repository: Repository) -> str:
    """One dnf repository: packages and metadata are both signed; a module stream that is enabled hides none of its packages, the lock chooses."""
    options = {
        "name": f"goldnode {repository.name}",
        "baseurl": repository.uri,
        "enabled": 1,
        "gpgcheck": 1,
        "repo_gpgcheck": 1,
        "gpgkey": f"file://{_rpm_key(repository.key)}",
        "module_hotfixes": 1,
    }
    return "\n".join([f"[{_section(repository)}]", *(f"{name}={value}" for name, value in options.items()), ""])


def _rpm_key(key: Key) -> str:
    return f"{RPM_KEYS}/goldnode-{key.name}.asc"


def _section(repository: Repository) -> str:
    return f"goldnode-{repository.name}"


def keyring(key: Key) -> str:
    return f"{KEYRINGS}/goldnode-{key.name}.asc"


def source_path(repository: Repository) -> str:
    return f"{SOURCES}/goldnode-{repository.name}.sources"


def _check_platform(stack: Mapping[str, Any]) -> None:
    distribution = stack["pins"]["os"]["distribution"]
    if distribution not in MANAGERS:
        raise LockError(
            f"the lock of pool {stack['pool']} is for {distribution}; the roles configure package sources on {', '.join(MANAGERS)} only, "
            "elsewhere validate_nodes is what works."
        )


def _check_key(key: Key) -> None:
    with tempfile.TemporaryDirectory(prefix="goldnode-gpg-") as home:
        check_key(key, Path(home))


def _check_subset(repositories: Iterable[Repository], stack: Mapping[str, Any]) -> None:
    configured = {repository.name: repository.identity() for repository in repositories}
    for locked in stack["repositories"]:
        here = configured.get(locked["name"])
        if here is None:
            raise LockError(f"the lock of pool {stack['pool']} takes packages from repository {locked['name']}, which package_sources_repositories lacks.")
        other = [f"{field} is {here[field]}, locked {locked[field]}" for field in _IDENTITY if here[field] != locked[field]]
        if other:
            raise LockError(f"repository {locked['name']} is another than the lock of pool {stack['pool']} used: {'; '.join(other)}. Lock again.")


def preferences(repositories: Iterable[Repository], distribution: str) -> str:
    """Vendors' repositories rank below the distribution's own (500): nothing comes from there unasked. The lock's versions rank above both."""
    vendors = sorted({(one.origin, one.label) for one in repositories if one.origin.lower() != distribution})
    stanzas = [f"Package: *\nPin: release o={origin},l={label}\nPin-Priority: 400\n" for origin, label in vendors]
    return "\n".join([f"# {_WRITTEN}\n", *stanzas])


def unattended() -> str:
    """unattended-upgrades(8) matches its blacklist as Python regular expressions at the start of the name."""
    globs = sorted(glob for family in PACKAGE_GLOBS.values() for glob in family)
    lines = [f'  "{_expression(glob)}";' for glob in globs]
    return "\n".join([f"// {_WRITTEN}", "Unattended-Upgrade::Package-Blacklist {", *lines, "};", ""])


def _expression(glob: str) -> str:
    return "^" + glob.replace(".", "[.]").replace("[!", "[^").replace("*", ".*") + "$"


_SOURCES = {
    "apt": Sources((SOURCES, KEYRINGS), ("goldnode-*.sources", "goldnode-*.asc"), _apt_files, _apt_refresh),
    "dnf": Sources((YUM_REPOS, RPM_KEYS), ("goldnode-*.repo", "goldnode-*.asc"), _dnf_files, _dnf_refresh),
}
