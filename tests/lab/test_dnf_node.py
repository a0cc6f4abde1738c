# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""locked_packages on a real dnf and rpm, in a root that says it is Rocky Linux 9, from a signed repository of stub packages.

Root, rpmbuild and createrepo_c; half a minute with the cached root.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import base

pytestmark = pytest.mark.lab
SUITE, PACKAGES = "bookworm", ("dnf", "dnf-plugins-core", "rpm", "python3", "gpg")
OLD, NEW = "3:570.211.01-1.el9", "3:580.159.03-1.el9"
DRIVER = ("nvidia-driver-cuda", "nvidia-kmod-common")
SPEC = """Name: {name}
Epoch: {epoch}
Version: {version}
Release: {release}
Summary: stub
License: none
BuildArch: noarch
{extra}
%description
stub
%install
mkdir -p %{{buildroot}}/usr/share/stub
echo {version} > %{{buildroot}}/usr/share/stub/{name}
%files
/usr/share/stub/{name}
"""


def run(*argv: str, **options) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True, **options).stdout


@dataclass(frozen=True)
class Node:
    """The root, its repository, and the file of each package by (name, version)."""

    root: Path
    repository: Path
    files: dict[tuple[str, str], Path]

    def dnf(self, *argv: str) -> str:
        done = subprocess.run(["chroot", str(self.root), "dnf", "--assumeyes", *argv], capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    def has(self, *names: str) -> list[str]:
        return run("chroot", str(self.root), "rpm", "--query", "--queryformat=%{EPOCH}:%{VERSION}-%{RELEASE} ", *names).split()

    def lock(self, version: str, names: tuple[str, ...] = DRIVER, layer: str = "driver", **changes: str) -> dict:
        rows = [{"name": name, "version": version, "architecture": "noarch", "layer": layer, "sha256": self.sha256(name, version), **changes} for name in names]
        return {"pool": "lab", "pins": {"os": {"distribution": "rocky", "release": "9.6", "arch": "x86_64"}}, "packages": rows}

    def sha256(self, name: str, version: str) -> str:
        path = self.files.get((name, version))
        return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest() if path else 'a' * 64}"

    def command(self, stack: dict, layer: str, *options: str) -> list[str]:
        arguments = json.dumps({"stack": stack, "layer": layer})
        module = ("--module-name=goldnode.gpu.locked_packages", f"--args={arguments}", "--extra-vars=ansible_python_interpreter=/usr/bin/python3")
        return ["ansible", f"--inventory={self.root},", "all", "--connection=community.general.chroot", *module, *options]

    def install(self, stack: dict, layer: str = "driver", *options: str) -> dict:
        environment = {**os.environ, "ANSIBLE_CALLBACK_RESULT_FORMAT": "json"}
        done = subprocess.run(self.command(stack, layer, *options), capture_output=True, text=True, check=False, env=environment)
        _, found, result = done.stdout.partition(" => ")
        assert found, done.stdout + done.stderr
        return json.JSONDecoder().raw_decode(result.strip())[0]


def make_root(folder: Path) -> Path:
    tar = base.cache_home() / f"dnf-{digest_of([SUITE, PACKAGES]).removeprefix('sha256:')[:16]}.tar"
    if not tar.exists():
        tar.parent.mkdir(parents=True, exist_ok=True)
        part = tar.with_suffix(".part.tar")
        run("mmdebstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", SUITE, str(part), base.mirror())
        part.rename(tar)
    root = folder / "root"
    root.mkdir()
    run("tar", "--extract", "--exclude=./dev/*", f"--file={tar}", f"--directory={root}")
    for device in ("null", "urandom"):
        (root / "dev" / device).touch()
        run("mount", "--bind", f"/dev/{device}", str(root / "dev" / device))
    (root / "etc/os-release").unlink()
    (root / "etc/os-release").write_text('ID=rocky\nVERSION_ID="9.6"\nPLATFORM_ID="platform:el9"\n')
    (root / "etc/dnf/vars/releasever").write_text("9\n")
    (root / "etc/dnf/dnf.conf").write_text("[main]\ngpgcheck=1\ninstallonly_limit=3\nbest=True\nexclude=vim*\n")
    return root


def build(folder: Path, name: str, evr: str, extra: str = "") -> Path:
    epoch, _, rest = evr.partition(":")
    version, _, release = rest.partition("-")
    spec = folder / f"{name}-{rest}.spec"
    spec.write_text(SPEC.format(name=name, epoch=epoch, version=version, release=release, extra=extra))
    run("rpmbuild", "-bb", f"--define=_topdir {folder}/build", f"--define=_rpmdir {folder}/rpms", str(spec))
    return folder / "rpms" / "noarch" / f"{name}-{rest}.noarch.rpm"


