# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How a cause quotes what a tool said."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import Message

LONGEST = 240


def quote(said: tuple[Message, re.Match[str]]) -> str:
    """The words that a pattern found, on one line, without the full stop that the sentence around them brings."""
    words = " ".join(said[1].group(0).split()).rstrip(" .:,;")
    return words if len(words) <= LONGEST else words[:LONGEST] + "…"
