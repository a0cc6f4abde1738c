"""Playbooks that have no check mode say so before anything happens."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("playbook", ["run_canary", "promote_image", "provision_pool"])
def test_check_mode_is_refused_with_one_sentence_before_anything_else(playbook, tmp_path):
    environment = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "collections"), "ANSIBLE_NOCOLOR": "1"}
    words = ["--check", "-i", "localhost,", "-e", "pool=all", "-e", f"goldnode_state_dir={tmp_path}"]
    argv = ["ansible-playbook", str(ROOT / f"playbooks/{playbook}.yml"), *words]
    done = subprocess.run(argv, capture_output=True, text=True, env=environment, check=False, timeout=120)
    assert done.returncode != 0
    assert f"{playbook} has no check mode. Leave --check out." in " ".join((done.stdout + done.stderr).split())
    assert "Check the inputs" not in done.stdout
    assert list(tmp_path.iterdir()) == []
