# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""pins.yml and waivers.yml read from disk, and what check_pins leaves behind: the report and a readable page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.shape import read_mapping
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.check import Report, check, settled_report
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.model import NOTE, REFUSAL, WARNING, Statement
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.schema import DOCS, SCHEMA_RULE
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.waivers import KEY, Waiver, waivers

WAIVERS_FILE = "waivers.yml"
Result = dict[str, Any]


def check_file(path: Path, today: date) -> Report:
    """The report on a pins.yml, with the waivers of its pool beside it; a file that cannot be read is a refusal."""
    try:
        pins = _held(path, "goldnode_pins")
        given = read_waivers(path.parent / WAIVERS_FILE)
    except LockError as error:
        return settled_report([Statement(SCHEMA_RULE.id, REFUSAL, str(error), DOCS)], today, ())
    return check(pins, today, given)


def read_waivers(path: Path) -> list[Waiver]:
    """The waivers of a pool, none where it has no such file; `LockError` says what is not accepted."""
    if not path.exists():
        return []
    read, wrong = waivers(_held(path, KEY))
    if wrong:
        raise LockError(f"{path}: {'; '.join(wrong)}.")
    return read


def _held(path: Path, key: str) -> Any:
    """What a file holds; YAML's own conversions (a day that is none, a number without end) fail in their own ways."""
    try:
        return read_mapping(path, key)
    except (ValueError, RecursionError, TypeError) as error:
        raise LockError(f"{path} cannot be read as YAML: {' '.join(str(error).split())}.") from None


def result(report: Report, pins_file: str, today: date) -> Result:
    """What result.json holds."""
    head = report.as_dict()
    return {"schema": head.pop("schema"), "outcome": head.pop("outcome"), "pins_file": pins_file, "date": today.isoformat(), **head}


def page(found: Mapping[str, Any], place: str) -> list[str]:
    """The readable page: refusals, warnings and waivers as blocks, notes a line each, one closing line."""
    blocks = [line for one in (*found["refusals"], *found["warnings"]) for line in (*_block(one), "")]
    waived = [f"waived until {one['waiver']['expires']} · {one['rule']}: {one['reason']} ({one['waiver']['reason']})" for one in found["waived"]]
    notes = [f"note · {one['rule']}: {one['reason']}" for one in found["notes"]]
    extra = [*waived, *notes]
    return [*blocks, *extra, *([""] if extra else []), closing(found, place)]


def _block(one: Mapping[str, Any]) -> Iterator[str]:
    nearest = one["nearest"] or {}
    words = {"reason": one["reason"], "nearest": nearest.get("words", ""), "source": one["source"], "page": f"docs/pins/{one['rule']}.md"}
    yield f"{one['severity'].upper() if one['severity'] == REFUSAL else one['severity']} · {one['rule']} · {one['place'] or 'the file'}"
    yield from (f"  {label:<8} {' '.join(text.splitlines())}" for label, text in words.items() if text)


def closing(found: Mapping[str, Any], place: str) -> str:
    """The sentence that says how it went and where to read on."""
    counts = [(len(found[f"{name}s"]), name) for name in (REFUSAL, WARNING, NOTE)]
    said = ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for count, name in counts)
    return f"{found['outcome']}: {said}, {len(found['waived'])} waived. Report: {place}"


def write_report(found: Result, place: Path) -> Sequence[str]:
    """Leave the report; the page's lines."""
    place.parent.mkdir(parents=True, exist_ok=True)
    write_text(place, json.dumps(found, indent=1) + "\n")
    return page(found, str(place))


def admitted(pins: Mapping[str, Any], given: Sequence[Waiver], today: date, where: str) -> Report:
    """The report on pins that nothing is against; `LockError` names all that is refused.

    `given`: the pool's waivers; `where`: how the sentence calls the pins.
    """
    report = check(pins, today, given)
    refused = [f"{one.reason} ({one.rule}; {(one.nearest or {}).get('words', '')})" for one in report.of(REFUSAL)]
    if refused:
        raise LockError(f"{where}: check_pins refuses this set: {'; '.join(refused)}.")
    return report
