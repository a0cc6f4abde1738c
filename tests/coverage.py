"""docs/coverage.md out of docs/coverage.yml: `python -m tests.coverage`. Cases, faults and rungs of a row are found, not written.

A case counts for the rule that it is blamed on; a fault for the rule that its run found (docs/faults.md, written by the bench).
"""

from __future__ import annotations

import re
from collections import defaultdict
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import RULES

from tests.cases import scoring
from tests.faults.catalogue import faults

DOCS = Path(__file__).parents[1] / "docs"
SHOWN = 4


def rows() -> dict[str, dict[str, Any]]:
    """Row -> what, rules (with their globs resolved), also, missing."""
    data = yaml.safe_load((DOCS / "coverage.yml").read_text())
    return {name: {**row, "rules": [rule for glob in row.get("rules", []) for rule in matching(glob)]} for name, row in data.items()}


def matching(glob: str) -> list[str]:
    """The rules of a name or glob; an unknown name is an error."""
    found = [rule for rule in RULES if fnmatchcase(rule, glob)]
    if not found:
        raise ValueError(f"docs/coverage.yml names {glob}, which is no rule")
    return found


def cases_by_rule() -> dict[str, list[str]]:
    """Rule -> the captured cases that it is blamed for, where layer and cause are right."""
    found: dict[str, list[str]] = defaultdict(list)
    for folder in (scoring.HERE, scoring.HERE / "blind"):
        for name in scoring.names(folder):
            one = scoring.score(name, folder)
            if one.rule and one.layer and one.cause:
                found[one.rule].append(name.split("-")[0])
    return found


def faults_by_rule() -> dict[str, list[str]]:
    """Rule -> the faults that the last run of the bench found by it."""
    lines = (DOCS / "faults.md").read_text().splitlines()
    ran = {match.group(1) for line in lines if (match := re.match(r"\| `(\w+)` \|.*\| found", line))}
    found: dict[str, list[str]] = defaultdict(list)
    for fault in faults():
        if fault.id in ran:
            found[fault.rule].append(fault.id)
    return found


def page() -> str:
    """The whole page."""
    cases, shown = cases_by_rule(), faults_by_rule()
    lines = [
        "# Coverage",
        "",
        "Made by `python -m tests.coverage` from `docs/coverage.yml`, the captured cases and the last run of the fault bench. A row's rung is the most real",
        "one on which one of its rules was seen to fail: `captured` (a report), `simulated` (a fault of a lab node, [faults](faults.md)), `booted` (tests/vm).",
        "",
        "| row | what | rules | cases | faults | rung | elsewhere, and what is missing |",
        "|---|---|---|---|---|---|---|",
        *(line(name, row, cases, shown) for name, row in rows().items()),
        "",
        "## Rules",
        "",
        "| layer | rules | with a captured case | with a fault |",
        "|---|---|---|---|",
        *by_layer(cases, shown),
        "",
        "Each rule has a passing and a failing example in `tests/unit/plugins/module_utils/rules/examples`.",
    ]
    return "\n".join(lines) + "\n"


def line(name: str, row: dict[str, Any], cases: dict[str, list[str]], shown: dict[str, list[str]]) -> str:
    """One row of the table."""
    own = sorted({case for rule in row["rules"] for case in cases.get(rule, [])})
    made = list(dict.fromkeys(fault for rule in row["rules"] for fault in shown.get(rule, [])))
    rung = "booted" if "booted" in row.get("also", "") else "simulated" if made else "captured" if own else "-"
    rules = " ".join(f"[{rule.split('.')[1]}](rules/{rule}.md)" for rule in row["rules"])
    rest = "; ".join(filter(None, [row.get("also"), f"**missing**: {row['missing']}" if row.get("missing") else ""]))
    return f"| {name} | {row['what']} | {rules} | {listed(own)} | {listed(made)} | {rung} | {rest} |"


def listed(names: list[str]) -> str:
    """The first names, and how many more."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def by_layer(cases: dict[str, list[str]], shown: dict[str, list[str]]) -> list[str]:
    """How many rules of each layer a report and a fault have shown."""
    layers: dict[str, list[str]] = defaultdict(list)
    for rule in RULES.values():
        layers[rule.layer].append(rule.id)
    counted = [(layer, len(ids), sum(name in cases for name in ids), sum(name in shown for name in ids)) for layer, ids in layers.items()]
    total = ("all", *(sum(row[column] for row in counted) for column in (1, 2, 3)))
    return [f"| {' | '.join(map(str, row))} |" for row in (*counted, total)]


if __name__ == "__main__":
    (DOCS / "coverage.md").write_text(page())
