"""The actions as a playbook meets them: ansible-playbook on this machine, a ledger, a store and a pool whose nodes do not answer."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_of, digest_without
from ansible_collections.goldnode.gpu.plugins.plugin_utils.image_store import ImageStore
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import render

CANARY = "sha256:" + "c" * 64
PINS = {
    "os": {"distribution": "debian", "release": "13", "arch": "x86_64", "cgroup": 2},
    "gpus": [{"model": "A10", "count": 1}],
    "kernel": {"version": "6.12.107+deb13-amd64"},
    "nvidia_driver": {"version": "550.163.01", "modules": "open", "build": "dkms"},
    "container_toolkit": {"version": "1.17.8"},
    "container_engine": "docker",
    "docker": {"version": "26.1.5", "containerd": "1.7.24", "runc": "1.1.15"},
    "canary_image": {"reference": f"hub/goldnode/cuda-canary@{CANARY}", "cuda": "12.8"},
}
NODE = {"ansible_host": "127.0.0.1", "ansible_port": 1}
POOL = {"children": {"lab_a10_canary": {"hosts": {"c1": NODE, "c2": NODE}}, "lab_a10_baseline": {"hosts": {"b1": NODE}}}}
POLICY = {"slot": "24h", "minimum_rung": "simulated"}


class Site:
    """An inventory with one pool, below a folder of the test."""

    def __init__(self, home: Path) -> None:
        self.home, self.state, self.inventory = home, home / "state", home / "inventory"
        self.write("hosts.yml", {"all": {"children": {"lab_a10": POOL}}})
        self.write("group_vars/all/site.yml", {"goldnode_environment": "lab", "goldnode_state_dir": str(self.state)})
        self.policy(POLICY)

    def write(self, path: str, content: object) -> None:
        target = self.inventory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(yaml.safe_dump(content))

    def policy(self, numbers: dict) -> None:
        self.write("group_vars/lab_a10/promotion.yml", {"goldnode_promotion": numbers})

    def lock(self) -> dict:
        images = [{"use": "canary", "reference": PINS["canary_image"]["reference"], "digest": CANARY}]
        lock = {"schema": "goldnode.lock/v1", "pool": "lab_a10", "pins": PINS, "pins_digest": digest_of(PINS)}
        lock = {**lock, "repositories": [], "packages": [], "images": images}
        lock["digest"] = digest_without(lock)
        (self.inventory / "locks").mkdir(exist_ok=True)
        (self.inventory / "locks" / "lab_a10.lock.yml").write_text(render(lock))
        return lock

    def image(self, lock_digest: str) -> str:
        store, files = ImageStore(self.state), [self.home / "image", self.home / "manifest"]
        for file in files:
            file.write_text(f"{file.name} of {lock_digest}")
        image, manifest = map(store.put, files)
        store.record(lock_digest, {"lock_digest": lock_digest, "image_digest": image, "manifest_digest": manifest})
        return image

    def play(self, playbook: str, *options: str, **inputs: object) -> tuple[int, dict, str]:
        report = self.home / f"report-{len(list(self.home.glob('report-*')))}"
        extra = json.dumps({"goldnode_report_dir": str(report), **inputs})
        argv = ["ansible-playbook", "-i", str(self.inventory / "hosts.yml"), playbook, "-e", extra, *options]
        done = subprocess.run(argv, capture_output=True, text=True, env={**os.environ, "ANSIBLE_HOME": str(self.home / "ansible")})
        result = report / "result.json"
        return done.returncode, json.loads(result.read_text()) if result.exists() else {}, done.stdout + done.stderr

    def lab(self) -> Site:
        play = self.home / "lab.yml"
        play.write_text(yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "tasks": [{"goldnode.gpu.release": {"state": "environment"}}]}]))
        assert self.play(str(play))[0] == 0
        return self


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_a_pool_without_canaries_that_answer_gets_its_inconclusive_slot_and_no_promotion(site):
    image = site.lab().image(site.lock()["digest"])
    code, registered, _ = site.play("goldnode.gpu.register_release", pool="lab_a10")
    assert (code, registered["outcome"], registered["release"]["image_digest"]) == (0, "pass", image)

    code, closed, output = site.play("goldnode.gpu.run_canary", pool="lab_a10")
    assert code != 0
    assert (closed["outcome"], closed["slot"]["result"], closed["slot"]["release_state"]) == ("inconclusive", "INCONCLUSIVE", "VERIFIED")
    assert "is INCONCLUSIVE: c1, c2: no evidence: unreachable" in output

    code, blocked, output = site.play("goldnode.gpu.promote_image", pool="lab_a10")
    assert (code != 0, blocked["outcome"], blocked["promotion"]["promoted"]) == (True, "blocked", False)
    assert "streak      0 of 48" in output

    code, explained, _ = site.play("goldnode.gpu.explain_promotion", "--check", pool="lab_a10")
    assert (code, explained["promotion"]["release"]) == (0, registered["release"]["release"])


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        pytest.param(lambda site: None, "was not registered by create_lab", id="not a lab"),
        pytest.param(
            lambda site: site.policy({"streek": 1}), "(group_vars/lab_a10/promotion.yml): goldnode_promotion has the unknown key 'streek'", id="policy"
        ),
        pytest.param(lambda site: (site.inventory / "locks/lab_a10.lock.yml").unlink(), "is not there; lock_stack writes it", id="no lock"),
        pytest.param(lambda site: next(site.state.glob("store/builds/*")).unlink(), "has no image of pool lab_a10 that was built from lock", id="no image"),
    ],
)
def test_a_release_that_cannot_be_registered_gets_one_sentence(site, spoil, sentence):
    site.image(site.lock()["digest"])
    spoil(site)
    code, result, output = site.play("goldnode.gpu.register_release", pool="lab_a10")
    assert (code != 0, result["outcome"]) == (True, "fail")
    assert sentence in result["message"]
    assert "Traceback" not in output


def test_an_image_of_another_lock_is_refused(site):
    site.lab().lock()
    other = site.image("sha256:" + "9" * 64)
    code, result, _ = site.play("goldnode.gpu.register_release", pool="lab_a10", image_digest=other)
    assert code != 0
    assert "was built from lock 9999999, not from" in result["message"]


def test_a_slot_that_cannot_be_opened_leaves_its_result(site):
    site.write("group_vars/all/site.yml", {"goldnode_state_dir": str(site.state)})
    code, result, _ = site.play("goldnode.gpu.run_canary", pool="lab_a10")
    assert (code != 0, result["schema"], result["outcome"]) == (True, "goldnode.slot/v1", "fail")
    assert result["message"].startswith("goldnode_environment is not set; give the inventory by -i …/hosts.yml")


def test_a_limit_and_a_pool_that_is_not_there_are_refused(site):
    code, _, output = site.play("goldnode.gpu.run_canary", "--limit", "c1", pool="lab_a10")
    assert code != 0
    assert "--limit would leave out localhost" in output
    code, _, output = site.play("goldnode.gpu.run_canary", pool="nowhere")
    assert code != 0
    assert "pool is nowhere; expected a group of the inventory" in " ".join(output.split())
    assert not site.state.exists()


def test_a_report_that_cannot_be_written_gets_one_sentence_and_the_ledger_keeps_the_release(site):
    site.image(site.lab().lock()["digest"])
    play = site.home / "register.yml"
    task = {"state": "registered", "pool": "lab_a10", "policy": POLICY, "report_dir": "/dev/null/report"}
    task["lock_file"] = str(site.inventory / "locks/lab_a10.lock.yml")
    play.write_text(yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "tasks": [{"goldnode.gpu.release": task}]}]))
    code, _, output = site.play(str(play))
    assert code != 0
    assert "/dev/null/report/result.json could not be written: Not a directory" in " ".join(output.split())
    assert "Traceback" not in output
    assert site.play("goldnode.gpu.explain_promotion", pool="lab_a10")[1]["promotion"]["release"].startswith("sha256:")
