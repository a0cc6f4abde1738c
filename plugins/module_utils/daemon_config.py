# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Docker's daemon.json: merge, and what the daemon says about it. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError

# dockerd's own last word, in the order of how much it says; seen with Docker 26.1.5.
_DECIDING = (r"unable to configure the Docker daemon", r"failed to start daemon", r"level=(?:fatal|error)", r"\S")


def merge(present: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """`wanted` over `present`, mapping by mapping; whatever else `present` has stays."""
    both = {key: merge(present[key], value) if isinstance(value, Mapping) and isinstance(present.get(key), Mapping) else value for key, value in wanted.items()}
    return {**present, **both}


def merged_text(former: str, wanted: Mapping[str, Any], path: str) -> str:
    """The file with the wanted options in it; the former text, byte for byte, where it says them already.

    A former text that is no JSON mapping is refused: what its author meant cannot be kept.
    """
    try:
        present = json.loads(former) if former.strip() else {}
    except ValueError as problem:
        raise RefusedError(f"{path} is not JSON ({problem}); nothing was changed: repair it or remove it") from problem
    if not isinstance(present, dict):
        raise RefusedError(f"{path} holds {type(present).__name__}, not a JSON mapping; nothing was changed: repair it or remove it")
    merged = merge(present, wanted)
    return former if former and merged == present else json.dumps(merged, indent=4, sort_keys=True) + "\n"


def deciding_line(text: str) -> str:
    """The line of dockerd's output or journal that says why it does not run."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = (line for pattern in _DECIDING for line in reversed(lines) if re.search(pattern, line))
    return next(found, "it said nothing")
