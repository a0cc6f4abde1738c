# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The raw bundles of a slot's spool: where they lie, how they are read and judged."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import canonical, digest_of, file_digest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.clock import time_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.results import Answer
from jsonschema import Draft202012Validator

SCHEMA = "goldnode.evidence/v1"
RETRY = "retry"
TIMES = ("captured_at", "clock")

# docs/evidence.md, as far as it decides whose answer this is; the judge takes anything in the probes.
SHAPE = Draft202012Validator(
    {
        "type": "object",
        "required": ["schema"],
        "properties": {
            "schema": {"const": SCHEMA},
            **{key: {"type": ["string", "null"]} for key in ("nonce", "release", "boot_id", *TIMES)},
            "runs": {"type": ["array", "null"], "items": {"type": "object"}},
        },
    }
)

# (evidence, wanted stack) -> the judgement as a mapping: module_utils.judge
Judge = Callable[[Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any]]


def bundle_paths(spool: Path, node: str) -> list[Path]:
    """The bundles that a node left in a slot's spool: its first, and that of its retry."""
    return [path for path in (spool / f"{node}.evidence.json", spool / RETRY / f"{node}.evidence.json") if path.is_file()]


def stored(paths: list[Path]) -> list[dict[str, str]]:
    """The bundles as the ledger holds them."""
    return [{"path": str(path), "digest": file_digest(path)} for path in paths]


def answers_of(evidence: list[dict[str, str]], stack: Mapping[str, Any], judge: Judge) -> list[Answer]:
    """What a node's stored bundles say; of none, that it is missing."""
    return [_answer(record, stack, judge) for record in evidence] or [Answer(missing="no evidence: unreachable, or its check did not run")]


def _answer(record: Mapping[str, str], stack: Mapping[str, Any], judge: Judge) -> Answer:
    path = Path(record["path"])
    if not path.is_file() or file_digest(path) != record["digest"]:
        return Answer(error=f"{path} is no longer the bundle that the slot was closed with")
    try:
        bundle = json.loads(path.read_bytes())
    except Exception as error:  # not UTF-8, not JSON, nested too deep: whatever a node wrote
        return Answer(error=f"{path} is no JSON: {type(error).__name__}: {error}")
    return answer_of(bundle, str(path), stack, judge)


def answer_of(bundle: Any, name: str, stack: Mapping[str, Any], judge: Judge) -> Answer:
    """What a bundle says; one of another shape, or that the judge trips over, is an error of ours that calls it by `name`."""
    try:
        if problem := _problem(bundle):
            return Answer(error=f"{name} cannot be judged: {problem}")
        return Answer(bundle, dict(judge(bundle, stack)))
    except Exception as error:  # whatever a judge of unknown evidence trips over is our own fault: the result ERROR, never a traceback
        return Answer(error=f"{name} could not be judged: {type(error).__name__}: {error}")


def _problem(bundle: Any) -> str | None:
    """Why the fields by which a bundle is taken for an answer cannot be read; None if they can."""
    canonical(bundle)  # the ledger holds UTF-8: a lone surrogate is no text
    if error := next(SHAPE.iter_errors(bundle), None):
        return f"{'.'.join(map(str, error.absolute_path)) or 'the bundle'}: {error.message:.120}"
    return next((f"{name} is {bundle[name]!r:.60}, which is no time" for name in TIMES if bundle.get(name) and not _is_time(bundle[name])), None)


def _is_time(text: str) -> bool:
    try:
        time_of(text)
    except (ValueError, OverflowError):
        return False
    return True


def keep(folder: Path, node: str, bundle: Mapping[str, Any]) -> Path:
    """Writes a bundle that came as a value under the digest of its content, and returns its path."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{node}.{digest_of(bundle).removeprefix('sha256:')[:16]}.evidence.json"
    write_text(path, canonical(bundle).decode())
    return path