@pytest.fixture(scope="module")
def node(folder: Path) -> Node:
    home = folder / "gnupg"
    home.mkdir(mode=0o700)
    gpg = ["gpg", f"--homedir={home}", "--batch", "--pinentry-mode=loopback", "--passphrase="]
    run(*gpg, "--quick-generate-key", "lab", "rsa3072", "sign", "never")
    root = make_root(folder)
    files = {(name, version): build(folder, name, version) for name in (*DRIVER, "nvidia-modprobe") for version in (OLD, NEW)}
    for version in ("0:5.14.0-570.1.el9", "0:5.14.0-570.2.el9"):
        files["kernel-core", version.removeprefix("0:")] = build(folder, "kernel-core", version, "Provides: installonlypkg(kernel)")
    files["tool", "0:1-1"] = build(folder, "tool", "0:1-1", "Requires: nvidia-driver-cuda >= 3:580")
    files["sh", "0:1-1"] = build(folder, "sh", "0:1-1", "Provides: /bin/sh")
    slow = "Requires: nvidia-kmod-common >= 3:580\n%pre\nsleep 8\n"
    files["nvidia-settings", NEW] = build(folder, "nvidia-settings", NEW, slow)
    run("rpmsign", "--addsign", "--define=_gpg_name lab", f"--define=_gpg_path {home}", f"--define=__gpg {shutil.which('gpg')}", *map(str, files.values()))
    repository = root / "srv/lab"
    repository.mkdir()
    for path in files.values():
        shutil.copy(path, repository)
    run("createrepo_c", str(repository))
    run(*gpg, "--detach-sign", "--armor", str(repository / "repodata/repomd.xml"))
    (root / "etc/pki/rpm-gpg").mkdir(parents=True, exist_ok=True)
    (root / "etc/pki/rpm-gpg/goldnode-lab.asc").write_text(run(*gpg, "--armor", "--export", "lab"))
    (root / "etc/yum.repos.d").mkdir(exist_ok=True)
    (root / "etc/yum.repos.d/goldnode-lab.repo").write_text(
        "[goldnode-lab]\nname=lab\nbaseurl=file:///srv/lab\ngpgcheck=1\nrepo_gpgcheck=1\ngpgkey=file:///etc/pki/rpm-gpg/goldnode-lab.asc\nmodule_hotfixes=1\n"
    )
    run("chroot", str(root), "rpm", "--import", "/etc/pki/rpm-gpg/goldnode-lab.asc")
    return Node(root, repository, files)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("dnf")
    yield made
    subprocess.run(["gpgconf", f"--homedir={made}/gnupg", "--kill", "all"], check=False)
    for device in (made / "root/dev").glob("*"):
        run("umount", str(device))
    shutil.rmtree(made)


def test_check_mode_changes_nothing(node):
    assert node.install(node.lock(OLD), "driver", "--check")["changed"] is True
    assert not (node.root / "usr/share/stub").exists()


def test_the_lock_is_installed_exactly_and_a_second_run_changes_nothing(node):
    first = node.install(node.lock(OLD))
    assert first.get("changed") is True, first
    assert node.has(*DRIVER) == [OLD, OLD]
    assert node.install(node.lock(OLD)).get("changed") is False
    assert f"nvidia-driver-cuda-{OLD}.noarch" in (node.root / "etc/dnf/plugins/versionlock.list").read_text().splitlines()
    assert "excludepkgs=vim* nvidia-[!c]*" in (node.root / "etc/dnf/dnf.conf").read_text()


def test_no_ordinary_transaction_moves_or_adds_what_is_owned(node):
    node.dnf("upgrade")
    assert "exclude" in node.dnf("install", "tool")
    assert "exclude" in node.dnf("install", "nvidia-modprobe")
    assert node.has(*DRIVER) == [OLD, OLD]


def test_a_newer_and_then_an_older_lock_are_met(node):
    for version in (NEW, OLD):
        moved = node.install(node.lock(version))
        assert len(moved.get("moved", ())) == 2, moved
        assert node.has(*DRIVER) == [version, version]


def test_a_version_that_left_the_repository_is_refused_with_what_there_is(node):
    said = node.install(node.lock("3:575.1-1.el9"))["msg"]
    assert "do not have nvidia-driver-cuda 3:575.1-1.el9 (there is: 3:580.159.03-1.el9, 3:570.211.01-1.el9)" in said
    assert node.has(*DRIVER) == [OLD, OLD]


def test_other_content_under_the_locked_version_is_refused(node):
    assert f"the lock has {'b' * 64}" in node.install(node.lock(NEW, sha256=f"sha256:{'b' * 64}"))["msg"]
    assert node.has(*DRIVER) == [OLD, OLD]


def test_a_package_of_the_family_that_the_lock_lacks_is_refused(node):
    assert f"it would bring nvidia-kmod-common {NEW}, of which the lock has nothing" in node.install(node.lock(NEW, ("nvidia-settings",)))["msg"]
    assert node.has(*DRIVER) == [OLD, OLD]


def test_kernels_stand_side_by_side(node):
    for version in ("5.14.0-570.1.el9", "5.14.0-570.2.el9"):
        assert node.install(node.lock(version, ("kernel-core",), "kernel"), "kernel").get("changed") is True
    assert len(node.has("kernel-core")) == 2
    assert node.install(node.lock("5.14.0-570.1.el9", ("kernel-core",), "kernel"), "kernel").get("moved") == []


def test_a_killed_transaction_is_finished_by_the_next_run(node):
    stack = node.lock(NEW, (*DRIVER, "nvidia-settings"))
    process = subprocess.Popen(node.command(stack, "driver"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not (running := below(node.root)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert running, "the transaction never reached the slow script"
    for pid in running:
        os.kill(pid, signal.SIGKILL)
    process.wait()
    last = node.install(stack)
    assert last.get("changed") is True, last
    assert node.has(*DRIVER, "nvidia-settings") == [NEW, NEW, NEW]
    assert node.install(stack).get("changed") is False


def below(root: Path) -> list[int]:
    """The processes of the root, once rpm's slow script is among them."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and Path(os.readlink(entry / "root")) == root:
                found[int(entry.name)] = (entry / "cmdline").read_bytes().split(b"\0")[0]
        except OSError:
            continue
    return list(found) if any(Path(word.decode(errors="replace")).name == "sleep" for word in found.values()) else []
