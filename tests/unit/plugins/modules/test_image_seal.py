import json
import subprocess
import sys

import pytest


@pytest.fixture
def root(tmp_path):
    (tmp_path / "etc/ssh").mkdir(parents=True)
    for path in ("etc/machine-id", "etc/resolv.conf", "etc/ssh/ssh_host_rsa_key"):
        (tmp_path / path).touch()
    return tmp_path


def run(root, **params):
    arguments = json.dumps({"ANSIBLE_MODULE_ARGS": {"root": str(root), **params}})
    done = subprocess.run(
        [sys.executable, "-m", "ansible_collections.goldnode.gpu.plugins.modules.image_seal"], input=arguments, capture_output=True, text=True, check=False
    )
    return json.loads(done.stdout)


FOUND = [{"item": "ssh host keys", "path": "etc/ssh/ssh_host_rsa_key", "observed": "is there"}]


def test_checking_returns_what_is_found_and_removes_nothing(root):
    result = run(root, state="checked")
    assert (result["changed"], result["violations"]) == (False, FOUND)
    assert (root / "etc/ssh/ssh_host_rsa_key").exists()


def test_sealing_removes_what_is_found_and_a_second_time_changes_nothing(root):
    assert (run(root)["changed"], (root / "etc/ssh/ssh_host_rsa_key").exists()) == (True, False)
    assert run(root)["changed"] is False


def test_check_mode_says_what_would_be_removed(root):
    result = run(root, _ansible_check_mode=True)
    assert (result["changed"], result["violations"]) == (True, FOUND)
    assert (root / "etc/ssh/ssh_host_rsa_key").exists()


@pytest.mark.parametrize("path", ["/", "/proc/self/fd"])
def test_what_is_no_root_of_an_image_is_refused(path):
    assert "is no root file system that can be sealed" in run(path, state="checked")["msg"]
