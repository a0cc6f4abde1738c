"""The check modules, run ad hoc on this machine as a person would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

CLONE = Path(__file__).resolve().parents[4]
LAYERS = ("hardware", "kernel", "driver", "device_nodes", "engine", "container_toolkit", "policy", "container", "cuda", "orchestrator")


@pytest.fixture
def ad_hoc(tmp_path):
    roots = ["--procfs", str(tmp_path / "proc"), "--sysfs", str(tmp_path / "sys")]
    host = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable, "goldnode_probe_args": roots}
    inventory = tmp_path / "hosts.yml"
    inventory.write_text(yaml.safe_dump({"all": {"hosts": {"node": host}}}))

    def run(module: str, arguments: str = "") -> dict:
        argv = [str(Path(sys.executable).with_name("ansible")), "node", "-i", str(inventory), "-m", f"goldnode.gpu.{module}", "-a", arguments]
        environment = {**os.environ, "ANSIBLE_CALLBACK_RESULT_FORMAT": "json", "ANSIBLE_COLLECTIONS_PATH": str(CLONE / "collections")}
        done = subprocess.run(argv, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout.partition("=>")[2])

    return run, tmp_path


@pytest.mark.parametrize("layer", ["hardware", "kernel"])
def test_a_check_module_looks_where_the_inventory_says(ad_hoc, layer):
    run, place = ad_hoc
    answer = run(f"{layer}_check")
    assert answer["evidence"]["roots"]["procfs"] == str(place / "proc")
    assert answer["rung"] == "simulated"
    assert set(answer["layers"]) == {layer}


def test_probe_args_of_the_task_win(ad_hoc):
    run, _place = ad_hoc
    answer = run("kernel_check", '{"probe_args": ["--procfs", "/proc"]}')
    assert answer["evidence"]["roots"]["procfs"] == "/proc"


def test_every_check_module_is_led_through_the_action():
    routing = yaml.safe_load((CLONE / "meta/runtime.yml").read_text())["plugin_routing"]["action"]
    assert routing == {f"{layer}_check": {"redirect": "goldnode.gpu.layer_check"} for layer in LAYERS}
