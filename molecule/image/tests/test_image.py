"""Two nodes created from one image: the same stack, each its own identity; the store, the seal and the builder by the controller's eyes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

LAB = Path("/var/lib/goldnode-lab") / os.environ["GOLDNODE_LAB"]
INVENTORY = LAB / "inventory/hosts.yml"
NODES = ("lab-a10-canary-1", "lab-a10-canary-2")
LAYERS = ("kernel", "driver", "container_toolkit", "engine")


def playbook(name: str, report: Path, *inputs: str) -> list[str]:
    options = [word for text in (f"goldnode_report_dir={report}", *inputs) for word in ("-e", text)]
    return ["ansible-playbook", f"goldnode.gpu.{name}", "-i", str(INVENTORY), *options]


def run(name: str, report: Path, *inputs: str) -> tuple[int, dict[str, Any]]:
    done = subprocess.run(playbook(name, report, *inputs), capture_output=True, text=True, check=False)
    return done.returncode, json.loads((report / "result.json").read_text())


def ssh(node: str, command: str) -> str:
    return subprocess.run(["ssh", "-F", str(LAB / "inventory/ssh_config"), node, command], capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The image of the current lock, which is in the store since converge."""
    code, result = run("build_image", tmp_path_factory.mktemp("report"), "pool=lab_a10")
    assert code == 0
    return result


def test_every_locked_package_is_installed_and_held(lock: dict[str, Any], deviations: Callable[[dict[str, Any], str], list[str]]) -> None:
    assert {layer: deviations(lock, layer) for layer in LAYERS} == {layer: [] for layer in LAYERS}


def test_the_locked_kernel_was_booted(lock: dict[str, Any], kernel_says: Callable[[str], str]) -> None:
    assert kernel_says("sys/kernel/osrelease") == lock["pins"]["kernel"]["version"]


def test_docker_answers(host: Any, lock: dict[str, Any]) -> None:
    assert host.check_output("docker version --format '{{.Server.Version}}'").startswith(lock["pins"]["docker"]["version"])


def test_the_node_carries_release_manifest_and_probes(host: Any, lock: dict[str, Any]) -> None:
    assert host.file("/etc/goldnode/release").content_string.startswith("sha256:")
    manifest = json.loads(host.file("/etc/goldnode/manifest.json").content_string)
    assert manifest["lock_digest"] == lock["digest"]
    assert all(package["expected"] == package["verified"] for package in manifest["packages"])
    assert host.file("/usr/lib/goldnode/probe.py").exists
    assert host.file("/usr/lib/goldnode/cuda_probe.py").exists


def test_nothing_of_the_builder_is_left(host: Any) -> None:
    assert not host.file("/usr/sbin/policy-rc.d").exists
    assert host.run("ls -d /root/.ansible/tmp/ansible-tmp-*").rc != 0
    assert host.check_output("systemctl list-unit-files docker.service --no-legend").split()[1] == "enabled"


@pytest.mark.parametrize("path", ["/etc/machine-id", "/etc/hostname", "/etc/ssh/ssh_host_ed25519_key.pub"])
def test_two_nodes_of_one_image_have_different_identities(path: str) -> None:
    first, second = (ssh(node, f"cat {path}") for node in NODES)
    assert first
    assert first != second


def test_two_nodes_of_one_image_have_one_manifest() -> None:
    assert len({ssh(node, "sha256sum /etc/goldnode/manifest.json") for node in NODES}) == 1


def test_an_unchanged_lock_builds_nothing(image: dict[str, Any]) -> None:
    assert image["reused"] is True


def test_a_second_build_gives_the_same_bytes(image: dict[str, Any], tmp_path: Path) -> None:
    code, again = run("build_image", tmp_path, "pool=lab_a10", "image_build_again=true")
    assert (code, again["reused"], again["image_digest"]) == (0, False, image["image_digest"])


def test_the_stored_image_is_whole_sealed_and_what_its_manifest_says(image: dict[str, Any], tmp_path: Path) -> None:
    code, result = run("check_image", tmp_path, f"image_digest={image['image_digest']}")
    assert (code, result["outcome"], result["violations"]) == (0, "pass", [])


def test_nodes_that_are_on_their_release_are_left_alone(tmp_path: Path) -> None:
    code, result = run("provision_pool", tmp_path, "pool=lab_a10", f"nodes={','.join(NODES)}")
    assert (code, [node["how"] for node in result["nodes"]]) == (0, ["left alone"] * 2)


def test_nodes_of_an_empty_channel_are_left_as_they_are(tmp_path: Path) -> None:
    code, result = run("provision_pool", tmp_path, "pool=lab_a10", "nodes=lab-a10-production-1")
    assert code != 0
    assert result["outcome"] == "blocked"
    assert "channel stable of lab_a10 is empty" in " ".join(result["lines"])


def test_a_killed_build_leaves_no_image_and_the_next_one_works(image: dict[str, Any], tmp_path: Path) -> None:
    store = sorted(LAB.glob("store/sha256/*/*"))
    build = subprocess.Popen(playbook("build_image", tmp_path, "pool=lab_a10", "image_build_again=true"), stdout=subprocess.DEVNULL, start_new_session=True)
    root = LAB / "builders/lab_a10/root"
    deadline = time.monotonic() + 120
    while not (root / "etc/apt/sources.list.d/goldnode-os.sources").exists():
        assert time.monotonic() < deadline, "the build did not come so far"
        time.sleep(0.2)
    os.killpg(build.pid, signal.SIGKILL)
    build.wait()
    assert str(root / "proc") in Path("/proc/self/mounts").read_text()
    assert sorted(LAB.glob("store/sha256/*/*")) == store
    code, again = run("build_image", tmp_path, "pool=lab_a10")
    assert (code, again["image_digest"]) == (0, image["image_digest"])
    assert str(root) not in Path("/proc/self/mounts").read_text()
    assert not root.exists()
