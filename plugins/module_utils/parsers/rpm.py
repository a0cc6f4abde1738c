# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""`rpm -qa` -> packages, and the kernel that a package of built modules is for; what dnf's versionlock list holds. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

# The format for `rpm --query --all --queryformat`: name:architecture, then the version as a lock has it (no epoch is epoch 0).
FORMAT = r"%{NAME}:%{ARCH}\t%|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}\n"
_NVRA = re.compile(r"^(?P<name>\S+)-(?:\d+:)?(?P<version>[^-\s]+)-(?P<release>[^-\s]+?)(?:\.(?P<arch>x86_64|aarch64|noarch|i686|ppc64le|s390x|sbsa))?$")
# A kernel release in a package's name: 4.18.0-372.9.1, 6.8.10-300.fc40.x86_64. A driver's version has three digits before its first dot.
_KERNEL = re.compile(r"(?<![\d.])([2-9]\.\d+\.\d+-\d+(?:\.\d+)*(?:\.(?:fc|el|amzn|azl)\d\w*(?:\.(?:x86_64|aarch64))?)?)")
_DPKG_KERNEL = re.compile(r"^linux-(?:modules|objects|signatures)-nvidia-\S*?-(\d+\.\d+\.\d+-\d+-[a-z][\w-]*)$")


@dataclass(frozen=True)
class Rpm:
    """One line of `rpm -qa`."""

    name: str
    version: str
    release: str
    architecture: str


def packages(text: str) -> tuple[Rpm, ...]:
    """All packages of the listing; two versions of one name may be installed side by side."""
    matches = filter(None, (_NVRA.match(line.strip()) for line in text.splitlines()))
    return tuple(Rpm(match["name"], match["version"], match["release"], match["arch"] or "") for match in matches)


def built_for(package: str) -> str | None:
    """The kernel for which a package holds NVIDIA modules, by its name: `kmod-nvidia-…-<kernel>-…` (rpm), `linux-modules-nvidia-…-<kernel>` (dpkg)."""
    match = _KERNEL.search(package) if package.startswith("kmod-nvidia") else _DPKG_KERNEL.match(package)
    return match.group(1) if match else None


def is_of(kernel: str, release: str) -> bool:
    """Whether a kernel's short name (`4.18.0-372.9.1`) means this release (`4.18.0-372.9.1.el8.x86_64`)."""
    return release == kernel or (release.startswith(kernel) and not release[len(kernel)].isdigit())


def parse_versions(text: str) -> dict[str, list[str]]:
    """Versions by `name:architecture` of `rpm --query` with FORMAT; a kernel, or a name of a broken transaction, has several."""
    versions: dict[str, list[str]] = {}
    for line in text.splitlines():
        key, tab, version = line.partition("\t")
        if tab:
            versions.setdefault(key, []).append(version.removeprefix("0:"))
    return versions


def lock_entry(name: str, version: str, architecture: str) -> str:
    """One line of versionlock.list(dnf 4): name-epoch:version-release.architecture."""
    return f"{name}-{version if ':' in version else f'0:{version}'}.{architecture}"


def with_entries(text: str, entries: Iterable[str]) -> str:
    """A versionlock list in which each entry stands for all of its name; other names, and comments, stay."""
    wanted = list(entries)
    names = {entry_name(entry) for entry in wanted}
    kept = [line for line in text.splitlines() if line in wanted or line.startswith("#") or entry_name(line) not in names]
    return "".join(f"{line}\n" for line in [*kept, *(entry for entry in wanted if entry not in kept)])


def entry_name(entry: str) -> str:
    """The package's name of an entry of versionlock.list, `!` (exclude) and version left out."""
    return entry.strip().lstrip("!").rsplit("-", 2)[0]
