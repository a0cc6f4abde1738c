"""A text that was cut, or that another program wrote, blames nobody and lets nothing pass; and no text takes long to judge."""

import json
import time
from pathlib import Path

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.module_utils.judge import judge
from ansible_collections.goldnode.gpu.plugins.module_utils.model import FAIL, PASS, UNKNOWN

FIXTURES = Path(__file__).parents[3] / "fixtures/evidence"
LAB = json.loads((FIXTURES / "lab_canary.evidence.json").read_text())
LOCK = yaml.load((FIXTURES / "lab_canary.lock.yml").read_text(), yaml.CSafeLoader)
TEXT = {name: "content" if "content" in form else "stdout" for name, form in LAB["probes"].items() if {"content", "stdout"} & set(form)}
FOREIGN = {"a shell": "bash: tool: command not found\n", "a page": "<html>502 Bad Gateway</html>\n", "nothing": "", "words": "hello world\n"}
# When the file was changed is told beside its text.
BY_TIME = {"engine.restarted_since_change"}
WANTED = pytest.mark.parametrize("wanted", [None, LOCK], ids=["no lock", "lock"])


def judged(name, form, wanted):
    return judge({**LAB, "probes": {**LAB["probes"], name: form}}, wanted)


def unseen(name, wanted):
    return judge({**LAB, "probes": {probe: form for probe, form in LAB["probes"].items() if probe != name}}, wanted)


def cut(name, text):
    return {**LAB["probes"][name], TEXT[name]: text, "complete": False, "truncated": True}


def saying(judgement, verdict):
    return {finding.rule for finding in judgement.findings if finding.verdict == verdict}


def pieces(text):
    """Beginnings, ends and middles, at places that are no one's choice and at ends of lines."""
    ends = [at + 1 for at, letter in enumerate(text) if letter == "\n"][:2]
    for at in sorted({len(text) // 3, len(text) // 2, 30, len(text) - 2, *ends} & set(range(1, len(text)))):
        yield from (text[:at], text[at:], text[at // 2 : at])


@WANTED
@pytest.mark.parametrize("name", sorted(TEXT))
def test_a_cut_text_blames_nobody(name, wanted):
    assert [piece for piece in pieces(LAB["probes"][name][TEXT[name]]) if judged(name, cut(name, piece), wanted).verdict == FAIL] == []


@WANTED
@pytest.mark.parametrize("kind", sorted(FOREIGN))
@pytest.mark.parametrize("name", sorted(TEXT))
def test_a_foreign_text_is_as_good_as_none(name, kind, wanted):
    before = unseen(name, wanted)
    for form in (cut(name, FOREIGN[kind]), FOREIGN[kind]):
        after = judged(name, form, wanted)
        assert after.verdict != FAIL
        assert saying(after, PASS) - saying(before, PASS) <= BY_TIME


@WANTED
@pytest.mark.parametrize("name", sorted(TEXT))
def test_a_text_all_in_capitals_is_as_good_as_none(name, wanted):
    after = judged(name, cut(name, LAB["probes"][name][TEXT[name]].upper()), wanted)
    assert after.verdict != FAIL
    assert saying(after, PASS) <= saying(unseen(name, wanted), PASS) | BY_TIME


@pytest.mark.parametrize("text", ["x", *FOREIGN.values(), LAB["probes"]["dmesg"]["content"][-400:]])
@pytest.mark.parametrize("whole", [True, False])
def test_silence_of_a_part_of_the_kernel_log_is_unknown(text, whole):
    if text == LAB["probes"]["dmesg"]["content"][-400:] and whole:
        pytest.skip("says itself that it is the whole log")
    for form in (text, {**LAB["probes"]["dmesg"], "content": text, "complete": whole, "truncated": not whole}):
        assert judged("dmesg", form, None).verdict == UNKNOWN


def test_a_buffer_that_was_overwritten_says_that_it_was():
    lines = "[ 9999.000001] audit: type=1400 audit(1.2:3): a line of no concern\n" * 1500
    assert judged("dmesg", {**LAB["probes"]["dmesg"], "content": lines, "complete": False}, None).verdict == PASS


@pytest.mark.parametrize("text", ["xxxx = true\n", '[xxx-x]\nxxx = "x"\n'])
def test_a_toml_without_a_key_of_the_toolkit_is_not_its_configuration(text):
    assert judged("toolkit_config", {"content": text, "complete": True, "truncated": False}, LOCK).verdict == UNKNOWN


def test_an_empty_list_of_modules_beside_a_running_driver_is_garbled():
    assert judged("lsmod", {"content": "", "complete": True, "truncated": False}, LOCK).verdict == UNKNOWN


UNITS = ["\n", "a", "1", " ", "a.", "[", "nvidia-contai", " File: /dev/nvidia0\n", "menuentry x\n", "<A", "cannot access "]
SEARCHED = ["lxc_config", "node_allocatable", "dmesg", "nvidia_smi_q", "default_boot_kernel", "docker_info", "compose_file", "containerd_config", "cdi_list"]


@pytest.mark.parametrize("unit", UNITS)
def test_no_text_takes_long(unit):
    """Seconds, on a machine that is busy; the square of such a length is minutes."""
    judge({"probes": {}})
    for name in SEARCHED:
        start = time.process_time()
        judge({"probes": {name: unit * (40_000 // len(unit))}})
        assert time.process_time() - start < 5, name
