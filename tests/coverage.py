"""docs/coverage.md out of docs/coverage.yml: `python -m tests.coverage`. Cases, faults and rungs of a row are found, not written.

A case counts for the rule that it is blamed on; a fault for the rule that its run found (docs/faults.md, written by the bench).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.goldnode.gpu.plugins.module_utils.model import LAYERS, RUNGS
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import RULES
from ansible_collections.goldnode.gpu.plugins.plugin_utils.workload.rules import WORKLOAD_RULES

from tests.cases import scoring

DOCS = Path(__file__).parents[1] / "docs"
SHOWN = 4
NONE = "-"
# docs/faults.md: fault, what is changed, rule, shown, pool, run
FOUND = re.compile(r"\| `(?P<id>\w+)` \|.*\| \[(?P<rule>[\w.]+)\]\(\S+\) \| (?P<shown>real|message) \| \w+ \| found, (?P<rung>\w+) \|")


@dataclass(frozen=True)
class Sight:
    """Where a rule was seen to fail: a captured case, or a fault of a node. `rung`: how real the evidence was."""

    name: str
    rule: str
    rung: str
    kind: str


@dataclass(frozen=True)
class Row:
    """One row of docs/coverage.yml, its globs resolved. `shown`: rung -> file and function of a test or scene."""

    name: str
    what: str
    rules: tuple[str, ...]
    also: str
    missing: str
    shown: dict[str, str]

    def rung(self, sights: Iterable[Sight]) -> str:
        """The most real one on which a rule of the row was seen to fail, or a test or scene shows it."""
        reached = {sight.rung for sight in sights if sight.rule in self.rules} | set(self.shown)
        return max(reached, key=RUNGS.index, default=NONE)


def rows() -> list[Row]:
    """All rows."""
    data = yaml.safe_load((DOCS / "coverage.yml").read_text())
    return [
        Row(name, row["what"], tuple(rule for glob in row.get("rules", ()) for rule in matching(glob)), *texts(row), row.get("shown", {}))
        for name, row in data.items()
    ]


def texts(row: dict[str, Any]) -> tuple[str, str]:
    return row.get("also", ""), row.get("missing", "")


def matching(glob: str) -> list[str]:
    """The rules of a name or glob; an unknown name is an error."""
    found = [rule for rule in (*RULES, *WORKLOAD_RULES) if fnmatchcase(rule, glob)]
    if not found:
        raise ValueError(f"docs/coverage.yml names {glob}, which is no rule")
    return found


@lru_cache(maxsize=1)
def sights() -> tuple[Sight, ...]:
    """Every case whose layer and cause are right, and every fault that the last run of the bench found."""
    return (*of_cases(), *of_faults((DOCS / "faults.md").read_text()))


def of_cases() -> Iterator[Sight]:
    """The captured cases, by the rule that is blamed for each."""
    for folder in (scoring.HERE, scoring.HERE / "blind"):
        for name in scoring.names(folder):
            one = scoring.score(name, folder)
            if one.rule and one.layer and one.cause:
                yield Sight(name.split("-")[0], one.rule, "captured", "case")


def of_faults(page: str) -> Iterator[Sight]:
    """The faults that were found; where only a message says so, nothing of the node was broken, and the fault is no more than a captured line."""
    for match in map(FOUND.match, page.splitlines()):
        if match:
            message = match["shown"] == "message"
            yield Sight(match["id"], match["rule"], "captured" if message else match["rung"], "message" if message else "fault")


def page() -> str:
    """The whole page."""
    seen = sights()
    by_rung = {rung: sum(row.rung(seen) == rung for row in rows()) for rung in (*reversed(RUNGS), NONE)}
    lines = [
        "# Coverage",
        "",
        "Made by `python -m tests.coverage` from `docs/coverage.yml`, the captured cases and the last run of the fault bench. A row's rung is the most real",
        "one on which one of its rules was seen to fail, or a test or scene shows the row: `captured` (a report, or a fault that is no more than a line in the",
        "log), `simulated` (a fault of a lab node, [faults](faults.md), or the demo), `booted` (tests/vm), `hardware` (a real GPU), `-` (examples at most).",
        "",
        f"Rows by rung: {', '.join(f'{rung} {count}' for rung, count in by_rung.items())}.",
        "",
        "| row | what | rules | cases | faults | rung | elsewhere, and what is missing |",
        "|---|---|---|---|---|---|---|",
        *(line(row, seen) for row in rows()),
        "",
        "## Rules",
        "",
        "How strong the evidence for each rule is. A message is a fault that is no more than a line in the log.",
        "",
        "| layer | rules | with a captured case | with a fault | with a message | with none of them |",
        "|---|---|---|---|---|---|",
        *by_layer(seen),
        "",
        *by_examples_alone(seen),
        "",
        "Each rule has an example in which it fails, and a healthy one in which it passes or, where it knows only a symptom, does not apply",
        "(`tests/unit/plugins/module_utils/rules/examples`; for `workload`, files that are right and wrong: `tests/unit/plugins/plugin_utils/workload`).",
    ]
    return "\n".join(lines) + "\n"


def line(row: Row, seen: Iterable[Sight]) -> str:
    """One row of the table."""
    own = [sight for rule in row.rules for sight in seen if sight.rule == rule]
    cases = sorted({sight.name for sight in own if sight.kind == "case"})
    faults = list(dict.fromkeys(sight.name for sight in own if sight.kind != "case"))
    scenes = [f"[{where.split()[1]}](../{where.split()[0]})" for where in row.shown.values()]
    rest = "; ".join(filter(None, [*scenes, row.also, f"**missing**: {row.missing}" if row.missing else ""]))
    return f"| {row.name} | {row.what} | {' '.join(map(link, row.rules))} | {listed(cases)} | {listed(faults)} | {row.rung(own)} | {rest} |"


def link(rule: str) -> str:
    """A rule's page, under its name without its layer."""
    return f"[{rule.split('.')[1]}](rules/{rule}.md)"


