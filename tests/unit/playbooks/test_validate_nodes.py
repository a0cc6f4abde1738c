"""validate_nodes as a person runs it, over local stand-ins for nodes: what it refuses, and that every end leaves a result."""

import json
import os
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_without

ROOT = Path(__file__).parents[3]
PLAYBOOK = ROOT / "playbooks/validate_nodes.yml"
LOCAL = {"ansible_connection": "local", "ansible_python_interpreter": "/usr/bin/python3"}
NODES = {
    "n1": LOCAL,
    "n2": {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1},
    "n3": {**LOCAL, "ansible_python_interpreter": "/nonexistent/python3"},
    "n4": {**LOCAL, "ansible_python_interpreter": "/bin/echo"},
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """An inventory of one pool and a lock whose digest holds."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "hosts.yml").write_text(yaml.safe_dump({"all": {"children": {"lab_a10": {"hosts": NODES}}}}))
    lock = yaml.safe_load((ROOT / "tests/fixtures/evidence/lab_canary.lock.yml").read_text())
    (folder / "lab_a10.lock.yml").write_text(yaml.safe_dump({**lock, "digest": digest_without(lock)}))
    return folder


def validate(site, *words, hosts="hosts.yml"):
    environment = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "collections"), "ANSIBLE_NOCOLOR": "1"}
    lock = f"lock_file={site / 'lab_a10.lock.yml'}"
    argv = ["ansible-playbook", "-i", str(site / hosts), str(PLAYBOOK), "-e", lock, "-e", '{"canary_paths": []}', *words]
    return subprocess.run(argv, capture_output=True, text=True, env=environment, check=False, timeout=180)


@pytest.fixture(scope="module")
def done(site):
    """One run over a node without GPU, an unreachable one, one without Python and one that answers with something else."""
    return validate(site, "-e", "pool=lab_a10", "-e", f"goldnode_report_dir={site}/report")


def test_a_run_that_does_not_pass_ends_with_an_error(done):
    assert done.returncode != 0


def test_every_node_is_in_the_result_whatever_became_of_it(done, site):
    result = json.loads((site / "report/result.json").read_text())
    assert result["outcome"] == "fail"
    assert {name: node["state"] for name, node in result["nodes"].items()} == {"n1": "judged", "n2": "unreachable", "n3": "not judged", "n4": "not judged"}
    assert "Install python3 there" in result["nodes"]["n3"]["reason"]
    assert "did not print an evidence bundle" in result["nodes"]["n4"]["reason"]


def test_the_page_on_the_terminal_is_the_one_on_disk(done, site):
    assert (site / "report/page.txt").read_text() in done.stdout


def test_only_judged_nodes_leave_a_bundle(done, site):
    assert [path.name for path in (site / "report/bundles").iterdir()] == ["n1.evidence.json"]


def test_junit_has_a_suite_for_each_node(done, site):
    assert {suite.get("name") for suite in ET.parse(site / "report/junit.xml").getroot()} == set(NODES)


def test_unreachable_nodes_alone_still_leave_a_result(site):
    done = validate(site, "-e", "pool=lab_a10", "-e", "nodes=n2", "-e", f"goldnode_report_dir={site}/alone")
    assert done.returncode != 0
    assert json.loads((site / "alone/result.json").read_text())["outcome"] == "inconclusive"


def test_a_node_whose_python_never_ends_is_given_up_at_the_deadline(site):
    python = site / "python3"
    python.write_text("#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 1; done\n")
    python.chmod(0o755)
    hung = {"n1": {**LOCAL, "ansible_python_interpreter": str(python)}}
    (site / "hung.yml").write_text(yaml.safe_dump({"all": {"children": {"lab_a10": {"hosts": hung}}}}))
    done = validate(site, "-e", "pool=lab_a10", "-e", "node_check_timeout=2", "-e", f"goldnode_report_dir={site}/hung", hosts="hung.yml")
    assert done.returncode != 0
    (node,) = json.loads((site / "hung/result.json").read_text())["nodes"].values()
    assert node["state"] == "not judged"
    assert "Timed out after 2 second" in node["reason"]


def test_no_playbook_looks_at_a_node_without_a_deadline():
    playbooks = [path.read_text() for path in sorted((ROOT / "playbooks").rglob("*.yml"))]
    checks = [task for text in playbooks for task in tasks_in(yaml.safe_load(text)) if "goldnode.gpu.node_check" in task]
    assert len(checks) >= 5
    assert [task["name"] for task in checks if "node_check_timeout" not in str(task.get("timeout"))] == []


def tasks_in(tree):
    """Every mapping in a parsed playbook, tasks among them."""
    if isinstance(tree, list):
        return [task for item in tree for task in tasks_in(item)]
    return [tree, *(task for item in tree.values() for task in tasks_in(item))] if isinstance(tree, dict) else []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-e", "pool=lab_a10", "--limit", "n1"], "--limit would leave out the report; choose nodes by -e nodes=a,b"),
        ([], "pool is not given; expected a group of the inventory"),
        (["-e", "pool=nope"], "pool is nope; expected a group of the inventory"),
        (["-e", "pool=lab_a10", "-e", "nodes=n1,zz"], "expected nodes of pool lab_a10: n1, n2, n3, n4"),
    ],
)
def test_bad_input_is_refused_with_one_sentence(words, sentence, site):
    done = validate(site, *words)
    assert done.returncode != 0
    assert sentence in " ".join((done.stdout + done.stderr).split())


def test_a_node_costs_at_most_two_tasks():
    (nodes,) = [play for play in yaml.safe_load(PLAYBOOK.read_text()) if play["hosts"] != "localhost" and "undef" not in play["hosts"]]
    (block,) = nodes["tasks"]
    assert len(block["block"]) + len(block["rescue"]) <= 2
