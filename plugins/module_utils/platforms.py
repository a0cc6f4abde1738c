# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether the roles can bring a stack to a node. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Where the roles install packages; elsewhere the collection probes and judges only.
SUPPORTED = ("debian", "ubuntu")
PARTS = ("distribution", "release", "arch")


def objection(node: Mapping[str, str], stack: Mapping[str, Any]) -> str | None:
    """Why a node (`distribution`, `release`, `arch`) cannot take this lock, in one sentence; None where it can."""
    wanted = (stack.get("pins") or {}).get("os") or {}
    seen, expected = (" ".join(str(side.get(part, "?")) for part in PARTS) for side in (node, wanted))
    if node["distribution"] not in SUPPORTED:
        return f"this node is {seen}; the roles install packages on {' and '.join(SUPPORTED)} only, elsewhere validate_nodes is what works"
    if seen != expected:
        return f"this node is {seen}, the lock of pool {stack.get('pool')} is for {expected}; move the node to a pool of its platform or pin another"
    return None
