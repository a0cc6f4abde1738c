# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""RPM's order of versions, by its rules (rpm-version(7); `tests/rpmvercmp.at` of RPM is the table of our tests). Pure.

Of our own, since PyPI's ports (rpm-vercmp 0.1.2 of 2018) know no `^`, and RPM's bindings belong to the system's Python, not to Ansible's.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

Segment = tuple[int, int, str]
_SEGMENT = re.compile(r"[0-9]+|[A-Za-z]+|[~^]")
# Where two texts first differ: `~` is before the end of the shorter one, `^` and letters are after it, numbers are after letters.
_TILDE, _END, _CARET, _LETTERS, _NUMBER = range(5)


class Evr(NamedTuple):
    """`epoch:version-release`, each in the form that sorts; no epoch is epoch 0."""

    epoch: tuple[Segment, ...]
    version: tuple[Segment, ...]
    release: tuple[Segment, ...]


@lru_cache(8192)
def evr(text: str) -> Evr:
    """The sort key of a version as a repository has it (`3:580.159.03-1.el9`)."""
    epoch, version, release = split(text)
    return Evr(_segments(epoch or "0"), _segments(version), _segments(release))


def split(text: str) -> tuple[str, str, str]:
    """Epoch, version and release; empty where there is none. A version has no hyphen."""
    epoch, colon, rest = text.rpartition(":")
    version, _, release = rest.partition("-")
    return epoch if colon else "", version, release


def satisfies(version: str, operator: str, bound: str) -> bool:
    """Whether `version` stands in relation to `bound`; a release that one of the two lacks does not count, and a provision without version meets any bound."""
    if not version:
        return True
    one, other = evr(version), evr(bound)
    if not (split(version)[2] and split(bound)[2]):
        one, other = one._replace(release=()), other._replace(release=())
    return {"<<": one < other, "<=": one <= other, "=": one == other, ">=": one >= other, ">>": one > other}[operator]


def _segments(text: str) -> tuple[Segment, ...]:
    return (*(_segment(part) for part in _SEGMENT.findall(text)), (_END, 0, ""))


def _segment(part: str) -> Segment:
    if part in "~^":
        return (_TILDE if part == "~" else _CARET, 0, "")
    if part[0].isdigit():
        number = part.lstrip("0")
        return (_NUMBER, len(number), number)
    return (_LETTERS, 0, part)
