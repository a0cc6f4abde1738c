"""The result of a validation, on paper."""

import json
import xml.etree.ElementTree as ET

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.model import LAYERS
from ansible_collections.goldnode.gpu.plugins.plugin_utils.reports import junit, node_result, outcome, page, validation, write_validation
from hypothesis import given
from hypothesis import strategies as st


def finding(rule, verdict, **words):
    empty = dict.fromkeys(("expected", "observed", "cause", "remedy", "decided_by"), "")
    return {"rule": rule, "layer": rule.split(".")[0], "verdict": verdict, "evidence": [], "page": f"docs/rules/{rule}.md", **empty, **words}


def answer(verdict="pass", first=None, findings=(), blocked=()):
    layers = {layer: {"verdict": "pass", "blocked_by": None} for layer in LAYERS if layer != "orchestrator"}
    layers["orchestrator"] = {"verdict": "not_applicable", "blocked_by": None}
    layers.update({layer: {"verdict": "unknown", "blocked_by": first} for layer in blocked})
    if first:
        layers[first] = {"verdict": "fail", "blocked_by": None}
    return {
        "verdict": verdict,
        "first_broken_layer": first,
        "rung": "simulated",
        "layers": layers,
        "findings": list(findings),
        "evidence": {"release": "sha256:7f3a91c0000"},
    }


BROKEN = answer(
    "fail",
    "driver",
    [
        finding(
            "driver.module_does_not_load",
            "fail",
            expected="module nvidia loaded at 550.163.01",
            observed="no nvidia module",
            cause="It refuses to load.",
            remedy="provision_pool -e pool=<pool> -e nodes=<node>",
        )
    ],
    blocked=("device_nodes", "container", "cuda"),
)
UNREACHABLE = {"unreachable": True, "msg": "Task failed: ssh: connect to host n3: Connection\n timed out"}


def result_of(**answers):
    nodes = {name: node_result(registered) for name, registered in answers.items()}
    return validation("lab_a10", nodes, "2026-11-30T21:04:10Z", "2026-11-30T21:04:20Z")


def suites_of(result):
    return ET.fromstring(junit("validate_nodes lab_a10", result["nodes"], result["started_at"]))


def test_a_page_shows_the_table_then_what_is_broken_then_where_to_read_on(tmp_path):
    lines = page(result_of(n1=answer(), n2=BROKEN), tmp_path)
    assert lines == [
        "pool lab_a10 · release 7f3a91c · rung simulated",
        "",
        "node  hw  kernel  driver  nodes  engine  toolkit  policy  container  cuda  first broken layer",
        "n1    ok  ok      ok      ok     ok      ok       ok      ok         ok    -",
        "n2    ok  ok      FAIL    ·      ok      ok       ok      ·          ·     driver",
        "",
        "n2 · driver.module_does_not_load",
        "  cause     It refuses to load.",
        "  expected  module nvidia loaded at 550.163.01",
        "  observed  no nvidia module",
        "  remedy    provision_pool -e pool=lab_a10 -e nodes=n2",
        "  page      docs/rules/driver.module_does_not_load.md",
        "",
        f"1 of 2 nodes fail. result.json, junit.xml and bundles: {tmp_path}",
    ]


def test_a_healthy_fleet_has_its_table_and_one_line(tmp_path):
    lines = page(result_of(n1=answer(), n2=answer()), tmp_path)
    assert lines[-2:] == ["", f"2 nodes pass. result.json, junit.xml and bundles: {tmp_path}"]
    assert len(lines) == 7


def test_a_node_that_does_not_answer_is_listed_with_its_reason(tmp_path):
    text = "\n".join(page(result_of(n3=UNREACHABLE, n4={"msg": "no Python", "failed": True}, n5=None), tmp_path))
    assert "n3 · unreachable\n  reason    ssh: connect to host n3: Connection timed out" in text
    assert "n4 · not judged\n  reason    no Python" in text
    assert "n5 · not judged\n  reason    no answer" in text
    assert "3 of 3 nodes not judged" in text


def test_what_could_not_be_seen_is_said(tmp_path):
    blind = answer("unknown", findings=[finding("driver.cuda_init_on_host", "unknown", observed="not collected")])
    assert page(result_of(n1=blind), tmp_path)[5:7] == ["n1 · unknown", "  driver.cuda_init_on_host: not collected"]


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [("pass pass", "pass"), ("pass fail unknown", "fail"), ("pass unknown", "inconclusive"), ("", "inconclusive"), ("not_applicable", "inconclusive")],
)
def test_only_passing_nodes_make_a_pass(verdicts, expected):
    assert outcome(verdicts.split()) == expected


def test_unreachable_nodes_alone_still_leave_a_result(tmp_path):
    write_validation(result_of(n1=UNREACHABLE), tmp_path)
    result = json.loads((tmp_path / "result.json").read_text())
    assert (result["schema"], result["outcome"], result["nodes"]["n1"]["state"]) == ("goldnode.validation/v1", "inconclusive", "unreachable")


def test_junit_counts_failures_errors_and_what_does_not_apply():
    mixed = answer("fail", "driver", [finding(f"driver.r{n}", verdict) for n, verdict in enumerate(["pass", "fail", "unknown", "not_applicable"])])
    suites = {suite.get("name"): suite for suite in suites_of(result_of(n1=mixed, n2=UNREACHABLE))}
    assert [suites["n1"].get(key) for key in ("tests", "failures", "errors", "skipped")] == ["4", "1", "1", "1"]
    assert [suites["n2"].get(key) for key in ("tests", "failures", "errors")] == ["1", "0", "1"]


@given(text=st.text())
def test_junit_stays_xml_whatever_a_node_says(text):
    said = answer("fail", "driver", [finding("driver.x", "fail", cause=text, observed=text)])
    assert suites_of(result_of(n1=said)).find(".//failure") is not None


@given(text=st.text())
def test_a_page_has_a_line_for_each_line_whatever_a_node_says(text):
    said = answer("fail", "driver", [finding("driver.x", "fail", cause=text, observed=text)])
    lines = page(result_of(n1=said), "somewhere")
    assert len(lines) == 13
    assert not [line for line in lines if len(line.splitlines()) > 1 or "\x1b" in line]


def test_what_would_decide_between_two_causes_is_shown(tmp_path):
    undecided = finding("driver.x", "unknown", cause="A or B.", decided_by="dmesg")
    assert "  driver.x: A or B. What would decide: dmesg" in page(result_of(n1=answer("unknown", findings=[undecided])), tmp_path)
    likely = finding("driver.x", "fail", cause="A or B.", decided_by="dmesg")
    assert "  decides   dmesg" in page(result_of(n1=answer("fail", "driver", [likely])), tmp_path)
