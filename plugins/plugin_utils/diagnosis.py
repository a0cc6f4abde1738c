# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Offline diagnosis: bundles in files -> one diagnosis each (`goldnode.diagnosis/v1`), and one page for all (`goldnode.diagnoses/v1`)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.judge import Judgement, judge
from ansible_collections.goldnode.gpu.plugins.module_utils.model import FAIL, NOT_APPLICABLE, PASS, UNKNOWN, Finding
from ansible_collections.goldnode.gpu.plugins.plugin_utils import bundles, reports
from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text

SCHEMA = "goldnode.diagnosis/v1"
RUN_SCHEMA = "goldnode.diagnoses/v1"
MENTIONED = 3  # harmless messages and candidates in a summary; all are in the findings

Result = dict[str, Any]


def diagnose(place: Path, target: Path, stack: Mapping[str, Any] | None, started_at: str) -> Result:
    """Judge every bundle at `place`, write `<stem>.diagnosis.json` of each into `target`, and return what all said; raises if there is none."""
    found = bundles.find(place)
    if not found:
        raise bundles.UnreadableError(f"{place} has no *.evidence.yml and no *.evidence.json")
    odd: dict[str, list[str]] = {}
    cases = {stem: _case(stem, files, target, stack, odd) for stem, files in found.items()}
    return {
        "schema": RUN_SCHEMA,
        "outcome": reports.outcome(case["verdict"] for case in cases.values()),
        "rung": reports.lowest_rung(cases.values()),
        "started_at": started_at,
        "unknown_probes": dict(sorted(odd.items())),
        "cases": cases,
    }


def _case(stem: str, files: Sequence[Path], target: Path, stack: Mapping[str, Any] | None, odd: dict[str, list[str]]) -> Result:
    """One bundle's part of the result; `odd` gathers the probe names that nobody knows."""
    try:
        if len(files) > 1:
            names = " and ".join(path.name for path in files)
            raise bundles.UnreadableError(f"{names} would both become {stem}.diagnosis.json; rename one")
        bundle = bundles.read(files[0])
        said = diagnosis(judge(bundle.evidence, stack), bundle.notes)
        write_text(target / f"{stem}.diagnosis.json", json.dumps(said, indent=1) + "\n")
    except bundles.UnreadableError as error:
        return reports.unjudged("not judged", str(error))
    except OSError as error:
        # a name of its own that the file system does not take; where nothing can be written at all, the page fails too and says so
        return reports.unjudged("not judged", f"{error.filename} cannot be written: {error.strerror}")
    for name in sorted(set(bundle.evidence["probes"]) - bundles.known_probes()):
        odd.setdefault(name, []).append(stem)
    return {"state": "judged", "diagnosis": f"{stem}.diagnosis.json", **_in_short(said)}


def _in_short(said: Result) -> Result:
    """A diagnosis without what passes: a run over thousands of bundles keeps the whole in each one's own file."""
    telling = [one for one in said["findings"] if one["verdict"] == FAIL]
    return {**{key: value for key, value in said.items() if key != "schema"}, "findings": telling}


def diagnosis(judgement: Judgement, notes: Sequence[str] = ()) -> Result:
    """What a bundle's file says; the finding that is to blame first, then what else fails, then the rest in the order of layers."""
    blamed = judgement.blamed
    ordered = sorted(judgement.findings, key=lambda finding: (finding is not blamed, finding.verdict != FAIL))
    judged = judgement.as_dict()
    return {
        "schema": SCHEMA,
        "verdict": judged["verdict"],
        "first_broken_layer": judged["first_broken_layer"],
        "summary": summary(judgement),
        "findings": [finding.as_dict() for finding in ordered],
        "layers": judged["layers"],
        "rung": judged["rung"],
        "notes": list(notes),
    }


def summary(judgement: Judgement) -> str:
    """The answer in a sentence or two: what is broken first, why, and what to do; or what was seen, and what would decide."""
    blamed = judgement.blamed
    if blamed:
        return _joined(f"{_name(blamed.layer).capitalize()} is broken first:", blamed.cause, blamed.remedy, _deciding([blamed]))
    candidates = [finding for finding in judgement.findings if finding.verdict == UNKNOWN and (finding.cause or finding.decided_by)][:MENTIONED]
    if candidates:
        return _joined("It cannot be decided from this evidence:", *(finding.cause for finding in candidates), _deciding(candidates))
    return _joined(_seen(judgement), _harmless(judgement))


