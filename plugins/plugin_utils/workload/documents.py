# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Files in, documents out; what cannot be read becomes one sentence and stops nothing else."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from ansible_collections.goldnode.gpu.plugins.plugin_utils.yaml_text import NOT_CONSTRUCTED, TextLoader, refuse_endless

SUFFIXES = (".yml", ".yaml", ".json")
LIMIT_BYTES = 8 << 20
_TEMPLATE = re.compile(r"\{\{-?\s*(?:\.|\$|include\b|template\b|if\b|range\b|with\b|toYaml\b)")


class Document(NamedTuple):
    """One YAML document that is a mapping, and its file as it was named."""

    file: str
    content: dict[str, Any]


class Unreadable(NamedTuple):
    """A file that could not be judged, and why, in one sentence."""

    file: str
    reason: str


def documents(place: Path) -> Iterator[Document | Unreadable]:
    """Every document of a file, or of each file below a directory."""
    paths = files(place)
    if not paths:
        yield Unreadable(str(place), f"no file that ends in {', '.join(SUFFIXES)}")
    for path in paths:
        yield from of_file(path, str(path.relative_to(place)) if place.is_dir() else path.name)


def files(place: Path) -> list[Path]:
    """The file itself, or the YAML and JSON files below a directory, hidden ones left out."""
    if not place.is_dir():
        return [place]
    found = (path for path in place.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    return sorted(path for path in found if not any(part.startswith(".") for part in path.relative_to(place).parts))


def of_file(path: Path, name: str) -> Iterator[Document | Unreadable]:
    """The documents of one file."""
    text = ""
    try:
        text = read(path)
        loaded = list(load(text))
    except yaml.YAMLError as error:
        yield Unreadable(name, why_not_yaml(text, error))
    except (*NOT_CONSTRUCTED, OSError, RecursionError) as error:
        yield Unreadable(name, UNRENDERED if _TEMPLATE.search(text) else " ".join(str(error).split()) or type(error).__name__)
    else:
        if _TEMPLATE.search(text):
            yield Unreadable(name, UNRENDERED)
            return
        yield from (Document(name, content) for content in loaded if isinstance(content, dict))


def load(text: str) -> Iterator[Any]:
    """The documents of a text; a key that stands twice is refused, as Compose and Kubernetes refuse it."""
    refuse_endless(text)
    loader = TextLoader(text)
    try:
        while loader.check_data():  # type: ignore[no-untyped-call]
            yield loader.get_data()
    finally:
        loader.dispose()
    if loader.twice:
        raise ValueError(f"the key {loader.twice[0]}, stands twice in one mapping")


UNRENDERED = "a template that was not rendered ({{ … }}): lint what helm template prints, or docker compose config"


def read(path: Path) -> str:
    """A file's text; a sentence where it is too large or not text."""
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):
        raise ValueError("not a regular file")
    size = about.st_size
    if size > LIMIT_BYTES:
        raise ValueError(f"{size >> 20} MiB, more than the {LIMIT_BYTES >> 20} MiB that a manifest may have")
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 text (byte {error.start})") from None


def why_not_yaml(text: str, error: yaml.YAMLError) -> str:
    """A template, or the parser's own words with the line."""
    if _TEMPLATE.search(text):
        return UNRENDERED
    mark = getattr(error, "problem_mark", None)
    where = f", line {mark.line + 1}" if mark else ""
    return f"not YAML: {getattr(error, 'problem', None) or 'cannot be parsed'}{where}"
