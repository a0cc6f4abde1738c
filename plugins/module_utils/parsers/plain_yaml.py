# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The YAML that people write in Compose files -> Python values: a node's Python has no YAML. Pure.

Block and flow collections, quoted and block scalars, comments, anchors, aliases and merge keys; what else YAML can is an error.
All scalars stay text, as they are only looked at.
"""

from __future__ import annotations

import re
from typing import Any

_KEY = re.compile(r"""^("[^"]*"|'[^']*'|[^\s\[{&*!|>%@#"'][^#]*?|<<)\s*:(?:\s+(.*))?$""")
_COMMENT = re.compile(r"""^((?:[^'"#]|'[^']*'|"(?:\\.|[^"\\])*"|(?<=\S)#)*)(?:#.*)?$""")
_TOKEN = re.compile(r"""("(?:\\.|[^"\\])*"|'[^']*'|[\[\]{},]|:(?=\s|$)|[^\[\]{},:\s"'](?:[^\[\]{},:]|:(?!\s|$))*)""")
DEEPEST = 40


def load(text: str) -> Any:
    """The one document of a text; an error where it is not YAML of this kind."""
    return _Document(text).value()


class _Document:
    """Lines as (indent, content), read from the first to the last."""

    def __init__(self, text: str) -> None:
        plain = [line.rstrip() for line in text.expandtabs().splitlines() if not line.startswith(("---", "%"))]
        self.lines = [(len(line) - len(line.lstrip()), line.strip()) for line in plain if line.strip() and not line.lstrip().startswith("#")]
        self.anchors: dict[str, Any] = {}
        self.at = 0

    def value(self) -> Any:
        if not self.lines:
            return None
        found = self.block(self.lines[0][0], 0)
        if self.at < len(self.lines):
            raise ValueError("a line that belongs nowhere: " + self.lines[self.at][1])
        return found

    def block(self, indent: int, depth: int) -> Any:
        """The collection or scalar that begins at the current line."""
        if depth > DEEPEST:
            raise ValueError("nested too deep")
        content = self.lines[self.at][1]
        if content == "-" or content.startswith("- "):
            return self.sequence(indent, depth)
        if _KEY.match(_bare(content)):
            return self.mapping(indent, depth)
        self.at += 1
        return self.scalar(_bare(content))

    def here(self, indent: int) -> bool:
        return self.at < len(self.lines) and self.lines[self.at][0] == indent

    def sequence(self, indent: int, depth: int) -> list[Any]:
        found = []
        while self.here(indent) and (self.lines[self.at][1] == "-" or self.lines[self.at][1].startswith("- ")):
            rest = self.lines[self.at][1][1:].lstrip()
            if _KEY.match(_bare(rest)) or rest.startswith("- "):
                self.lines[self.at] = (indent + len(self.lines[self.at][1]) - len(rest), rest)
                found.append(self.block(self.lines[self.at][0], depth + 1))
            else:
                self.at += 1
                found.append(self.after(_bare(rest), indent, depth))
        return found

    def mapping(self, indent: int, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self.here(indent):
            match = _KEY.match(_bare(self.lines[self.at][1]))
            if not match:
                break
            self.at += 1
            value = self.after(match.group(2) or "", indent, depth)
            if match.group(1) == "<<":
                found = {**{key: item for one in (value if isinstance(value, list) else [value]) for key, item in one.items()}, **found}
            else:
                found[_unquoted(match.group(1))] = value
        return found

    def after(self, rest: str, indent: int, depth: int) -> Any:
        """What follows a key or a dash: on its line, or in the lines below."""
        if depth > DEEPEST:
            raise ValueError("nested too deep")
        anchor = re.match(r"&(\S+)\s*(.*)", rest)
        if anchor:
            self.anchors[anchor.group(1)] = value = self.after(anchor.group(2), indent, depth + 1)
            return value
        if re.fullmatch(r"[|>][-+\d]*", rest):
            return self.text(indent)
        if rest:
            return self.scalar(rest)
        below = self.lines[self.at] if self.at < len(self.lines) else (-1, "")
        if below[0] > indent or (below[0] == indent and below[1].startswith("- ")):
            return self.block(below[0], depth + 1)
        return None

    def text(self, indent: int) -> str:
        """A block scalar: all lines that are further in."""
        start = self.at
        while self.at < len(self.lines) and self.lines[self.at][0] > indent:
            self.at += 1
        return "\n".join(content for _indent, content in self.lines[start : self.at])

    def scalar(self, text: str) -> Any:
        if text.startswith("*"):
            return self.anchors[text[1:]]
        if text[:1] not in ("[", "{"):
            return _unquoted(text)
        while text.count("[") + text.count("{") > text.count("]") + text.count("}") and self.at < len(self.lines):
            text += " " + _bare(self.lines[self.at][1])
            self.at += 1
        return _flow(_TOKEN.findall(text), 0)


def _bare(content: str) -> str:
    """A line without its comment."""
    match = _COMMENT.match(content) if "#" in content else None
    return match.group(1).rstrip() if match else content


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _flow(tokens: list[str], depth: int) -> Any:
    """A flow collection; takes its tokens off the list."""
    if depth > DEEPEST:
        raise ValueError("nested too deep")
    first = tokens.pop(0)
    if first == "[":
        return _flow_sequence(tokens, depth)
    return _flow_mapping(tokens, depth) if first == "{" else _unquoted(first.strip())


def _flow_sequence(tokens: list[str], depth: int) -> list[Any]:
    found = []
    while tokens[0] != "]":
        if tokens[0] == ",":
            tokens.pop(0)
        else:
            found.append(_flow(tokens, depth + 1))
    tokens.pop(0)
    return found


def _flow_mapping(tokens: list[str], depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    while tokens[0] != "}":
        if tokens[0] == ",":
            tokens.pop(0)
            continue
        key = _unquoted(tokens.pop(0).strip())
        found[key] = None
        if tokens[0] == ":":
            tokens.pop(0)
            found[key] = _flow(tokens, depth + 1)
    tokens.pop(0)
    return found