def listed(names: list[str]) -> str:
    """The first names, and how many more."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def layers() -> dict[str, list[str]]:
    """Layer -> its rules, the linter's as one more layer."""
    found: dict[str, list[str]] = {layer: [] for layer in LAYERS}
    for rule in RULES.values():
        found[rule.layer].append(rule.id)
    return {**found, "workload": list(WORKLOAD_RULES)}


def by_layer(seen: Iterable[Sight]) -> list[str]:
    """How many rules of each layer a report, a fault, a message and none of them have shown."""
    kinds: dict[str, set[str]] = defaultdict(set)
    for sight in seen:
        kinds[sight.kind].add(sight.rule)
    kinds["none"] = set(examples_alone(seen))
    counted = [(layer, len(ids), *(len(kinds[kind].intersection(ids)) for kind in ("case", "fault", "message", "none"))) for layer, ids in layers().items()]
    total = ("all", *(sum(column) for column in list(zip(*counted))[1:]))
    return [f"| {' | '.join(map(str, row))} |" for row in (*counted, total)]


def examples_alone(seen: Iterable[Sight]) -> list[str]:
    """The rules that no case and no fault has shown."""
    shown = {sight.rule for sight in seen}
    return [rule for ids in layers().values() for rule in ids if rule not in shown]


def by_examples_alone(seen: Iterable[Sight]) -> Iterator[str]:
    """Their count and names, layer by layer."""
    alone = examples_alone(seen)
    yield f"{len(alone)} of {len(RULES) + len(WORKLOAD_RULES)} rules rest on their examples alone, which often hold the words of public reports; no whole"
    yield "case and no fault has shown them:"
    yield ""
    for layer, ids in layers().items():
        named = [link(rule) for rule in ids if rule in alone]
        if named:
            yield f"- {layer} ({len(named)}): {' '.join(named)}"


if __name__ == "__main__":
    (DOCS / "coverage.md").write_text(page())
