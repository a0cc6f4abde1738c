"""Offline diagnosis: one answer for each bundle, in words and in JSON."""

import json
from pathlib import Path

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.module_utils.judge import Judgement, LayerVerdict
from ansible_collections.goldnode.gpu.plugins.module_utils.model import FAIL, LAYERS, NOT_APPLICABLE, PASS, UNKNOWN, Finding
from ansible_collections.goldnode.gpu.plugins.plugin_utils.bundles import UnreadableError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.diagnosis import diagnose, diagnosis, page, summary, write_page

EVIDENCE = Path(__file__).parents[3] / "fixtures/evidence"
NOW = "2026-11-30T21:04:10Z"
NOT_LOADED = "schema: goldnode.evidence/v1\nprobes:\n  uname_r: 6.1.0\n  lsmod: {absent: true}\n"


def judgement(*findings, first=None, verdict=UNKNOWN, layers=()):
    verdicts = {layer: LayerVerdict(UNKNOWN) for layer in LAYERS} | dict(layers)
    return Judgement(verdict, first, "captured", verdicts, findings)


BROKEN = Finding("driver.x", "driver", FAIL, cause="The library is newer than the module.", remedy="Reboot the node.")


def test_a_summary_names_what_is_broken_first_why_and_what_to_do():
    assert summary(judgement(BROKEN, first="driver", verdict=FAIL)) == "Driver is broken first: The library is newer than the module. Reboot the node."


def test_a_summary_of_what_cannot_be_decided_names_the_candidates_and_the_one_probe():
    open_question = Finding("driver.y", "driver", UNKNOWN, cause="The module is missing, or its GPU is not supported.", decided_by="dmesg | grep NVRM")
    assert summary(judgement(open_question)) == (
        "It cannot be decided from this evidence: The module is missing, or its GPU is not supported. What would decide: dmesg | grep NVRM."
    )


def test_a_summary_of_a_sound_node_explains_alarming_messages():
    harmless = Finding("driver.z", "driver", PASS, cause="Xid 31 is a fault of the application.")
    passing = judgement(harmless, verdict=PASS, layers={layer: LayerVerdict(PASS) for layer in LAYERS}.items())
    assert summary(passing) == "Nothing is broken: every layer that applies was seen and passes. Harmless: Xid 31 is a fault of the application."
    partly = summary(judgement(harmless, Finding("engine.q", "engine", NOT_APPLICABLE), layers=[("driver", LayerVerdict(PASS))]))
    assert partly.startswith("Nothing that was seen is broken; seen whole: driver; not seen, or not in full: hardware, kernel, device nodes")
    assert partly.endswith("Harmless: Xid 31 is a fault of the application.")


def test_the_blamed_finding_stands_first_with_its_page():
    later = Finding("engine.q", "engine", FAIL, cause="Later.")
    said = diagnosis(judgement(Finding("hardware.a", "hardware", UNKNOWN), BROKEN, later, first="driver", verdict=FAIL), ["odd"])
    assert [finding["rule"] for finding in said["findings"]] == ["driver.x", "engine.q", "hardware.a"]
    assert said["findings"][0]["page"] == "docs/rules/driver.x.md"
    assert (said["schema"], said["rung"], said["notes"]) == ("goldnode.diagnosis/v1", "captured", ["odd"])


@pytest.fixture
def folder(tmp_path):
    """A broken node, one that passes, a text, two of one stem, and odd probes."""
    place = tmp_path / "in"
    place.mkdir()
    (place / "broken.evidence.yml").write_text((EVIDENCE / "good_a10.evidence.yml").read_text().replace("  lsmod:", "  odd: x\n  lsmod:", 1))
    (place / "empty.evidence.yml").write_text("schema: goldnode.evidence/v1\nprobes: {odd: y, dmesg: [1]}\n")
    (place / "good.evidence.json").write_text((EVIDENCE / "lab_canary.evidence.json").read_text())
    (place / "text.evidence.yml").write_text("hello")
    (place / "twin.evidence.yml").write_text("")
    (place / "twin.evidence.json").write_text("")
    evidence = yaml.safe_load((place / "broken.evidence.yml").read_text())
    evidence["probes"]["proc_driver_nvidia_version"] = {"absent": True}
    evidence["probes"]["lsmod"] = {"absent": True}
    (place / "broken.evidence.yml").write_text(yaml.safe_dump(evidence))
    return place


def test_each_bundle_that_can_be_read_is_judged_and_the_others_say_why_not(folder, tmp_path):
    result = diagnose(folder, tmp_path / "out", None, NOW)
    assert {stem: (case["state"], case["verdict"]) for stem, case in result["cases"].items()} == {
        "broken": ("judged", "fail"),
        "empty": ("judged", "unknown"),
        "good": ("judged", "pass"),
        "text": ("not judged", "unknown"),
        "twin": ("not judged", "unknown"),
    }
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["broken.diagnosis.json", "empty.diagnosis.json", "good.diagnosis.json"]
    assert (result["outcome"], result["unknown_probes"]) == ("fail", {"odd": ["broken", "empty"]})
    said = json.loads((tmp_path / "out/broken.diagnosis.json").read_text())
    assert (said["verdict"], said["first_broken_layer"]) == ("fail", "driver")
    assert said["summary"].startswith("Driver is broken first: ")
    assert {"findings", "layers", "rung"} < set(said)


def test_the_page_has_a_table_a_block_for_each_case_and_odd_names_once(folder, tmp_path):
    result = diagnose(folder, tmp_path, None, NOW)
    lines = write_page(result, tmp_path / "out", tmp_path / "report")
    text = "\n".join(lines)
    assert lines[0].startswith("5 bundles · rung ")
    assert [line.split()[0] for line in lines[2:8]] == ["bundle", "broken", "empty", "good", "text", "twin"]
    assert "text · not judged\n  reason    it is text; expected a mapping" in text
    assert "twin.evidence.json and twin.evidence.yml would both become twin.diagnosis.json; rename one" in text
    assert "  note      probe dmesg is a list; expected text or a mapping" in text
    assert text.count("odd (2)") == 1
    assert "  page      docs/rules/driver." in text
    assert lines[-1] == f"5 bundles: 1 fail, 1 pass, 1 undecided, 2 not judged. Diagnoses and page: {tmp_path / 'out'}"
    assert (tmp_path / "out/page.txt").read_text() == (tmp_path / "report/page.txt").read_text() == text + "\n"
    assert json.loads((tmp_path / "report/result.json").read_text())["schema"] == "goldnode.diagnoses/v1"
    assert (tmp_path / "report/junit.xml").exists()


def test_without_a_bundle_there_is_nothing_to_say(tmp_path):
    with pytest.raises(UnreadableError, match=r"has no \*\.evidence\.yml"):
        diagnose(tmp_path, tmp_path, None, NOW)


def test_letters_that_have_no_form_in_utf_8_reach_no_file(tmp_path):
    (tmp_path / "a.evidence.json").write_text(
        '{"schema": "goldnode.evidence/v1", "runs": [{"rc": 125, "request": "gpus", "stderr": "docker: \\ud800 \\u001b[31m"}]}'
    )
    result = diagnose(tmp_path, tmp_path, None, NOW)
    assert "\x1b" not in "\n".join(write_page(result, tmp_path, tmp_path))


def test_a_single_bundle_is_one_bundle(tmp_path):
    (tmp_path / "a.evidence.yml").write_text(NOT_LOADED)
    assert page(diagnose(tmp_path / "a.evidence.yml", tmp_path, None, NOW), tmp_path)[-1].startswith("1 bundle: ")
