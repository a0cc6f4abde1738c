# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a validation leaves behind: the readable page, result.json and JUnit, all from one mapping (`goldnode.validation/v1`)."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.model import FAIL, LAYERS, NOT_APPLICABLE, PASS, UNKNOWN
from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import short
from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text

SCHEMA = "goldnode.validation/v1"
HEADINGS = {"hardware": "hw", "device_nodes": "nodes", "container_toolkit": "toolkit", "orchestrator": "orch"}
CELLS = {PASS: "ok", FAIL: "FAIL", UNKNOWN: "?", NOT_APPLICABLE: "-"}
BLOCKED = "·"
NOT_PRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

Result = dict[str, Any]


def node_result(answer: Mapping[str, Any] | None) -> Result:
    """One node's part of the result, from what `node_check` registered on it."""
    answer = answer or {}
    if "verdict" in answer:
        release = answer["evidence"].get("release")
        return {"state": "judged", "release": release, **{key: answer[key] for key in ("verdict", "first_broken_layer", "rung", "layers", "findings")}}
    state = "unreachable" if answer.get("unreachable") else "not judged"
    return unjudged(state, " ".join(str(answer.get("msg") or "no answer").split()).removeprefix("Task failed: "))


def unjudged(state: str, reason: str) -> Result:
    """The part of something that nobody could judge, and why."""
    return {"state": state, "reason": reason, "verdict": UNKNOWN, "first_broken_layer": None, "layers": {}, "findings": []}


def validation(pool: str, nodes: Mapping[str, Result], started_at: str, finished_at: str) -> Result:
    """The result of one validation."""
    return {
        "schema": SCHEMA,
        "pool": pool,
        "outcome": outcome(node["verdict"] for node in nodes.values()),
        "rung": lowest_rung(nodes.values()),
        "started_at": started_at,
        "finished_at": finished_at,
        "nodes": dict(nodes),
    }


def outcome(verdicts: Iterable[str]) -> str:
    """`pass` only if there are nodes and each passes; what could not be seen is never a pass."""
    seen = set(verdicts)
    if FAIL in seen:
        return "fail"
    return "pass" if seen == {PASS} else "inconclusive"


def lowest_rung(nodes: Iterable[Result]) -> str | None:
    """The least real rung among the nodes that were judged."""
    order = ("captured", "simulated", "booted", "hardware")
    return min((node["rung"] for node in nodes if "rung" in node), key=order.index, default=None)


def page(result: Result, place: Path) -> list[str]:
    """The readable page: who, the table, a block for each broken thing, one closing line."""
    blocks = [block for name, node in result["nodes"].items() for block in node_blocks(result["pool"], name, node)]
    return printed([heading(result), "", *table(result["nodes"]), "", *[line for block in blocks for line in (*block, "")], closing(result, place)])


def heading(result: Result) -> str:
    """`pool lab_a10 · release 7f3a91c · rung simulated`."""
    releases = sorted({short(node.get("release")) for node in result["nodes"].values() if node["state"] == "judged"})
    return f"pool {result['pool']} · release {', '.join(releases) or '-'} · rung {result['rung'] or '-'}"


def table(nodes: Mapping[str, Result], what: str = "node") -> list[str]:
    """One row a node, one column a layer; a column to which nothing applies anywhere is left out for the orchestrator."""
    shown = [layer for layer in LAYERS if layer != "orchestrator" or any(cell(node, layer) not in ("-", BLOCKED) for node in nodes.values())]
    head = [what, *(HEADINGS.get(layer, layer) for layer in shown), "first broken layer"]
    return aligned([head, *(row(name, node, shown) for name, node in nodes.items())])


def row(name: str, node: Result, shown: Sequence[str]) -> list[str]:
    """The cells of one node; one that was not judged says so in the last."""
    last = node["first_broken_layer"] or "-" if node["state"] == "judged" else node["state"]
    return [name, *(cell(node, layer) for layer in shown), last]


