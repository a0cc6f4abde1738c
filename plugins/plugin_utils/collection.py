# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a collection of bundles leaves behind: the bundles, by default without identifiers, and which node is which (`goldnode.collection/v1`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils import reports
from ansible_collections.goldnode.gpu.plugins.plugin_utils.anonymise import Anonymiser
from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text

SCHEMA = "goldnode.collection/v1"

Result = dict[str, Any]


def collect(answers: Mapping[str, Mapping[str, Any] | None], target: Path, hosts: Iterable[str], keep_identifiers: bool, started_at: str) -> Result:
    """Write the bundle of each node that answered into `target`; what became of every node."""
    bundles = {name: answer["evidence"] for name, answer in answers.items() if answer and "evidence" in answer}
    if not keep_identifiers:
        neutral = Anonymiser(list(bundles.values()), {*hosts, *answers})
        bundles = {name: neutral.bundle(bundle) for name, bundle in bundles.items()}
    nodes = {name: _node(answer, bundles.get(name), target) for name, answer in answers.items()}
    return {
        "schema": SCHEMA,
        "outcome": "pass" if len(bundles) == len(nodes) > 0 else "inconclusive",
        "identifiers": "kept" if keep_identifiers else "neutral",
        "started_at": started_at,
        "nodes": nodes,
    }


def _node(answer: Mapping[str, Any] | None, bundle: Mapping[str, Any] | None, target: Path) -> Result:
    """One node's part of the result; its bundle is written."""
    judged = reports.node_result(answer)
    if bundle is None:
        return {"state": judged["state"], "reason": judged["reason"], "file": None}
    path = target / f"{bundle['node']}.evidence.json"
    write_text(path, json.dumps(bundle) + "\n")
    return {"state": "collected", "file": path.name, "verdict": judged["verdict"], "first_broken_layer": judged["first_broken_layer"]}


def page(result: Result, target: Path) -> list[str]:
    """Which bundle is of which node, what it says, and how far it may travel."""
    rows = [["node", "bundle", "verdict", "first broken layer"], *(_row(name, node) for name, node in result["nodes"].items())]
    return reports.printed([*reports.aligned(rows), "", _closing(result, target)])


def _row(name: str, node: Result) -> list[str]:
    if node["file"] is None:
        return [name, "-", node["state"], node["reason"]]
    return [name, node["file"], node["verdict"], node["first_broken_layer"] or "-"]


def _closing(result: Result, target: Path) -> str:
    collected = sum(node["file"] is not None for node in result["nodes"].values())
    fit = {
        "neutral": "They name no node, user, address or serial; read them once before you attach them to a report",
        "kept": "They name your nodes, users and addresses",
    }[result["identifiers"]]
    said = f"{collected} of {len(result['nodes'])} bundles collected"
    return f"{said}: {target}. {fit}." if collected else f"{said}: no node answered; the reasons stand above."


def write_collection(result: Result, target: Path, report_dir: Path) -> list[str]:
    """Leave page.txt and result.json in the report's folder; the page's lines."""
    lines = page(result, target)
    write_text(report_dir / "page.txt", "\n".join(lines) + "\n")
    write_text(report_dir / "result.json", json.dumps(result, indent=1) + "\n")
    return lines