def _deciding(findings: Sequence[Finding]) -> str:
    """The probe that would decide."""
    probe = next((finding.decided_by for finding in findings if finding.decided_by), "")
    return f"What would decide: {probe}." if probe else ""


def _seen(judgement: Judgement) -> str:
    """Nothing is broken: which layers were seen whole, and which were not."""
    by_verdict = {verdict: [_name(name) for name, layer in judgement.layers.items() if layer.verdict == verdict] for verdict in (PASS, UNKNOWN)}
    if judgement.verdict == PASS:
        return "Nothing is broken: every layer that applies was seen and passes."
    whole = f"; seen whole: {', '.join(by_verdict[PASS])}" if by_verdict[PASS] else ""
    return f"Nothing that was seen is broken{whole}; not seen, or not in full: {', '.join(by_verdict[UNKNOWN]) or 'nothing that applies'}."


def _harmless(judgement: Judgement) -> str:
    """Messages that look like a fault and are none."""
    causes = [finding.cause for finding in judgement.findings if finding.verdict in (PASS, NOT_APPLICABLE) and finding.cause]
    return _joined("Harmless:", *causes[:MENTIONED]) if causes else ""


def _name(layer: str) -> str:
    """A layer in a sentence."""
    return {"cuda": "CUDA"}.get(layer, layer.replace("_", " "))


def _joined(*sentences: str) -> str:
    return " ".join(sentence.strip() for sentence in sentences if sentence)


def page(result: Result, place: Path) -> list[str]:
    """The readable page: the table, a block for each case, what was odd, one closing line."""
    cases: Mapping[str, Result] = result["cases"]
    blocks = [line for stem, case in cases.items() for line in (*_block(stem, case), "")]
    heading = f"{len(cases)} bundle{'s' if len(cases) != 1 else ''} · rung {result['rung'] or '-'}"
    return reports.printed([heading, "", *reports.table(cases, "bundle"), "", *blocks, *_oddities(result["unknown_probes"]), closing(result, place)])


def _block(stem: str, case: Result) -> list[str]:
    """A case: its failing findings, or the summary where nothing fails; then what was odd about its file."""
    notes = [f"  note      {note}" for note in case.get("notes", ())]
    if case["verdict"] == FAIL or case["state"] != "judged":
        blocks = reports.node_blocks("<pool>", stem, case)
        return [line for block in blocks for line in block] + notes
    return [f"{stem} · {case['verdict']}", f"  summary   {case['summary']}", *notes]


def _oddities(names: Mapping[str, Sequence[str]]) -> list[str]:
    """Probe names that nobody knows, once for all bundles."""
    if not names:
        return []
    said = ", ".join(f"{name} ({len(stems)})" for name, stems in names.items())
    return [f"Unknown probe names, kept and not read (bundles that have them): {said}", ""]


def closing(result: Result, place: Path) -> str:
    """The sentence that says how it went."""
    cases = list(result["cases"].values())
    counts = {
        "fail": sum(case["verdict"] == FAIL for case in cases),
        "pass": sum(case["verdict"] == PASS for case in cases),
        "undecided": sum(case["verdict"] in (UNKNOWN, NOT_APPLICABLE) and case["state"] == "judged" for case in cases),
        "not judged": sum(case["state"] != "judged" for case in cases),
    }
    said = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    return f"{len(cases)} bundle{'s' if len(cases) != 1 else ''}: {said}. Diagnoses and page: {place}"


def write_page(result: Result, target: Path, report_dir: Path) -> list[str]:
    """Leave the page beside the diagnoses, and result.json, JUnit and the page in the report's folder; the page's lines."""
    lines = page(result, target)
    for path in {target / "page.txt", report_dir / "page.txt"}:
        write_text(path, "\n".join(lines) + "\n")
    write_text(report_dir / "junit.xml", reports.junit("diagnose_evidence", result["cases"], result["started_at"]))
    write_text(report_dir / "result.json", json.dumps(result, indent=1) + "\n")
    return lines
