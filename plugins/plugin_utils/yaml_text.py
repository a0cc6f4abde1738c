# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""YAML that anybody may have written: read within bounds of time and memory, odd values as text, keys that stand twice told."""

from __future__ import annotations

from typing import Any

import yaml

# What a constructor of PyYAML raises for a value that is not its tag's (`!!bool maybe`, `!!int ""`), beside YAMLError.
NOT_CONSTRUCTED = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError)
LIMIT_EVENTS = 1_000_000  # about 1 GiB of memory and 20 s; a bundle of a large node has 2,000
LARGE = 1 << 20  # characters from which on events are counted before anything is built
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
