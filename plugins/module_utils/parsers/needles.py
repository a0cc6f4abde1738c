# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Searching many patterns in the same texts: a pattern is tried only where the words are without which it cannot match. Pure.

A search that ignores case costs a hundred times what `in` costs, and nearly all rules look for what nearly no node says.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, FrozenSet, Iterable, NamedTuple

try:  # Python 3.11 renamed it
    from re import _parser  # type: ignore[attr-defined]
except ImportError:
    import sre_parse as _parser

# Sets of words in lower case, of which a match has at least one set whole. An empty set: that cannot be told.
Alternatives = FrozenSet[FrozenSet[str]]

# More sets than this cost more to look for than they spare.
_MOST = 16
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


class Prepared(NamedTuple):
    """A compiled pattern, and the words of `Alternatives`, the longest of each set first, since it is the rarest."""

    pattern: re.Pattern[str]
    alternatives: tuple[tuple[str, ...], ...]


def search(pattern: str, text: str) -> re.Match[str] | None:
    """`re.search` without regard to case."""
    prepared = prepare(pattern)
    return prepared.pattern.search(text) if may_match(prepared, lowered(text)) else None


def lines(pattern: str, text: str) -> list[str]:
    """The lines that have the pattern, without regard to case."""
    prepared = prepare(pattern)
    return [line for line in text.splitlines() if may_match(prepared, line.lower()) and prepared.pattern.search(line)]


def may_match(prepared: Prepared, lower: str) -> bool:
    """Whether a text in lower case holds what the pattern needs."""
    for words in prepared.alternatives:
        for word in words:
            if word not in lower:
                break
        else:
            return True
    return False


@lru_cache(maxsize=None)
def prepare(pattern: str) -> Prepared:
    """Worked out once: re's own cache is smaller than the number of all rules' patterns."""
    needed = _needed(_parser.parse(pattern, re.IGNORECASE))
    return Prepared(re.compile(pattern, re.IGNORECASE), tuple(sorted(tuple(sorted(words, key=lambda word: (-len(word), word))) for words in needed)))


@lru_cache(maxsize=64)
def lowered(text: str) -> str:
    """The few texts of one bundle in which many patterns are searched."""
    return text.lower()


def _needed(tree: Iterable[tuple[Any, Any]]) -> Alternatives:
    """What all parts of a sequence need together, as far as that stays few."""
    runs, parts = [""], []
    for operation, value in tree:
        if str(operation) == "LITERAL":
            runs[-1] += chr(value).lower()
        else:
            runs.append("")
            parts.append(_inner(str(operation), value))
    needed = frozenset([_telling(runs)])
    for part in sorted(parts, key=_weight, reverse=True):
        both = frozenset(_telling([*one, *other]) for one in needed for other in part)
        needed = both if len(both) <= _MOST else max(needed, part, key=_weight)
    return needed


def _inner(operation: str, value: Any) -> Alternatives:
    """What a part with parts of its own needs: of a branch one of its alternatives, of what may be missing nothing."""
    if operation == "SUBPATTERN":
        return _needed(value[-1])
    if operation in _REPEATS and value[0] > 0:
        return _needed(value[2])
    if operation == "BRANCH":
        return frozenset().union(*(_needed(each) for each in value[1]))
    return frozenset([frozenset()])


def _telling(words: Iterable[str]) -> frozenset[str]:
    """The words that are no part of another; single letters tell nothing beside longer ones."""
    longest = max(map(len, words), default=0)
    found = {word for word in words if len(word) > 1 or len(word) == longest == 1}
    return frozenset(word for word in found if not any(word in other for other in found - {word}))


def _weight(needed: Alternatives) -> int:
    """How long the word is that must at least be there."""
    return min(max(map(len, words), default=0) for words in needed)
