# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Versions of toolkit and engines, in whatever form they are printed, as numbers that can be compared. Pure."""

from __future__ import annotations

import re
from typing import Tuple

Numbers = Tuple[int, ...]


def numbers(text: str) -> Numbers | None:
    """The first dotted number: `4.9.3+ds1` -> (4, 9, 3), `v1.7.24~ds1` -> (1, 7, 24), `1.18.x` -> (1, 18); None where there is none."""
    match = re.search(r"(?<![\w.])v?(\d+(?:\.\d+)+)", text) or re.search(r"(?<![\w.])v?(\d+)", text)
    return tuple(int(part) for part in match.group(1).split(".")) if match else None


def at_least(version: str | None, floor: Numbers) -> bool | None:
    """Whether a version is a floor or newer; None where it is not known. A version with fewer parts (`1.18.x`) counts as its first release."""
    found = numbers(version) if version else None
    return None if found is None else found + (0,) * (len(floor) - len(found)) >= floor
