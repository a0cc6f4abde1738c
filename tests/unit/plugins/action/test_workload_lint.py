"""lint_workload as a user runs it: exit code, sentence, result.json."""

import json
import os
import subprocess

import pytest

RIGHT = """
services:
  app:
    image: nvidia/cuda:12.4.1-base-ubuntu22.04@sha256:0000000000000000000000000000000000000000000000000000000000000000
    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1, capabilities: [gpu]}]}}}
"""


def play(tmp_path, **inputs):
    report = tmp_path / "report"
    extra = json.dumps({"goldnode_report_dir": str(report), **inputs})
    argv = ["ansible-playbook", "-i", "localhost,", "goldnode.gpu.lint_workload", "-e", extra]
    done = subprocess.run(argv, capture_output=True, text=True, env={**os.environ, "ANSIBLE_HOME": str(tmp_path / "ansible")})
    result = report / "result.json"
    return done.returncode, json.loads(result.read_text()) if result.exists() else None, done.stdout + done.stderr


def test_a_right_workload_passes(tmp_path):
    (tmp_path / "compose.yml").write_text(RIGHT)
    code, result, output = play(tmp_path, workload=str(tmp_path / "compose.yml"))
    assert (code, result["schema"], result["outcome"]) == (0, "goldnode.workload/v1", "pass")
    assert "pass: 1 GPU workloads, 0 errors, 0 warnings, 0 files not judged" in output


def test_a_wrong_workload_fails_with_its_table_and_remedy(tmp_path):
    (tmp_path / "compose.yml").write_text(RIGHT.split("    deploy")[0])
    code, result, output = play(tmp_path, workload=str(tmp_path))
    assert (code != 0, result["outcome"]) == (True, "fail")
    assert "compose.yml app · workload.request_missing (error)" in output
    assert "Traceback" not in output


@pytest.mark.parametrize(
    ("inputs", "sentence"), [({}, "lint_workload needs a Compose file"), ({"workload": "/nowhere"}, "/nowhere is not there; give a Compose file")]
)
def test_a_wrong_input_gets_one_sentence(tmp_path, inputs, sentence):
    code, result, output = play(tmp_path, **inputs)
    assert (code != 0, result) == (True, None)
    assert sentence in " ".join(output.split())
    assert "Traceback" not in output
