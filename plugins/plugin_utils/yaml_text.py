# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""YAML that anybody may have written: read within bounds of time and memory, odd values as text, keys that stand twice told."""

from __future__ import annotations

import math
import stat
from itertools import chain
from pathlib import Path
from typing import Any

import yaml

# What a constructor of PyYAML raises for a value that is not its tag's (`!!bool maybe`, `!!int ""`), beside YAMLError.
NOT_CONSTRUCTED = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError)
LIMIT_EVENTS = 1_000_000  # about 1 GiB of memory and 20 s; a bundle of a large node has 2,000
LARGE = 1 << 20  # characters from which on events are counted before anything is built
LARGEST_FILE = 1 << 24  # bytes; a lock of a large pool has 100,000
LONGEST_NUMBER = 100  # digits; Python refuses to print one of more than 4300


class TextLoader(yaml.CSafeLoader):
    """The safe loader; a number of hundreds of digits stays text. `twice` names the keys that stand twice in a mapping."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self.twice: list[str] = []

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """As the safe loader, which takes the last of two."""
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode) and key.value != "<<"]
        if len(keys) > len(set(keys)):
            self.twice += sorted({f"{key}, line {node.start_mark.line + 1}" for key in keys if keys.count(key) > 1})
        return super().construct_mapping(node, deep)

    def construct_number(self, node: yaml.ScalarNode) -> Any:
        """A number, or its text where nobody means one."""
        if len(node.value) > LONGEST_NUMBER:
            return node.value
        return self.construct_yaml_float(node) if node.tag.endswith(":float") else self.construct_yaml_int(node)


for kind in ("int", "float"):
    TextLoader.add_constructor(f"tag:yaml.org,2002:{kind}", TextLoader.construct_number)


def refuse_endless(text: str) -> None:
    """Raises ValueError for a text whose many small values would fill the memory."""
    if len(text) < LARGE:
        return
    for number, _event in enumerate(yaml.parse(text, yaml.CSafeLoader)):
        if number > LIMIT_EVENTS:
            raise ValueError(f"it has more than {LIMIT_EVENTS:,} values; cut it to what tells of the fault")


def read_regular(path: Path, limit: int, advice: str = "") -> bytes:
    """A file of at most `limit` bytes; ValueError for what is none or is larger (with the advice), OSError where it cannot be read.

    A FIFO or a device might never end.
    """
    if "\0" in str(path):
        raise ValueError("its name holds a NUL, which no file can")
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):
        raise ValueError("it is not a regular file")
    if about.st_size > limit:
        raise ValueError(f"it has {about.st_size >> 20} MiB; at most {limit >> 20} MiB are read{advice}")
    return path.read_bytes()


def load_single(loader: TextLoader) -> Any:
    """The one document of a loader's text, its `twice` filled; what PyYAML raises where there is none or more than one."""
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def weight(value: Any, known: dict[int, float] | None = None) -> float:
    """About how many bytes a value has when every alias is written out; without end for one that holds itself."""
    known = {} if known is None else known
    if isinstance(value, str):
        return len(value)
    if not isinstance(value, (dict, list)):
        return 16
    if id(value) not in known:
        known[id(value)] = math.inf
        parts = chain(value, value.values()) if isinstance(value, dict) else value
        known[id(value)] = 64 + sum(weight(part, known) for part in parts)
    return known[id(value)]


def read_strict(path: Path) -> Any:
    """What a YAML file holds that people review: a regular file, no key twice, aliases within bounds.

    ValueError says what is wrong with it, OSError that it cannot be read.
    """
    try:
        text = read_regular(path, LARGEST_FILE).decode("utf-8")
        refuse_endless(text)
        loader = TextLoader(text)
        value = load_single(loader)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except (yaml.YAMLError, *NOT_CONSTRUCTED) as error:
        raise ValueError(" ".join(str(error).split())) from None
    if loader.twice:
        raise ValueError(f"a key stands twice: {'; '.join(loader.twice)}")
    if weight(value) > LARGEST_FILE:
        raise ValueError(f"its aliases stand for more than {LARGEST_FILE >> 20} MiB")
    return value
