# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Searching many patterns in the same texts: a pattern is tried only where the words are without which it cannot match. Pure.

A search that ignores case costs a hundred times what `in` costs, and nearly all rules look for what nearly no node says.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Iterable, NamedTuple

try:  # Python 3.11 renamed it
    from re import _parser  # type: ignore[attr-defined]
except ImportError:
    import sre_parse as _parser

REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


class Prepared(NamedTuple):
    """A compiled pattern, and words in lower case of which each of its matches holds one; empty where that cannot be told."""

    pattern: re.Pattern[str]
    words: frozenset[str]


def search(pattern: str, text: str) -> re.Match[str] | None:
    """`re.search` without regard to case."""
    prepared = prepare(pattern)
    return prepared.pattern.search(text) if may_match(prepared, lowered(text)) else None


def may_match(prepared: Prepared, lower: str) -> bool:
    """Whether a text in lower case holds what the pattern needs."""
    for word in prepared.words:
        if word in lower:
            return True
    return not prepared.words


@lru_cache(maxsize=None)
def prepare(pattern: str) -> Prepared:
    """Worked out once: re's own cache is smaller than the number of all rules' patterns."""
    return Prepared(re.compile(pattern, re.IGNORECASE), _words(_parser.parse(pattern, re.IGNORECASE)))


@lru_cache(maxsize=64)
def lowered(text: str) -> str:
    """The few texts of one bundle in which many patterns are searched."""
    return text.lower()


def _words(tree: Iterable[tuple[Any, Any]]) -> frozenset[str]:
    """Of all parts that a match must have, the one with the longest words."""
    found: list[frozenset[str]] = []
    run = ""
    for operation, value in [*tree, (None, None)]:
        if str(operation) == "LITERAL":
            run += chr(value).lower()
            continue
        found += [frozenset([run])] if run else []
        run = ""
        found.append(_inner(str(operation), value))
    return max(found, key=lambda words: min(map(len, words), default=0))


def _inner(operation: str, value: Any) -> frozenset[str]:
    """The words of a part with parts of its own: of a branch those of each alternative, of what may be missing none."""
    if operation == "SUBPATTERN":
        return _words(value[-1])
    if operation in REPEATS and value[0] > 0:
        return _words(value[2])
    if operation == "BRANCH":
        alternatives = [_words(each) for each in value[1]]
        return frozenset().union(*alternatives) if all(alternatives) else frozenset()
    return frozenset()
