# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Package versions, as dpkg and as RPM order them, against the upstream versions that a person pins. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from operator import eq, ge, gt, le, lt
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import rpm_versions
from debian.debian_support import NativeVersion

# Debian policy 7.1; what RPM writes as LT, LE, EQ, GE, GT is read into the same signs
_OPERATORS: dict[str, Callable[[NativeVersion, NativeVersion], bool]] = {"<<": lt, "<=": le, "=": eq, ">=": ge, ">>": gt}
# Debian marks a repacked upstream archive so: 26.1.5+dfsg1, 1.7.24~ds1, 1.1.15+ds1
_REPACKED = re.compile(r"[+~.](dfsg|ds)[0-9.]*$")
_PRERELEASE = re.compile(r"~(alpha|beta|rc)")
# `5.14.0-570.12.1.el9_6.aarch64+64k`: RPM's kernels end with their architecture and what kind they are
_RPM_KERNEL = re.compile(r"^\d[^-]*-[^+]*\.(?:x86_64|aarch64)(?=\+|$)")


def _dpkg_satisfies(version: str, operator: str, bound: str) -> bool:
    return bool(version) and _OPERATORS[operator](NativeVersion(version), NativeVersion(bound))


@dataclass(frozen=True)
class Order:
    """How a package system orders versions. `key` sorts them; `satisfies`: whether a version (empty: of a provision without one) stands in a relation
    (`<<` `<=` `=` `>=` `>>`) to a bound."""

    key: Callable[[str], Any]
    satisfies: Callable[[str, str, str], bool]


DPKG = Order(NativeVersion, _dpkg_satisfies)
RPM = Order(rpm_versions.evr, rpm_versions.satisfies)


def upstream(version: str) -> str:
    """`5:29.9.0-1~debian.13~trixie`, `3:29.9.0-1.el9` -> `29.9.0`: without epoch, revision and repacking mark."""
    bare = version.partition(":")[2] or version
    return _REPACKED.sub("", bare.rpartition("-")[0] or bare)


def is_range(pin: str) -> bool:
    """Whether a pin leaves the choice to lock_stack (`580.*`)."""
    return "*" in pin


def is_prerelease(version: str) -> bool:
    """Whether a package version is one before its release (`1.20.0~rc.1-1`)."""
    return _PRERELEASE.search(version) is not None


def kernel_flavour(release: str) -> str:
    """What a kernel release is beside its numbers: `6.12.117+deb13-cloud-amd64` -> `cloud-amd64`, `5.14.0-570.12.1.el9_6.aarch64+64k` -> `+64k`."""
    found = _RPM_KERNEL.match(release)
    return release[found.end() :] if found else re.sub(r"^\d[^-]*(-\d+)?-?", "", release)


def matches(pin: str, version: str) -> bool:
    """Whether a package version is what a pin means: the upstream version, the full package version, or a range over either without pre-releases."""
    if is_range(pin):
        return not is_prerelease(version) and any(fnmatchcase(text, pin) for text in (version, upstream(version)))
    return pin in (version, upstream(version))


def kernel_matches(pin: str, release: str) -> bool:
    """Whether a kernel release is what a pin means; `*` stops at a hyphen, so that `6.12.*-amd64` is no `6.12.117+deb13-rt-amd64`."""
    return re.fullmatch(re.escape(pin).replace(r"\*", "[^-]*"), release) is not None


def nearest(pin: str, versions: Iterable[str], key: Callable[[str], Any], count: int = 4) -> list[str]:
    """The versions around a pin that is not there, in their order, at most `count`."""
    there = sorted(set(versions), key=key)
    below = sum(key(version) < key(pin.replace("*", "0")) for version in there)
    start = max(0, min(below - count // 2, len(there) - count))
    return there[start : start + count]
