# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The drift of many nodes: what detect_drift leaves (`goldnode.detect_drift/v1`), a page, and metrics in Prometheus' text format."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils import bundles
from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import short
from ansible_collections.goldnode.gpu.plugins.plugin_utils.drift.compare import Drift, drift
from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text
from ansible_collections.goldnode.gpu.plugins.plugin_utils.reports import aligned, printed
from prometheus_client import CollectorRegistry, Gauge, generate_latest

SCHEMA = "goldnode.detect_drift/v1"
METRICS = "goldnode_drift.prom"
SHOWN = 8  # differences of a node on the page; all are in result.json

Result = dict[str, Any]


def node_part(found: Drift, release: str | None) -> Result:
    """A node's part of the result."""
    return {
        "state": found.state,
        "release": release,
        "differences": [one._asdict() for one in found.differences],
        "unseen": list(found.unseen),
    }


def unseen_part(reason: str) -> Result:
    """The part of a node that did not answer, or that nobody could compare."""
    return {"state": "unknown", "release": None, "differences": [], "unseen": [" ".join(reason.split())]}


def of_bundles(place: Path, stack: Mapping[str, Any]) -> dict[str, Result]:
    """The parts of all bundles at a place, by stem; raises `UnreadableError` where there is none."""
    found = bundles.find(place)
    if not found:
        raise bundles.UnreadableError(f"{place} has no *.evidence.yml and no *.evidence.json")
    return {stem: _of_files(files, stack) for stem, files in found.items()}


def _of_files(files: Sequence[Path], stack: Mapping[str, Any]) -> Result:
    if len(files) > 1:
        return unseen_part(f"{' and '.join(file.name for file in files)} are bundles of one node; leave the one that is meant")
    return _of_bundle(files[0], stack)


def _of_bundle(path: Path, stack: Mapping[str, Any]) -> Result:
    try:
        evidence = bundles.read(path).evidence
    except bundles.UnreadableError as error:
        return unseen_part(str(error))
    return node_part(drift(evidence, stack), evidence.get("release"))


def result_of(pool: str, nodes: Mapping[str, Result]) -> Result:
    """`fail` where a node drifted, `inconclusive` where one could not be seen whole, `pass` only if all are golden."""
    states = Counter(node["state"] for node in nodes.values())
    outcome = "fail" if states["drifted"] else "pass" if states["golden"] == len(nodes) > 0 else "inconclusive"
    return {
        "schema": SCHEMA,
        "outcome": outcome,
        "pool": pool,
        "count": {name: states[name] for name in ("drifted", "unknown", "golden")},
        "nodes": dict(nodes),
    }


def page(result: Result, place: Path) -> list[str]:
    """The fleet as a table, the differences of each node that drifted, one closing line."""
    nodes = result["nodes"]
    rows = [("node", "release", "state", "differences"), *((name, short(one["release"]), one["state"], _kinds(one)) for name, one in nodes.items())]
    blocks = [line for name, one in nodes.items() if one["state"] != "golden" for line in (*_block(name, one), "")]
    said = ", ".join(f"{count} {name}" for name, count in result["count"].items())
    return printed([f"pool {result['pool']}", "", *aligned(rows), "", *blocks, f"{result['outcome']}: {said}. result.json, page.txt and {METRICS}: {place}"])


def _kinds(node: Result) -> str:
    counted = Counter(one["kind"] for one in node["differences"])
    return ", ".join(f"{kind} {count}" for kind, count in counted.items()) or "-"


def _block(name: str, node: Result) -> Iterable[str]:
    yield f"{name} · {node['state']}"
    for one in node["differences"][:SHOWN]:
        by = f" · moved by {one['moved_by']}" if one["moved_by"] else ""
        yield f"  {one['kind']:<16} {one['subject']}: {one['observed']} instead of {one['expected']}{by}"
    if len(node["differences"]) > SHOWN:
        yield f"  and {len(node['differences']) - SHOWN} more"
    yield from (f"  {'not seen':<16} {reason}" for reason in node["unseen"])


def metrics(result: Result) -> str:
    """`goldnode_drift_state{pool,node,state}`, and for a node that drifted `goldnode_drift_differences{pool,node,kind}`; for the node exporter's text files."""
    registry = CollectorRegistry()
    differences = Gauge("goldnode_drift_differences", "Differences between a node and its release.", ["pool", "node", "kind"], registry=registry)
    states = Gauge("goldnode_drift_state", "1 for the state that a node is in.", ["pool", "node", "state"], registry=registry)
    for name, node in result["nodes"].items():
        counted = Counter(one["kind"] for one in node["differences"])
        for kind, count in counted.items():
            differences.labels(result["pool"], name, kind).set(count)
        for state in result["count"]:
            states.labels(result["pool"], name, state).set(node["state"] == state)
    return bytes(generate_latest(registry)).decode()


def write_result(pool: str, nodes: Mapping[str, Result], place: Path) -> tuple[Result, Sequence[str]]:
    """Leaves result.json, page.txt and the metrics in `place`; the result and the page's lines."""
    result = result_of(pool, nodes)
    lines = page(result, place)
    write_text(place / METRICS, metrics(result))
    write_text(place / "page.txt", "\n".join(lines) + "\n")
    write_text(place / "result.json", json.dumps(result, indent=1) + "\n")
    return result, lines
