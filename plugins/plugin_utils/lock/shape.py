# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""One sentence for each place where a mapping that a person wrote differs from its schema."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.yaml_text import read_strict
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

LONGEST = 200  # characters of a value in a sentence
_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxother = 3, LONGEST, LONGEST


def read_mapping(path: Path, key: str) -> Any:
    """What a YAML file holds under its one key; anything else in it is an error."""
    try:
        document = read_strict(path)
    except FileNotFoundError:
        raise LockError(f"{path} is not there; it must hold the mapping {key} (docs/pins_and_locks.md).") from None
    except (OSError, ValueError) as error:
        raise LockError(f"{path} cannot be read as YAML: {' '.join(str(error).split())}.") from None
    if not isinstance(document, Mapping) or key not in document:
        raise LockError(f"{path} must hold one mapping, {key}; it is not in it.")
    others = sorted(str(name) for name in document if name != key)
    if others:
        raise LockError(f"{path} must hold {key} and nothing else; it also has {', '.join(others)}.")
    return document[key]


def sentences(value: Any, schema: Mapping[str, Any]) -> list[str]:
    """What is wrong and what is accepted, one sentence each, in the order of the keys; every subschema has a `description`."""
    errors = sorted(Draft202012Validator(schema).iter_errors(value), key=lambda error: ([str(part) for part in error.absolute_path], error.message))
    return list(dict.fromkeys(sentence for error in errors for sentence in _sentences(error)))


def _sentences(error: ValidationError) -> Iterator[str]:
    place = dotted(error.absolute_path)
    schema, instance, wanted = cast("Any", error.schema), cast("Any", error.instance), cast("Any", error.validator_value)
    if error.validator == "required":
        for key in wanted:
            if key not in instance:
                yield f"{_join(place, key)} is missing; accepted: {schema['properties'][key]['description']}"
    elif error.validator == "additionalProperties":
        for key in sorted(set(instance) - set(schema["properties"]), key=str):
            yield f"unknown key {_join(place, str(key))}; accepted: {', '.join(sorted(schema['properties']))}"
    else:
        yield f"{place or 'the whole'} is {shown(instance)}; accepted: {schema['description']}"


def dotted(path: Any) -> str:
    """`gpus[0].count` from the parts of a path."""
    text = ""
    for part in path:
        text = f"{text}[{part}]" if isinstance(part, int) else _join(text, part)
    return text


def _join(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def shown(value: Any) -> str:
    """A value as an error sentence shows it: text in quotes, a number said to be one."""
    if isinstance(value, str):
        return f'"{_one_line(value)}"'
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"the number {value}"
    return "empty" if value is None else _one_line(_SHORT.repr(value))


def _one_line(text: str) -> str:
    """What a terminal shows as it is, and not too much of it."""
    printable = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text[:LONGEST])
    return printable if len(text) <= LONGEST else f"{printable}…"
