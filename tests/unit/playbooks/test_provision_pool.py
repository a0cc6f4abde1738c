"""provision_pool as a person runs it: a pool on which another run works is left alone."""

import os
import subprocess
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.pool_claim import take

ROOT = Path(__file__).parents[3]


def provision(tmp_path):
    environment = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "collections"), "ANSIBLE_NOCOLOR": "1"}
    argv = ["ansible-playbook", str(ROOT / "playbooks/provision_pool.yml"), "-i", "localhost,", "-e", "pool=all", "-e", f"goldnode_state_dir={tmp_path}"]
    done = subprocess.run(argv, capture_output=True, text=True, env=environment, check=False, timeout=120)
    return " ".join((done.stdout + done.stderr).split())


def test_a_second_run_on_a_pool_is_refused_and_one_after_a_dead_run_goes_on(tmp_path):
    take(tmp_path, "all", os.getpid())
    said = provision(tmp_path)
    assert f"pool all is being worked on by process {os.getpid()}" in said
    assert "Settle where the result goes" not in said
    (tmp_path / "claims/all").write_text("1:0")
    assert "Settle where the result goes" in provision(tmp_path)
    assert not (tmp_path / "claims/all").read_text().startswith("1:")
