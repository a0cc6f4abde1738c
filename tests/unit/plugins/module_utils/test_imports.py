"""module_utils imports on Python 3.8, the oldest that ansible-core 2.19 has on a node: no generic of its builtins or of collections.abc at run time."""

import ast
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[4] / "plugins" / "module_utils"
FILES = sorted(FOLDER.rglob("*.py"))
BUILTINS = {"dict", "frozenset", "list", "set", "tuple", "type"}


def annotations(tree):
    """All nodes below annotations, which `from __future__ import annotations` leaves as text."""
    kinds = {ast.arg: "annotation", ast.AnnAssign: "annotation", ast.FunctionDef: "returns"}
    found = (getattr(node, kinds[type(node)]) for node in ast.walk(tree) if type(node) in kinds)
    return {id(below) for one in found if one for below in ast.walk(one)}


def generics(text):
    tree = ast.parse(text)
    abstract = {
        name.asname or name.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "collections.abc" for name in node.names
    }
    as_text = annotations(tree)
    subscripts = (node for node in ast.walk(tree) if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and id(node) not in as_text)
    return [f"{node.value.id}, line {node.lineno}" for node in subscripts if node.value.id in BUILTINS | abstract]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_no_generic_is_made_at_run_time_that_python_3_8_does_not_have(path):
    assert generics(path.read_text()) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from collections.abc import Callable\nSmi = Callable[..., str]", ["Callable, line 2"]),
        ("Numbers = tuple[int, ...]", ["tuple, line 1"]),
        ("from typing import Callable, Dict\nSmi = Callable[..., Dict[str, int]]", []),
        ("from collections.abc import Mapping\ndef f(a: Mapping[str, int]) -> list[int]:\n    b: dict[str, int] = {}", []),
    ],
)
def test_what_python_3_8_refuses_is_found(text, found):
    assert generics(text) == found
