# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Linting a file or a directory, and what is left behind: a table, result.json (`goldnode.workload/v1`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.probe import redact
from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text
from ansible_collections.goldnode.gpu.plugins.plugin_utils.reports import aligned, printed
from ansible_collections.goldnode.gpu.plugins.plugin_utils.workload import compose, kubernetes
from ansible_collections.goldnode.gpu.plugins.plugin_utils.workload.documents import Document, Unreadable, documents
from ansible_collections.goldnode.gpu.plugins.plugin_utils.workload.model import Workload
from ansible_collections.goldnode.gpu.plugins.plugin_utils.workload.rules import ERROR, WORKLOAD_RULES, WorkloadRule, remedy
from ansible_collections.goldnode.gpu.plugins.plugin_utils.yaml_text import NOT_CONSTRUCTED

SCHEMA = "goldnode.workload/v1"
Result = dict[str, Any]


def lint(place: Path) -> Result:
    """The result for everything below a path."""
    read = list(documents(place))
    known = [document for document in read if isinstance(document, Document) and is_workload_file(document)]
    unreadable = [one for one in read if isinstance(one, Unreadable)]
    if not known and not unreadable:
        unreadable = [Unreadable(str(place), "neither a Compose file (services:) nor a Kubernetes manifest (apiVersion:, kind:)")]
    judged: list[Workload] = []
    for document in known:
        try:
            judged += workloads(document)
        except (*NOT_CONSTRUCTED, RecursionError) as error:
            unreadable.append(Unreadable(document.file, " ".join(str(error).split()) or "its values are not those of a Compose file or a manifest"))
    findings = [finding for one in judged if one.uses_gpu for finding in findings_of(one)]
    # what a file says may hold a password, in an address or a variable
    result: Result = redact(
        {
            "schema": SCHEMA,
            "outcome": outcome(findings, unreadable),
            "workload": str(place),
            "files": len({document.file for document in known}),
            "gpu_workloads": [{"file": one.file, "name": one.name, "image": one.image} for one in judged if one.uses_gpu],
            "findings": findings,
            "unreadable": [one._asdict() for one in unreadable],
        }
    )
    return result


def is_workload_file(document: Document) -> bool:
    """Whether a document is one that the linter knows."""
    return compose.is_compose(document.content) or kubernetes.is_manifest(document.content)


def workloads(document: Document) -> Iterator[Workload]:
    """The containers that a document declares."""
    if compose.is_compose(document.content):
        return compose.workloads(document.file, document.content)
    return kubernetes.workloads(document.file, document.content)


def findings_of(workload: Workload) -> Iterator[Result]:
    """What every rule says about one workload."""
    for one in WORKLOAD_RULES.values():
        for mistake in one.look(workload):
            yield finding(one, workload, mistake.observed, mistake.cause)


def finding(one: WorkloadRule, workload: Workload, observed: str, cause: str) -> Result:
    """One finding as result.json holds it."""
    about = {"rule": one.id, "severity": one.severity, "file": workload.file, "name": workload.name, "engine": workload.engine}
    return {**about, "observed": observed, "cause": cause, "remedy": remedy(one, workload)}


def outcome(findings: Iterable[Result], unreadable: Iterable[Unreadable]) -> str:
    """`fail` for an error, `inconclusive` where a file was not judged, else `pass`; warnings fail nothing."""
    if any(found["severity"] == ERROR for found in findings):
        return "fail"
    return "inconclusive" if any(True for _one in unreadable) else "pass"


def page(result: Result, place: Path) -> list[str]:
    """The readable page: a table, a block for each finding, a sentence for each file that was not judged, one closing line."""
    rows = [["file", "workload", "errors", "warnings"], *([one["file"], one["name"], *counts(result, one)] for one in result["gpu_workloads"])]
    blocks = [line for found in result["findings"] for line in (*block(found), "")]
    sentences = [f"{one['file']}: {one['reason']}" for one in result["unreadable"]]
    return printed(
        [
            *(aligned(rows) if len(rows) > 1 else ["no workload that uses a GPU"]),
            "",
            *blocks,
            *sentences,
            *([""] if sentences else []),
            closing(result, place),
        ]
    )


def counts(result: Result, one: Result) -> list[str]:
    """How many errors and warnings one workload has."""
    own = [found["severity"] for found in result["findings"] if (found["file"], found["name"]) == (one["file"], one["name"])]
    return [str(own.count(ERROR)), str(len(own) - own.count(ERROR))]


def block(found: Result) -> list[str]:
    """One finding: the cause before the details."""
    words = {"cause": found["cause"], "observed": found["observed"], "remedy": found["remedy"], "page": f"docs/rules/{found['rule']}.md"}
    return [f"{found['file']} {found['name']} · {found['rule']} ({found['severity']})", *(f"  {label:<9} {text}" for label, text in words.items())]


def closing(result: Result, place: Path) -> str:
    """The sentence that says how it went and where to read on."""
    errors = sum(found["severity"] == ERROR for found in result["findings"])
    warnings = len(result["findings"]) - errors
    said = f"{len(result['gpu_workloads'])} GPU workloads, {errors} errors, {warnings} warnings, {len(result['unreadable'])} files not judged"
    return f"{result['outcome']}: {said}. result.json and page.txt: {place}"


def write_result(result: Result, place: Path) -> list[str]:
    """Leave result.json and page.txt in `place`; the page's lines."""
    lines = page(result, place)
    write_text(place / "page.txt", "\n".join(lines) + "\n")
    write_text(place / "result.json", json.dumps(result, indent=1) + "\n")
    return lines
