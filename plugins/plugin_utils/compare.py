# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A good and a bad host side by side, layer by layer, versions first (`goldnode.comparison/v1`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ansible_collections.goldnode.gpu.plugins.module_utils.judge import Judgement, judge
from ansible_collections.goldnode.gpu.plugins.module_utils.model import FAIL, LAYERS, PASS
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.plugin_utils import reports
from ansible_collections.goldnode.gpu.plugins.plugin_utils.compared import SUBJECTS, Subject
from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text

SCHEMA = "goldnode.comparison/v1"
NOT_SEEN = "not seen"
LISTED = 8  # names of what was not compared; all are in result.json

Result = dict[str, Any]


class Difference(NamedTuple):
    """One row of the comparison."""

    layer: str
    subject: str
    good: str
    bad: str
    versions: bool


def compare(good: Mapping[str, Any], bad: Mapping[str, Any], names: tuple[str, str], started_at: str) -> Result:
    """What differs between two bundles, and what is broken on the bad one; `pass` only if nothing differs and all was seen on both."""
    both = Facts(good), Facts(bad)
    rows = [row for subject in SUBJECTS for row in _differences(subject, *both)]
    rows.sort(key=lambda row: (not row.versions, list(LAYERS).index(row.layer)))
    verdicts = judge(good), judge(bad)
    unseen = [*_layers_unseen(*both), *sorted({row.subject for row in rows if NOT_SEEN in (row.good, row.bad)})]
    differing = [row for row in rows if NOT_SEEN not in (row.good, row.bad)]
    return {
        "schema": SCHEMA,
        "outcome": "fail" if differing else ("inconclusive" if unseen else "pass"),
        "started_at": started_at,
        "good": _side(names[0], verdicts[0]),
        "bad": _side(names[1], verdicts[1]),
        "differences": [row._asdict() for row in differing],
        "not_compared": unseen,
        "findings": [finding.as_dict() for finding in _new_failures(*verdicts)],
    }


def _layers_unseen(good: Facts, bad: Facts) -> list[str]:
    """Layers of which neither side shows anything."""
    seen = {subject.layer for subject in SUBJECTS if subject.read(good) or subject.read(bad)}
    return [f"all of {layer}" for layer in LAYERS if layer in {subject.layer for subject in SUBJECTS} - seen]


def _differences(subject: Subject, good: Facts, bad: Facts) -> Iterator[Difference]:
    """A row for each part that differs, and one that says so where nobody looked on one side."""
    first, second = subject.read(good), subject.read(bad)
    if first is None and second is None:
        return
    missing = ["-" if subject.whole(facts) else NOT_SEEN for facts in (good, bad)]
    for name in sorted({*(first or ()), *(second or ())}):
        left, right = (NOT_SEEN if side is None else side.get(name, gone) for side, gone in zip((first, second), missing, strict=True))
        if left != right:
            yield Difference(subject.layer, name, left, right, subject.versions)


def _side(name: str, judged: Judgement) -> Result:
    return {"name": name, "verdict": judged.verdict, "first_broken_layer": judged.first_broken_layer}


def _new_failures(good: Judgement, bad: Judgement) -> list[Any]:
    """What fails on the bad host and not on the good one."""
    alike = {finding.rule for finding in good.findings if finding.verdict == FAIL}
    return [finding for finding in bad.findings if finding.verdict == FAIL and finding.rule not in alike]


def page(result: Result, place: Path) -> list[str]:
    """The readable page: who, the table, what fails on the bad host alone, one closing line."""
    good, bad = (result[side] for side in ("good", "bad"))
    rows = [[row["layer"], row["subject"], row["good"], row["bad"]] for row in result["differences"]]
    table = [*reports.aligned([["layer", "what", good["name"], bad["name"]], *rows]), ""] if rows else []
    failing = [line for finding in result["findings"] for line in (*reports.failing_block("<pool>", bad["name"], finding), "")]
    return reports.printed([f"good: {_said(good)} · bad: {_said(bad)}", "", *table, *failing, *_not_compared(result["not_compared"]), _closing(result, place)])


def _not_compared(names: list[str]) -> list[str]:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return [f"Not seen on both, and not compared: {', '.join(names[:LISTED])}{more}", ""] if names else []


def _said(side: Result) -> str:
    layer = f" in {side['first_broken_layer']}" if side["first_broken_layer"] else ""
    return f"{side['name']} {side['verdict'] if side['verdict'] != PASS else 'passes'}{layer}"


def _closing(result: Result, place: Path) -> str:
    count = len(result["differences"])
    alike = {"pass": "No difference", "inconclusive": "No difference in what was seen on both"}
    return f"{alike.get(result['outcome']) or f'{count} difference' + 's' * (count != 1)}. result.json and page: {place}"


def write_comparison(result: Result, place: Path) -> list[str]:
    """Leave page.txt and result.json in `place`; the page's lines."""
    lines = page(result, place)
    write_text(place / "page.txt", "\n".join(lines) + "\n")
    write_text(place / "result.json", json.dumps(result, indent=1) + "\n")
    return lines
