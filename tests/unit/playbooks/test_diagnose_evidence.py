"""diagnose_evidence as a person runs it: what it leaves behind, and what it refuses."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def run(*words):
    environment = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "collections"), "ANSIBLE_NOCOLOR": "1"}
    argv = ["ansible-playbook", str(ROOT / "playbooks/diagnose_evidence.yml"), *words]
    return subprocess.run(argv, capture_output=True, text=True, env=environment, check=False, timeout=180)


def test_every_bundle_gets_its_diagnosis_and_the_run_ends_as_they_do(tmp_path):
    cases = ROOT / "tests/cases"
    done = run("-e", f"evidence_path={cases}", "-e", f"diagnosis_path={tmp_path}/out", "-e", f"goldnode_report_dir={tmp_path}/report")
    assert done.returncode != 0
    stems = {path.name.removesuffix(".evidence.yml") for path in cases.glob("*.evidence.yml")}
    assert {path.name.removesuffix(".diagnosis.json") for path in (tmp_path / "out").glob("*.diagnosis.json")} == stems
    assert json.loads((tmp_path / "report/result.json").read_text())["outcome"] == "fail"
    assert (tmp_path / "out/page.txt").read_text() in done.stdout


def test_a_node_that_passes_ends_with_zero(tmp_path):
    bundle = ROOT / "tests/fixtures/evidence/lab_canary.evidence.json"
    done = run("-e", f"evidence_path={bundle}", "-e", f"diagnosis_path={tmp_path}", "-e", f"goldnode_report_dir={tmp_path}")
    assert done.returncode == 0, done.stdout
    assert json.loads((tmp_path / "lab_canary.diagnosis.json").read_text())["verdict"] == "pass"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "needs bundles and a directory"),
        (["-e", "evidence_path=/nonexistent", "-e", "diagnosis_path={tmp}"], "/nonexistent does not exist"),
        (["-e", "evidence_path={tmp}", "-e", "diagnosis_path={tmp}/out"], "has no *.evidence.yml and no *.evidence.json"),
        (["-e", "evidence_path={tmp}", "-e", "diagnosis_path=/proc/nowhere"], "/proc/nowhere cannot be read or written"),
    ],
)
def test_bad_input_is_refused_with_one_sentence(words, sentence, tmp_path):
    done = run(*(word.format(tmp=tmp_path) for word in words))
    assert done.returncode != 0
    assert sentence in " ".join((done.stdout + done.stderr).split())
    assert "Traceback" not in done.stdout + done.stderr
