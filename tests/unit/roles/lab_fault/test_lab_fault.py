"""The catalogue of faults: each names a rule of its layer, and scripts that a shell takes; its page has each of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.model import LAYERS
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import RULES
from ansible_collections.goldnode.gpu.plugins.plugin_utils.canary import workload_run

from tests.faults.bench import POOLS
from tests.faults.catalogue import HELPERS, Fault, faults

ALL = faults()
PAGE = Path(__file__).resolve().parents[4] / "docs/faults.md"
by_id = pytest.mark.parametrize("fault", ALL, ids=lambda fault: fault.id)


def test_there_are_faults_of_every_layer_that_a_lab_node_has() -> None:
    assert {fault.layer for fault in ALL} == set(LAYERS) - {"orchestrator"}
    assert len(ALL) >= 45


@by_id
def test_a_fault_names_a_rule_of_its_layer_and_a_pool_of_the_bench(fault: Fault) -> None:
    assert RULES[fault.rule].layer == fault.layer
    assert fault.pool in POOLS


@by_id
@pytest.mark.parametrize("state", ["present", "absent"])
def test_its_scripts_are_ones_that_a_shell_takes(fault: Fault, state: str) -> None:
    assert subprocess.run(["sh", "-n"], input=fault.script(state), text=True, capture_output=True).stderr == ""


@by_id
def test_its_runs_are_workloads_of_which_each_has_a_container_to_end(fault: Fault) -> None:
    for run in fault.runs:
        argv = workload_run(run, "image", "ab", "fault", 60)["argv"]
        assert argv[:2] == ["docker", "exec"] or "--name" in argv


@by_id
def test_the_page_of_the_faults_has_it(fault: Fault) -> None:
    assert f"| `{fault.id}` | {fault.what} | [{fault.rule}](rules/{fault.rule}.md)" in PAGE.read_text()


def shell(folder: Path, script: str) -> None:
    helpers = HELPERS.read_text().replace("kept=/var/lib/goldnode-lab/fault", f"kept={folder}/kept")
    subprocess.run(["sh", "-s"], input=f"{helpers}\nset -eu\n{script}", text=True, check=True)


def test_restore_undoes_every_change_the_last_one_first(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/b").write_text("b")
    (tmp_path / "it.json").write_text('{"x": 1}')
    edits = "change s/one/two/ $PWD/a; change s/two/three/ $PWD/a; edit $PWD/it.json 'it[\"x\"] = 2'"
    changes = f"cd {tmp_path}; {edits}; take $PWD/folder; echo new | put $PWD/deep/new"
    shell(tmp_path, changes)
    assert (tmp_path / "a").read_text() == "three\n"
    assert not (tmp_path / "folder").exists()
    assert (tmp_path / "deep/new").read_text() == "new\n"
    assert '"x": 2' in (tmp_path / "it.json").read_text()
    shell(tmp_path, "restore")
    assert (tmp_path / "a").read_text() == "one\n"
    assert (tmp_path / "folder/b").read_text() == "b"
    assert not (tmp_path / "deep/new").exists()
    assert (tmp_path / "it.json").read_text() == '{"x": 1}'
    assert not (tmp_path / "kept").exists()
