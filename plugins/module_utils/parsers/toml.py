# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The part of TOML in which the container toolkit and containerd are configured: tables and `key = value`. Pure.

Python before 3.11 has no tomllib, and reports show excerpts that no strict parser takes.
"""

from __future__ import annotations

import re
from typing import Any, Dict, Tuple

Path = Tuple[str, ...]
Settings = Dict[Path, Any]

_KEY = r"(?:[\w-]+|\"[^\"\n]*\"|'[^'\n]*')"
_TABLE = re.compile(rf"^\s*\[\[?\s*({_KEY}(?:\s*\.\s*{_KEY})*)\s*\]\]?\s*(?:#.*)?$")
_PAIR = re.compile(rf"^\s*({_KEY}(?:\s*\.\s*{_KEY})*)\s*=\s*(.*)$")


def settings(text: str) -> Settings:
    """Path of table and key -> value (string, bool, number, list of strings); what is commented out is not there. ValueError where no line is TOML."""
    found: Settings = {}
    table: Path = ()
    lines = [line for line in _joined(text) if line.strip() and not line.lstrip().startswith("#")]
    if lines and not any(_TABLE.match(line) or _PAIR.match(line) for line in lines):
        raise ValueError("not TOML")
    for line in lines:
        heading, pair = _TABLE.match(line), _PAIR.match(line)
        if heading:
            table = _path(heading.group(1))
        elif pair:
            found[table + _path(pair.group(1))] = _value(pair.group(2).strip())
    return found


def faulty_line(text: str) -> str | None:
    """The first line of a whole file that is no TOML: neither table nor `key = value`, or a key without a value."""
    for line in _joined(text):
        pair = _PAIR.match(line)
        if line.strip() and not line.lstrip().startswith("#") and not (_TABLE.match(line) or (pair and pair.group(2).split("#")[0].strip())):
            return line.strip()
    return None


def setting(found: Settings, *path: str) -> Any:
    """The value at a path; an excerpt may have left the table's heading out, and then the bare key stands for it."""
    return found.get(path, found.get(path[-1:]))


def _joined(text: str) -> list[str]:
    """Lines, with an array that spans several in one."""
    lines: list[str] = []
    for line in text.splitlines():
        is_open = bool(lines) and "=" in lines[-1] and lines[-1].split("=", 1)[1].strip().startswith("[") and "]" not in lines[-1]
        if is_open and not _PAIR.match(line):
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    return lines


def _path(text: str) -> Path:
    return tuple(match.group(0).strip("\"'") for match in re.finditer(_KEY, text))


def _value(text: str) -> Any:
    quoted = re.match(r"\"([^\"]*)\"|'([^']*)'", text)
    if quoted:
        return next(part for part in quoted.groups() if part is not None)
    if text.startswith("["):
        return [one or other for one, other in re.findall(r"\"([^\"]*)\"|'([^']*)'", text)]
    word = text.split("#")[0].strip()
    return {"true": True, "false": False}.get(word, int(word) if word.isdigit() else word)
