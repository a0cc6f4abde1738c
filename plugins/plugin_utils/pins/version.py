# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A version as it was pinned: its numbers to compare, and whose package it says that it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge import driver_kernels

Numbers = tuple[int, ...]
_EPOCH = re.compile(r"^\d+:")
# What comes after the numbers in a package of a distribution's own.
_REVISIONS = {
    "debian": re.compile(r"\+deb\d+u\d|~deb\d+u\d|dfsg|[~+]ds\d"),
    "ubuntu": re.compile(r"-\d+[\w.~+]*ubuntu\d"),
    "rhel": re.compile(r"\.el\d"),
    "amazon": re.compile(r"\.amzn\d"),
    "sles": re.compile(r"-(?:bp|lp)?1[56]\d{4}\."),
}
# docker-ce names the distribution that it is built for; Microsoft's Moby packages likewise. Neither is the distribution's.
_BUILT_FOR = re.compile(r"~(?:debian|ubuntu)\.|^\d+:.*\.el\d|-ubuntu\d\d\.\d\du\d")

# The tables' versions are compared again and again while a nearest change is looked for.
number = lru_cache(4096)(driver_kernels.number)


@dataclass(frozen=True)
class Version:
    """`text` is what was pinned; `numbers` its upstream numbers; a range has those of the highest known release that it means."""

    text: str
    numbers: Numbers
    is_range: bool = False

    def is_of(self, family: str) -> bool:
        """Whether its revision is that of a package of a distribution's own; an upstream version has none."""
        return bool(_REVISIONS[family].search(self.text)) and not _BUILT_FOR.search(self.text)

    @property
    def upstream(self) -> str:
        """The upstream version without epoch and revision; `0` where there are no numbers."""
        found = re.match(r"[\d.]*\d", _EPOCH.sub("", self.text))
        return found.group() if found else "0"

    def before(self, other: str) -> bool:
        """Whether it is older than another upstream version."""
        return self.numbers < number(other)

    def __str__(self) -> str:
        return self.text


def version(text: str, known: Iterable[str] = ()) -> Version:
    """A pinned version; `known`: the releases among which a range chooses the highest."""
    if "*" not in text:
        return Version(text, number(_EPOCH.sub("", text)))
    meant = [one for one in known if fnmatchcase(one, text)]
    highest = max(map(number, meant), default=(*number(text.split("*")[0]), 9999))
    return Version(text, highest, is_range=True)
