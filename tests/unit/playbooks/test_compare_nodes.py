"""compare_nodes as a person runs it, on bundles and on a node that does not answer."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BUNDLES = ROOT / "tests/fixtures/evidence"


def run(folder, *words):
    environment = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "collections"), "ANSIBLE_NOCOLOR": "1"}
    (folder / "hosts.yml").write_text("all: {hosts: {n1: {ansible_host: 127.0.0.1, ansible_port: 1}}}")
    argv = ["ansible-playbook", "-i", str(folder / "hosts.yml"), str(ROOT / "playbooks/compare_nodes.yml"), "-e", f"goldnode_report_dir={folder}", *words]
    return subprocess.run(argv, capture_output=True, text=True, env=environment, check=False, timeout=180)


def test_two_bundles_are_compared_without_any_node(tmp_path):
    done = run(tmp_path, "-e", f"good_node={BUNDLES}/lab_canary.evidence.json", "-e", f"bad_node={BUNDLES}/good_a10.evidence.yml")
    assert done.returncode != 0
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["outcome"] == "fail"
    assert "loaded module" in {row["subject"] for row in result["differences"]}
    assert (tmp_path / "page.txt").read_text() in done.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-e", "good_node=x"], "compare_nodes needs two nodes of the inventory, or two bundles"),
        (["-e", f"good_node={BUNDLES}/lab_canary.evidence.json", "-e", "bad_node=n9"], "n9 is no node of the inventory and no bundle: it cannot be read"),
        (["-e", f"good_node={BUNDLES}/lab_canary.evidence.json", "-e", "bad_node=n1"], "n1 cannot be compared: "),
    ],
)
def test_bad_input_is_refused_with_one_sentence(words, sentence, tmp_path):
    done = run(tmp_path, *words)
    assert done.returncode != 0
    assert sentence in " ".join((done.stdout + done.stderr).split())
