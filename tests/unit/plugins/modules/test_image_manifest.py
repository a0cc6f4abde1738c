"""The module over a root file system that is a directory with dpkg's real database in it; dpkg-query is the machine's own."""

import json
import subprocess
import sys

import pytest

KERNEL = "6.12.117+deb13-amd64"
STATUS = """\
Package: docker.io
Status: hold ok installed
Maintainer: nobody <nobody@example.invalid>
Architecture: amd64
Version: 26.1.5+dfsg1-9
Description: a package

"""
STACK = {
    "pool": "p",
    "digest": "sha256:" + "1" * 64,
    "pins": {"kernel": {"version": KERNEL}, "nvidia_driver": None},
    "packages": [{"name": "docker.io", "version": "26.1.5+dfsg1-9", "architecture": "amd64", "layer": "engine"}],
}


@pytest.fixture
def root(tmp_path):
    files = {f"lib/modules/{KERNEL}/modules.dep": "", f"boot/vmlinuz-{KERNEL}": "", "etc/docker/daemon.json": "{}", "var/lib/dpkg/status": STATUS}
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


@pytest.fixture
def run(root):
    def call(**params):
        arguments = json.dumps({"ANSIBLE_MODULE_ARGS": {"root": str(root), **params}})
        module = "ansible_collections.goldnode.gpu.plugins.modules.image_manifest"
        done = subprocess.run([sys.executable, "-m", module], input=arguments, capture_output=True, text=True, check=False)
        return json.loads(done.stdout)

    return call


def manifest_of(root):
    return json.loads((root / "etc/goldnode/manifest.json").read_text())


def test_the_manifest_holds_expected_and_verified_side_by_side(run, root):
    result = run(stack=STACK, source={"commit": "c", "dirty": False})
    assert result["changed"] is True
    written = manifest_of(root)
    assert written == result["manifest"]
    assert written["packages"][0] | {"held": True} == written["packages"][0]
    assert written["packages"][0]["expected"] == written["packages"][0]["verified"] == "26.1.5+dfsg1-9"
    assert written["kernel"] == {"expected": KERNEL, "verified": [KERNEL]}
    assert list(written["configuration"]) == ["/etc/docker/daemon.json"]
    assert written["source"] == {"commit": "c", "dirty": False}


def test_writing_it_again_changes_nothing(run):
    run(stack=STACK)
    assert run(stack=STACK)["changed"] is False


def test_an_image_that_differs_from_its_lock_gets_no_manifest(run, root):
    (root / "var/lib/dpkg/status").write_text(STATUS.replace("26.1.5", "27.0.0"))
    result = run(stack=STACK)
    assert result["failed"] is True
    assert "package docker.io expected 26.1.5+dfsg1-9 (engine), verified 27.0.0+dfsg1-9" in result["msg"]
    assert not (root / "etc/goldnode/manifest.json").exists()


def test_a_checked_image_is_what_its_manifest_says(run):
    run(stack=STACK)
    assert run(state="checked")["changed"] is False


@pytest.mark.parametrize(
    ("path", "text", "clause"),
    [
        ("etc/docker/daemon.json", '{"debug": true}', "configuration differ"),
        ("var/lib/dpkg/status", STATUS.replace("hold ok", "install ok"), "packages differ"),
        ("var/lib/dpkg/status", STATUS.replace("26.1.5", "27.0.0"), "package docker.io expected"),
    ],
)
def test_what_was_changed_after_the_manifest_is_found(run, root, path, text, clause):
    run(stack=STACK)
    (root / path).write_text(text)
    assert clause in run(state="checked")["msg"]


def test_a_root_without_manifest_is_no_image_of_ours(run):
    assert "is no image that build_image made" in run(state="checked")["msg"]
