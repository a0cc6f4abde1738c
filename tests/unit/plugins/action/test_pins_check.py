"""check_pins as a user runs it: exit code, sentence, report."""

import json
import os
import subprocess

import pytest
import yaml

from tests.unit.plugins.plugin_utils.pins.sets import pins


def play(tmp_path, **inputs):
    report = tmp_path / "report.json"
    extra = json.dumps({"report": str(report), **inputs})
    argv = ["ansible-playbook", "-i", "localhost,", "goldnode.gpu.check_pins", "-e", extra]
    done = subprocess.run(argv, capture_output=True, text=True, env={**os.environ, "ANSIBLE_HOME": str(tmp_path / "ansible")})
    return done.returncode, json.loads(report.read_text()) if report.exists() else None, done.stdout + done.stderr


def written(tmp_path, *changes):
    path = tmp_path / "pins.yml"
    path.write_text(yaml.safe_dump({"goldnode_pins": pins(*changes)}))
    return str(path)


def test_a_right_pin_set_passes(tmp_path):
    code, report, output = play(tmp_path, pins_file=written(tmp_path), check_pins_date="2026-11-30")
    assert (code, report["schema"], report["outcome"]) == (0, "goldnode.check_pins/v1", "pass")
    assert "pass: 0 refusals, 0 warnings" in output


def test_a_wrong_pin_set_fails_with_reason_and_nearest_change(tmp_path):
    code, report, output = play(tmp_path, pins_file=written(tmp_path, {"nvidia_driver.build": "prebuilt"}))
    assert (code != 0, report["outcome"]) == (True, "fail")
    assert report["refusals"][0]["nearest"]["change"] == {"nvidia_driver.build": "dkms"}
    assert "REFUSAL · pins.prebuilt_modules · nvidia_driver.build" in output
    assert "Traceback" not in output


@pytest.mark.parametrize(
    ("inputs", "sentence"),
    [({}, "check_pins needs a pin set"), ({"pins_file": "/nowhere", "check_pins_date": "soon"}, "today is soon; expected a day, YYYY-MM-DD")],
)
def test_a_wrong_input_gets_one_sentence(tmp_path, inputs, sentence):
    code, report, output = play(tmp_path, **inputs)
    assert (code != 0, report) == (True, None)
    assert sentence in " ".join(output.split())
    assert "Traceback" not in output


@pytest.mark.parametrize("target", ["pins.yml", "waivers.yml"])
def test_what_is_judged_is_never_written_over(tmp_path, target):
    path = written(tmp_path)
    (tmp_path / "waivers.yml").write_text("goldnode_waivers: []\n")
    before = (tmp_path / target).read_bytes()
    code, _, output = play(tmp_path, pins_file=path, report=str(tmp_path / target))
    assert code != 0 and "which is what is judged; give another place by -e report=" in " ".join(output.split())
    assert (tmp_path / target).read_bytes() == before
