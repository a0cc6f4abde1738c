"""A good and a bad host side by side."""

import copy
import json
from pathlib import Path

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.anonymise import Anonymiser
from ansible_collections.goldnode.gpu.plugins.plugin_utils.compare import compare, page, write_comparison

GOOD = json.loads((Path(__file__).parents[3] / "fixtures/evidence/lab_canary.evidence.json").read_text())
NOW = "2026-11-30T21:04:10Z"


def compared(bad, good=GOOD):
    return compare(good, bad, ("a", "b"), NOW)


def text(evidence, probe, old, new):
    form = evidence["probes"][probe]
    key = "stdout" if "stdout" in form else "content"
    assert old in form[key]
    form[key] = form[key].replace(old, new)


@pytest.fixture
def bad():
    return copy.deepcopy(GOOD)


def test_two_looks_at_one_node_do_not_differ(bad):
    bad |= {"boot_id": "x", "captured_at": "y", "node": "other"}
    text(bad, "dmesg", "[", "[   9")
    assert compared(bad)["outcome"] == "pass"


def test_another_node_of_the_same_kind_does_not_differ():
    assert compared(Anonymiser([GOOD]).bundle(GOOD))["outcome"] == "pass"


def test_versions_come_first_and_then_the_layers_in_their_order(bad):
    text(bad, "kernel_release", "6.12.107", "6.12.117")
    text(bad, "dpkg_l", "docker.io 26.1.5", "docker.io 26.1.6")
    text(bad, "lspci_nnk", "[10de:2236]", "[10de:2235]")
    result = compared(bad)
    rows = [(row["layer"], row["subject"], row["versions"]) for row in result["differences"]]
    assert rows == [
        ("kernel", "running kernel", True),
        ("engine", "docker.io", True),
        ("hardware", "GPU 10de:2235", False),
        ("hardware", "GPU 10de:2236", False),
    ]
    assert result["outcome"] == "fail"


def test_a_part_that_is_missing_in_an_excerpt_is_no_difference(bad):
    whole = bad["probes"]["dpkg_l"]
    bad["probes"]["dpkg_l"] = "\n".join(line for line in whole["stdout"].splitlines() if "docker.io" not in line)
    result = compared(bad)
    assert (result["outcome"], result["differences"], result["not_compared"]) == ("inconclusive", [], ["docker.io"])
    bad["probes"]["dpkg_l"] = {**whole, "stdout": bad["probes"]["dpkg_l"]}
    assert [(row["subject"], row["bad"]) for row in compared(bad)["differences"]] == [("docker.io", "-")]


def test_settings_are_compared_leaf_by_leaf(bad):
    bad["probes"]["docker_daemon_json"] = {"content": '{"log-opts": {"max-size": "1m"}}', "complete": True}
    assert "daemon.json log-opts.max-size" in [row["subject"] for row in compared(bad)["differences"]]


def test_the_page_shows_both_sides_and_what_fails_on_the_bad_one_alone(bad, tmp_path):
    bad["probes"]["proc_driver_nvidia_version"] = {"absent": True}
    bad["probes"]["lsmod"] = {"absent": True}
    result = compared(bad)
    lines = write_comparison(result, tmp_path)
    assert lines[0] == "good: a passes · bad: b fail in driver"
    assert lines[2].split() == ["layer", "what", "a", "b"]
    assert any(line.startswith("b · driver.") for line in lines)
    assert lines[-1].endswith(f"result.json and page: {tmp_path}")
    assert json.loads((tmp_path / "result.json").read_text())["schema"] == "goldnode.comparison/v1"
    assert page(compared(GOOD), tmp_path)[-1] == f"No difference. result.json and page: {tmp_path}"


def test_nothing_at_all_can_be_compared():
    nothing = {"schema": "goldnode.evidence/v1", "probes": {}}
    assert compared(nothing)["outcome"] == "inconclusive"
    assert compared(nothing)["differences"] == []
    alike = compared(nothing, nothing)
    assert (alike["outcome"], alike["not_compared"][:2]) == ("inconclusive", ["all of hardware", "all of kernel"])
