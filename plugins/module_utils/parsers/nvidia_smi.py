# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""nvidia-smi's table and its log (`-q`, `-q -x`) -> facts. Pure; forms from driver 390 to 620, whole or as excerpts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Mapping

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import needles
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.nvidia import pci_address

# "|   7  NVIDIA A100 80G...  On   | 00000000:D6:00.0 Off |                 ERR! |"
_ROW = re.compile(r"^\|\s*(\d+)\s+(.+?)\s*\|\s*([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)\s+\S*\s*\|\s*(\S+)\s*\|")
_TAG = re.compile(r"<(/?)([A-Za-z][\w.-]*)(?![\w.-])([^<>]*)>([^<]*)")


@dataclass(frozen=True)
class Row:
    """A GPU of the table. `errors`: how many fields read `ERR!`; `ecc` as printed (a count, `Off`, `N/A`); persistence `On`, `Off` or None."""

    index: int
    name: str
    pci: str
    persistence: str | None
    ecc: str
    errors: int


@dataclass(frozen=True)
class GpuLog:
    """A GPU of the log: path of words in lower case -> value; text and XML give nearly the same paths. `pci` is empty where only a part was quoted."""

    pci: str
    values: Mapping[str, str]

    def value(self, pattern: str) -> str | None:
        """The first value whose path has the pattern."""
        found = needles.prepare(pattern).pattern.search
        return next((value for path, value in self.values.items() if found(path)), None)

    def all(self, pattern: str) -> dict[str, str]:
        """Every value whose path has the pattern."""
        found = needles.prepare(pattern).pattern.search
        return {path: value for path, value in self.values.items() if found(path)}


def table(text: str) -> tuple[Row, ...]:
    """The GPUs of the table; each spans two or three lines."""
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if _ROW.match(line)]
    return tuple(_row(lines[start : min([start + 3, *(later for later in starts if later > start)])]) for start in starts)


def _row(lines: list[str]) -> Row:
    index, name, address, ecc = (_ROW.match(lines[0]) or re.match("", "")).groups()  # type: ignore[union-attr]
    words = name.split()
    persistence = words[-1] if words[-1] in ("On", "Off") else None
    own = [lines[0], *(line for line in lines[1:] if line.startswith("|"))]
    return Row(int(index), " ".join(words[:-1] if persistence else words), pci_address(address), persistence, ecc, "\n".join(own).count("ERR!"))


def log(text: str) -> tuple[GpuLog, ...]:
    """Every GPU of `nvidia-smi -q`, as text or XML."""
    return _xml_log(text) if re.search(r"<\w+>", text) else _text_log(text)


def _text_log(text: str) -> tuple[GpuLog, ...]:
    found: dict[str, dict[str, str]] = {}
    gpu, path = "", []  # type: tuple[str, list[tuple[int, str]]]
    for line in text.splitlines():
        heading = re.match(r"^GPU ([0-9A-Fa-f]+:\S+)", line)
        if heading:
            gpu, path = pci_address(heading.group(1)), []
            continue
        depth, words = len(line) - len(line.lstrip()), line.strip().lower()
        if not words or words.startswith("="):
            continue
        path = [(at, name) for at, name in path if at < depth]
        key, colon, _rest = words.partition(" : ") if " : " in words else words.partition(": ")
        if colon:
            found.setdefault(gpu, {})["/".join([*(name for _at, name in path), key.strip()])] = line.split(colon, 1)[1].strip()
        else:
            path.append((depth, words.rstrip(":").strip()))
    return _logs(found)


def _xml_log(text: str) -> tuple[GpuLog, ...]:
    found: dict[str, dict[str, str]] = {}
    gpu, path = "", []  # type: tuple[str, list[str]]
    for closing, tag, attributes, value in _TAG.findall(text):
        if closing:
            path = path[: -1 - path[::-1].index(tag)] if tag in path else path
        elif not attributes.endswith("/"):
            gpu = pci_address(attributes.split('"')[1]) if tag == "gpu" and attributes.count('"') > 1 else gpu
            path.append(tag)
            if value.strip():
                found.setdefault(gpu, {})["/".join(name.replace("_", " ") for name in path if name not in ("nvidia_smi_log", "gpu"))] = value.strip()
    return _logs(found)


def _logs(found: dict[str, dict[str, str]]) -> tuple[GpuLog, ...]:
    """What stands before the first GPU belongs to none of them, unless nothing else is there."""
    named = {gpu: values for gpu, values in found.items() if gpu}
    return tuple(GpuLog(gpu, values) for gpu, values in (named or found).items())


def csv(text: str) -> tuple[dict[str, str], ...]:
    """The rows of `--query-gpu=… --format=csv`, whatever was asked for, by heading without unit."""
    lines = [[cell.strip() for cell in line.split(",")] for line in text.splitlines() if line.strip()]
    headings = [heading.partition("[")[0].rstrip() for heading in lines[0]] if lines else []
    return tuple(dict(zip(headings, cells)) for cells in lines[1:])
