# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether the roles can bring a stack to a node. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# os-release's ID, as pins.yml has it too -> what installs packages there; elsewhere the collection probes and judges only.
# os-release(5) of Amazon Linux 2023 says `amzn`, pins.yml says `amazon`.
MANAGERS = {"debian": "apt", "ubuntu": "apt", "rhel": "dnf", "rocky": "dnf", "almalinux": "dnf", "amazon": "dnf"}
SUPPORTED = tuple(MANAGERS)
_IDS = {"amzn": "amazon"}
PARTS = ("distribution", "release", "arch")


def distribution_of(os_release_id: str) -> str:
    """The distribution as pins.yml names it, of an `ID` of os-release."""
    return _IDS.get(os_release_id, os_release_id)


def manager_of(stack: Mapping[str, Any]) -> str:
    """`apt` or `dnf`: what installs the packages of this lock, for which `objection` had none."""
    return MANAGERS[stack["pins"]["os"]["distribution"]]


def objection(node: Mapping[str, str], stack: Mapping[str, Any]) -> str | None:
    """Why a node (`distribution`, `release`, `arch`) cannot take this lock, in one sentence; None where it can."""
    wanted = (stack.get("pins") or {}).get("os") or {}
    seen, expected = (" ".join(str(side.get(part, "?")) for part in PARTS) for side in (node, wanted))
    if node["distribution"] not in SUPPORTED:
        return f"this node is {seen}; the roles install packages on {', '.join(SUPPORTED)} only, elsewhere validate_nodes is what works"
    if seen != expected:
        return f"this node is {seen}, the lock of pool {stack.get('pool')} is for {expected}; move the node to a pool of its platform or pin another"
    return None
