# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The log of a kernel module's build (dkms, make.log, akmods, nvidia-installer, a driver container) -> for which kernel, of what, why it failed. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Iterable

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.build_reasons import WORDINGS


@dataclass(frozen=True)
class Reason:
    """Why a build failed: kind (build_reasons), the words that say what, the whole line, and the kernel that the line names."""

    kind: str
    what: str
    line: str
    kernel: str | None


@dataclass(frozen=True)
class Build:
    """One log. `kernels` are the releases for which it builds, `compilers` the kernel's own and the one in use where they differ."""

    drivers: tuple[str, ...]
    kernels: tuple[str, ...]
    failed: bool
    reasons: tuple[Reason, ...]
    compilers: tuple[str, str] | None


_RELEASE = r"(\d+\.\d+[\w.+~-]*\w)"
_KERNELS = re.compile(
    r"(?:build on kernel:? |for kernel:? |autoinstall on |KERNEL_UNAME=|[Kk]ernel version |dkms install [^\n]*-k |--kernels |-for-)" + _RELEASE, re.MULTILINE
)
_DRIVERS = re.compile(r"nvidia[\w-]*(?:/|-| )v?(\d{3}\.\d+(?:\.\d+)?)\b|driver version:? (\d{3}\.\d+(?:\.\d+)?)\b", re.IGNORECASE)
_FAILED = re.compile(
    r"bad return status|failed for [^\n]*\(\d+\)|autoinstall on \S+ failed|bad exit status: [1-9]|\*\*\* [^\n]*error \d|step: .building kernel modules"
    r"|unable to build the nvidia|(?:was|were) not built|building rpms failed|\.\.\. ?failed!|(?:exited|returned) (?:10|[3-9])\b|^error! "
    r"|could not (?:resolve|locate) linux kernel version|failed to (?:build|compile)",
    re.IGNORECASE | re.MULTILINE,
)
_COMPILERS = re.compile(
    r"kernel was built (?:by|with):?\s+(?P<kernels>[^\n]+)\n[^\n]*(?:you are using:?|current compiler version is):?\s+(?P<own>[^\n]+)"
    r"|compile the kernel:?\s+(?P<kernels2>[^\n]+)\s+does not match the compiler used here:?\s+(?P<own2>[^\n]+)"
    r"|compile the kernel \((?P<kernels3>[^)]+)\) does not exactly match the current compiler\s+\((?P<own3>[^)]+)\)",
    re.IGNORECASE,
)
_OURS = re.compile(r"nvidia|linux kernel (?:version|headers)", re.IGNORECASE)
_OTHERS = re.compile(r"/var/lib/dkms/(?!nvidia)\w|make\.log for (?!nvidia)\w|failed for (?![^\n]*nvidia)\w", re.IGNORECASE)
_BUILDS = re.compile(
    r"\bdkms\b|akmods|make\[\d+\]|Makefile:\d+|kernel[ -](?:module|headers|devel|source)|Linux kernel version"
    r"|linux-headers|kernel-devel|KERNEL_UNAME|\bCC \[M\]|/lib/modules/[^/\s]+/build",
    re.IGNORECASE,
)
# What make prints of its own rules and commands, and a compiler's warnings, say nothing about how they ended.
_NOISE = re.compile(r"^[ \t]*(?:CC|LD|AR|CONFTEST|SYMLINK|OBJCOPY|MODPOST|HOSTCC)\b|echo >&2|:\d+: (?:warning|note): ", re.MULTILINE)
_LONGEST = 1500


def is_build(text: str) -> bool:
    """Whether a text speaks of building NVIDIA's kernel module at all."""
    return bool(_BUILDS.search(text) and _OURS.search(text))


def is_log(text: str) -> bool:
    """Whether a text that stands for a build's log has words of one."""
    return bool(_BUILDS.search(text) or _OURS.search(text) or _FAILED.search(text) or re.search(r"\berror\b|\bg?cc\b", text, re.IGNORECASE))


def is_of_another(text: str) -> bool:
    """Whether a build's log is of a module that is not NVIDIA's."""
    return bool(_OTHERS.search(text)) and "nvidia" not in text


def is_for(build: Build, release: str) -> bool:
    """Whether a log is of the module for this kernel, as far as it says; a release may be cut short or run into a file's name."""
    return not build.kernels or any(kernel.startswith(release) or release.startswith(kernel) for kernel in build.kernels)


def build(text: str) -> Build:
    """One log, whole or in excerpts."""
    lines = "\n".join(line for line in text.splitlines() if len(line) <= _LONGEST and not _NOISE.search(line))
    return Build(
        drivers=_distinct(first or second for first, second in _DRIVERS.findall(lines)),
        kernels=_distinct(_KERNELS.findall(lines)),
        failed=bool(_FAILED.search(lines)),
        reasons=_reasons(lines),
        compilers=_compilers(lines),
    )


def _distinct(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found))


def _reasons(text: str) -> tuple[Reason, ...]:
    """Each wording's places, in the order of the wordings: the narrow ones of a kind stand first."""
    return tuple(_reason(kind, match) for kind, pattern in WORDINGS for match in pattern.finditer(text))


def _reason(kind: str, match: re.Match[str]) -> Reason:
    named = match.groupdict()
    start, end = match.string.rfind("\n", 0, match.start()) + 1, match.string.find("\n", match.end())
    line = match.string[start : end if end >= 0 else None].strip()
    return Reason(kind, (named.get("what") or named.get("rt") or match.group()).strip(), line, named.get("kernel"))


def _compilers(text: str) -> tuple[str, str] | None:
    """The compiler that built the kernel and the one that builds the module."""
    match = _COMPILERS.search(text)
    found = [value.strip(" ,") for value in match.groups() if value] if match else []
    return (found[0], found[1]) if len(found) == 2 else None
