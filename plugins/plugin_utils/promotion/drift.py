# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Where a node differs from its release: the installed set against the lock, the running kernel against the pin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def differences(evidence: Mapping[str, Any], stack: Mapping[str, Any]) -> tuple[str, ...]:
    """One sentence for each difference. Not looked at is not a difference."""
    return (*_kernel(evidence, stack), *_packages(evidence, stack))


def _kernel(evidence: Mapping[str, Any], stack: Mapping[str, Any]) -> list[str]:
    running, wanted = _text(evidence, "kernel_release").strip(), stack["pins"]["kernel"]["version"]
    return [f"kernel {running} runs, {wanted} is locked"] if running and running != wanted else []


def _packages(evidence: Mapping[str, Any], stack: Mapping[str, Any]) -> list[str]:
    installed = installed_packages(_text(evidence, "dpkg_l"))
    if not installed:
        return []
    return [
        f"package {package['name']} is {installed.get(package['name'], 'absent')}, {package['version']} is locked"
        for package in stack["packages"]
        if installed.get(package["name"]) != package["version"]
    ]


def installed_packages(listing: str) -> dict[str, str]:
    """Name to version of what `dpkg -l` calls installed (held or not)."""
    rows = [line.split() for line in listing.splitlines()]
    return {row[1].split(":")[0]: row[2] for row in rows if len(row) > 2 and row[0] in ("ii", "hi")}


def _text(evidence: Mapping[str, Any], probe: str) -> str:
    value = evidence.get("probes", {}).get(probe, "")
    return value if isinstance(value, str) else str(value.get("stdout", value.get("content", "")))