def cell(node: Result, layer: str) -> str:
    """`ok`, `FAIL`, `?` unknown, `·` blocked by the broken layer or not looked at, `-` not applicable."""
    judged = node["layers"].get(layer)
    return BLOCKED if judged is None or judged["blocked_by"] else CELLS[judged["verdict"]]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as text in columns two spaces apart."""
    widths = [max(len(line[column]) for line in rows) for column in range(len(rows[0]))]
    return ["  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in rows]


def node_blocks(pool: str, name: str, node: Result) -> list[list[str]]:
    """What is wrong with a node: its failing findings, or, if none fails, what kept it from passing."""
    if node["state"] != "judged":
        return [[f"{name} · {node['state']}", f"  reason    {node['reason']}"]]
    failing = [finding for finding in node["findings"] if finding["verdict"] == FAIL]
    first = [finding for finding in failing if finding["layer"] == node["first_broken_layer"]]
    later = [finding for finding in failing if finding["layer"] != node["first_broken_layer"]]
    if failing:
        return [failing_block(pool, name, finding) for finding in first + later]
    unknown = [finding for finding in node["findings"] if finding["verdict"] == UNKNOWN and node["verdict"] == UNKNOWN]
    silent = [layer for layer, judged in node["layers"].items() if judged["verdict"] == UNKNOWN and layer not in {finding["layer"] for finding in unknown}]
    lines = [f"  {finding['rule']}: {said(finding)}" for finding in unknown] + [f"  {layer}: nothing was looked at" for layer in silent]
    return [[f"{name} · unknown", *lines]] if lines else []


def said(finding: Mapping[str, Any]) -> str:
    """Why a finding is unknown: its candidates and what would decide, where it names them."""
    return " ".join(part for part in (finding["cause"] or finding["observed"], finding["decided_by"] and f"What would decide: {finding['decided_by']}") if part)


def failing_block(pool: str, name: str, finding: Mapping[str, Any]) -> list[str]:
    """One failing finding: the cause before the details."""
    remedy = finding["remedy"].replace("<pool>", pool).replace("<node>", name)
    words = {"cause": finding["cause"], "expected": finding["expected"], "observed": finding["observed"], "remedy": remedy}
    words |= {"decides": finding["decided_by"]} if finding["decided_by"] else {}
    lines = [f"  {label:<9} {text}" for label, text in {**words, "page": finding["page"]}.items()]
    return [f"{name} · {finding['rule']}", *lines]


def closing(result: Result, place: Path) -> str:
    """The sentence that says how it went and where to read on."""
    nodes = result["nodes"].values()
    counts = {
        "fail": sum(node["verdict"] == FAIL for node in nodes),
        "unknown": sum(node["verdict"] not in (FAIL, PASS) and node["state"] == "judged" for node in nodes),
        "not judged": sum(node["state"] != "judged" for node in nodes),
    }
    wrong = ", ".join(f"{count} of {len(nodes)} nodes {word}" for word, count in counts.items() if count)
    return f"{wrong or f'{len(nodes)} nodes pass'}. result.json, junit.xml and bundles: {place}"


def junit(title: str, nodes: Mapping[str, Result], started_at: str) -> str:
    """JUnit: a suite for each node or bundle, a case for each rule."""
    suites = ET.Element("testsuites", name=title)
    for name, node in nodes.items():
        suite = ET.SubElement(suites, "testsuite", name=printable(name), timestamp=started_at.rstrip("Z"))
        cases = [finding_case(suite, finding) for finding in node["findings"]] or [whole_case(suite, node)]
        suite.set("tests", str(len(cases)))
        for kind, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(kind, str(sum(case.find(tag) is not None for case in cases)))
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def finding_case(suite: ET.Element, finding: Mapping[str, Any]) -> ET.Element:
    """A rule's case: fail is a failure, unknown an error (never a silent pass), not applicable is skipped."""
    case = ET.SubElement(suite, "testcase", classname=finding["layer"], name=finding["rule"])
    tag = {FAIL: "failure", UNKNOWN: "error", NOT_APPLICABLE: "skipped"}.get(finding["verdict"])
    if tag:
        ET.SubElement(case, tag, message=printable(finding["cause"] or finding["observed"])).text = printable(
            f"expected {finding['expected']}\nobserved {finding['observed']}\nremedy {finding['remedy']}\npage {finding['page']}" if tag == "failure" else ""
        )
    return case


def whole_case(suite: ET.Element, node: Result) -> ET.Element:
    """The one case of a node without findings: one that could not be judged, or on which nothing fails."""
    judged = node.get("state") == "judged"
    case = ET.SubElement(suite, "testcase", classname="node", name="nothing fails" if judged else "answers")
    if not judged or node["verdict"] == UNKNOWN:
        ET.SubElement(case, "error", message=printable(node.get("reason") or node.get("summary") or "nothing was judged"))
    return case


def printable(text: str) -> str:
    """Without the characters that XML 1.0 has no form for and a terminal obeys."""
    return NOT_PRINTABLE.sub("\ufffd", text)


def printed(lines: Iterable[str]) -> list[str]:
    """Each as one line, whatever a node said."""
    return [printable(" ".join(line.splitlines())) for line in lines]


def write_validation(result: Result, place: Path) -> list[str]:
    """Leave result.json, junit.xml and page.txt in `place`; the page's lines."""
    lines = page(result, place)
    write_text(place / "junit.xml", junit(f"validate_nodes {result['pool']}", result["nodes"], result["started_at"]))
    write_text(place / "page.txt", "\n".join(lines) + "\n")
    write_text(place / "result.json", json.dumps(result, indent=1) + "\n")
    return lines
