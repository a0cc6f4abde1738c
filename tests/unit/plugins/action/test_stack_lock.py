"""The playbook lock_stack and the action behind it, run as a user runs them, against a real signed repository."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import MagicMock

import pytest
import yaml
from ansible.errors import AnsibleActionFail
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task
from ansible.template import Templar
from ansible_collections.goldnode.gpu.plugins.action.stack_lock import ActionModule

HOSTS = {
    "all": {
        "children": {
            "lab_a10": {
                "children": {
                    "lab_a10_canary": {"hosts": {"c1": {}}},
                    "lab_a10_baseline": {"hosts": {"b1": {}}},
                    "lab_a10_production": {"hosts": {"p1": {}}},
                }
            }
        }
    }
}


class Controller:
    """An inventory on disk and ansible-playbook over it."""

    def __init__(self, site, folder):
        self.site, self.folder = site, folder
        self.lock = site.inventory / "locks" / "lab_a10.lock.yml"
        self.hosts(HOSTS)

    def hosts(self, hosts):
        (self.site.inventory / "hosts.yml").write_text(yaml.safe_dump(hosts))

    def lock_stack(self, *options, pool="lab_a10"):
        report = self.folder / "report"
        shutil.rmtree(report, ignore_errors=True)
        playbook = [str(Path(sys.executable).with_name("ansible-playbook")), "-i", str(self.site.inventory / "hosts.yml"), "goldnode.gpu.lock_stack"]
        inputs = ["-e", f"goldnode_report_dir={report}", *(["-e", f"pool={pool}"] if pool else [])]
        done = subprocess.run([*playbook, *inputs, *options], capture_output=True, text=True, check=False, env={**os.environ, "ANSIBLE_LOCALHOST_WARNING": "0"})
        result = report / "result.json"
        return done, json.loads(result.read_text()) if result.exists() else None


@pytest.fixture
def controller(site, tmp_path):
    return Controller(site, tmp_path)


def test_check_mode_only_shows_and_a_second_run_changes_nothing(controller):
    done, result = controller.lock_stack("--check", "--diff")
    assert done.returncode == 0
    assert "+pool: lab_a10" in done.stdout
    assert not controller.lock.exists() and result is None

    done, first = controller.lock_stack()
    assert (done.returncode, first["schema"], first["outcome"], first["changed"]) == (0, "goldnode.lock_stack/v1", "pass", True)
    written = controller.lock.read_bytes()
    assert yaml.safe_load(written)["digest"] == first["digest"]

    done, second = controller.lock_stack()
    assert (second["changed"], second["summary"]) == (False, ["nothing changed"])
    assert controller.lock.read_bytes() == written


def test_a_refusal_is_one_sentence_in_the_result_and_no_lock(controller):
    controller.site.pins["nvidia_driver"]["version"] = "999.1"
    controller.site.write()
    done, result = controller.lock_stack()
    assert done.returncode != 0
    assert result["outcome"] == "fail"
    assert 'nvidia_driver.version is "999.1"' in result["message"] and "\n" not in result["message"]
    assert "Traceback" not in done.stdout + done.stderr
    assert not controller.lock.exists()


@pytest.mark.parametrize(
    ("options", "pool", "reason"),
    [((), None, "pool is not given; expected a group of the inventory"), (("--limit", "c1"), "lab_a10", "--limit would leave out localhost")],
)
def test_wrong_inputs_are_refused_before_anything_happens(controller, options, pool, reason):
    done, result = controller.lock_stack(*options, pool=pool)
    assert done.returncode != 0
    assert reason in done.stdout + done.stderr
    assert result is None


GROUPS = {"lab_a10": ["c1", "b1", "p1"], "lab_a10_canary": ["c1"], "lab_a10_baseline": ["b1"], "lab_a10_production": ["p1"]}


def act(site, groups=GROUPS, **arguments):
    """The action alone, as a task would call it."""
    task = Task.load({"name": "Lock", "goldnode.gpu.stack_lock": arguments})
    action = ActionModule(
        task=task, connection=MagicMock(), play_context=PlayContext(), loader=DataLoader(), templar=Templar(DataLoader()), shared_loader_obj=None
    )
    hostvars = {host: {"inventory_dir": str(site.inventory)} for hosts in groups.values() for host in hosts}
    # as under molecule, whose own inventory comes first
    return action.run(task_vars={"groups": groups, "hostvars": hostvars, "ansible_inventory_sources": ["/elsewhere/hosts.yml"]})


def test_a_new_pin_shows_what_moves(site):
    before = act(site, state="present", pool="lab_a10")["lock"]
    site.pins["kernel"]["version"] = "6.12.117+deb13-amd64"
    site.write()
    again = act(site, state="present", pool="lab_a10")
    assert again["changed"] and again["lock"]["digest"] != before["digest"]
    assert again["summary"][0].endswith("kernel 6.12.107+deb13-amd64 -> 6.12.117+deb13-amd64 (3 packages)")
    assert "-  version: 6.12.107-1" not in again["diff"]["after"] and "6.12.107-1" in again["diff"]["before"]


def test_a_lock_that_was_edited_by_hand_is_refused_when_read_and_written_anew_when_locked(site):
    path = Path(act(site, state="present", pool="lab_a10")["path"])
    good = path.read_text()
    path.write_text(good.replace("580.159.03-1", "580.159.04-1"))
    with pytest.raises(AnsibleActionFail, match="was changed after lock_stack wrote it"):
        act(site, state="read", path=str(path))
    assert act(site, state="present", pool="lab_a10")["changed"]
    assert path.read_text() == good
    assert act(site, state="read", path=str(path))["lock"]["pool"] == "lab_a10"


def test_a_host_in_two_pools_is_refused(site):
    two = {**GROUPS, "z": ["p1"], "z_canary": [], "z_baseline": [], "z_production": ["p1"]}
    with pytest.raises(AnsibleActionFail, match="host p1 is in two pools, lab_a10 and z; leave it in one"):
        act(site, two, state="present", pool="lab_a10")
