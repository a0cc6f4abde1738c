"""collect_evidence as a person runs it, over local stand-ins for nodes whose tools say secrets and names: none of them is in what it leaves behind."""

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.module_utils.judge import judge
from ansible_collections.goldnode.gpu.plugins.plugin_utils.bundles import read

ROOT = Path(__file__).parents[3]
LOCAL = {"ansible_connection": "local", "ansible_python_interpreter": "/usr/bin/python3"}
SECRET = "S3cr3tS3cr3t"
SAID = f"""DB_PASSWORD={SECRET}
https://user:{SECRET}@registry.acme.com/v2
{{"auths": {{"r": {{"auth": "{SECRET}"}}}}}}
Authorization: Bearer {SECRET}
node gpu-west-7 at 10.9.8.7, GPU-72721806-c170-5251-9ee7-9901f0e63ac7 in /home/alice
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Two nodes, one of which does not answer, and tools and kernel files that say too much."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "said").write_text(SAID)
    (folder / "tools").mkdir()
    for name in ("nvidia-smi", "docker", "modinfo", "dkms", "nvidia-ctk", "podman", "containerd", "runc", "aa-status", "getenforce"):
        (folder / "tools" / name).write_text(f"#!/bin/sh\nexec cat {folder}/said\n")
        (folder / "tools" / name).chmod(0o755)
    (folder / "proc/driver/nvidia").mkdir(parents=True)
    for name in ("cmdline", "modules", "driver/nvidia/version"):
        (folder / "proc" / name).write_text(SAID)
    arguments = ["--procfs", f"{folder}/proc", "--kernel-log", f"{folder}/said"]
    nodes = {"gpu-west-7": {**LOCAL, "goldnode_probe_args": arguments}, "gpu-west-8": {"ansible_host": "127.0.0.1", "ansible_port": 1}}
    (folder / "hosts.yml").write_text(yaml.safe_dump({"all": {"children": {"acme": {"hosts": nodes}}}}))
    return folder


def collect(site, *words):
    environment = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "collections"), "ANSIBLE_NOCOLOR": "1"}
    environment |= {"PATH": f"{site}/tools:{os.environ['PATH']}", "ANSIBLE_LOG_PATH": str(site / "ansible.log")}
    argv = ["ansible-playbook", "-vvv", "-i", str(site / "hosts.yml"), str(ROOT / "playbooks/collect_evidence.yml"), "-e", "pool=acme", *words]
    return subprocess.run(argv, capture_output=True, text=True, env=environment, check=False, timeout=180)


@pytest.fixture(scope="module")
def done(site):
    return collect(site, "-e", f"goldnode_report_dir={site}/report")


def test_a_node_that_does_not_answer_costs_only_the_exit_code(done, site):
    assert done.returncode != 0
    result = json.loads((site / "report/result.json").read_text())
    assert (result["schema"], result["outcome"]) == ("goldnode.collection/v1", "inconclusive")
    assert {name: (node["state"], node["file"]) for name, node in result["nodes"].items()} == {
        "gpu-west-7": ("collected", "node-1.evidence.json"),
        "gpu-west-8": ("unreachable", None),
    }
    assert "1 of 2 bundles collected" in done.stdout


def test_a_bundle_is_whole_and_names_nobody(done, site):
    bundle = json.loads((site / "report/bundles/node-1.evidence.json").read_text())
    for name in ("modinfo_nvidia", "dkms_status"):  # dotted quads are versions there
        del bundle["probes"][name]
    text = json.dumps(bundle)
    assert [word for word in ("gpu-west-7", "10.9.8.7", "72721806", "alice", "acme") if word in text] == []
    assert "node node-1 at 198.18.0.1, GPU-" in text
    assert judge(read(site / "report/bundles/node-1.evidence.json").evidence).verdict != "pass"


def test_no_secret_is_in_bundles_reports_output_or_log(done, site):
    written = {path: path.read_text() for path in (site / "report").rglob("*") if path.is_file()}
    assert len(written) == 3
    assert [str(path) for path, text in {**written, site / "ansible.log": (site / "ansible.log").read_text()}.items() if SECRET in text] == []
    assert SECRET not in done.stdout + done.stderr
    assert "\\u00abredacted\\u00bb" in written[site / "report/bundles/node-1.evidence.json"]


def test_identifiers_stay_on_demand_and_secrets_do_not(site):
    done = collect(
        site, "-e", f"goldnode_report_dir={site}/kept", "-e", "nodes=gpu-west-7", "-e", "keep_identifiers=true", "-e", f"collection_path={site}/mine"
    )
    assert done.returncode == 0, done.stdout
    text = (site / "mine/gpu-west-7.evidence.json").read_text()
    assert "gpu-west-7 at 10.9.8.7" in text
    assert SECRET not in text


def test_a_pool_that_is_not_there_is_refused(site):
    done = collect(site, "-e", "pool=nope")
    assert "pool is nope; expected a group of the inventory" in " ".join(done.stdout.split())
