# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import identity, keys, repository
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.commands import LabError
from debian.deb822 import Packages, Release


def deb(directory: Path, name: str, version: str, depends: str = "") -> Path:
    tree = directory / f"tree-{name}-{version}"
    (tree / "DEBIAN").mkdir(parents=True)
    tree.chmod(0o755)
    fields = {"Package": name, "Version": version, "Architecture": "amd64", "Maintainer": "a <a@b.example>", "Depends": depends, "Description": "x"}
    (tree / "DEBIAN/control").write_text("".join(f"{field}: {value}\n" for field, value in fields.items() if value))
    path = directory / f"{name}_{version}_amd64.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", tree, path], check=True, capture_output=True)
    return path


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> identity.Lab:
    monkeypatch.setattr(identity, "STATE_HOME", tmp_path)
    made = identity.Lab("x", "10.1.2.0/24")
    keys.keys_dir(made).mkdir(parents=True)
    return made


def offered(lab: identity.Lab) -> list[tuple[str, str]]:
    index = repository.repository_dir(lab, "os") / "dists/trixie/main/binary-amd64/Packages"
    return [(package["Package"], package["Version"]) for package in Packages.iter_paragraphs(index.read_text(), use_apt_pkg=False)]


def test_a_repository_offers_exactly_its_packages_under_a_signature_of_the_labs_key(lab: identity.Lab, tmp_path: Path) -> None:
    fingerprint = keys.ensure_repository_key(lab)
    one, two, later = deb(tmp_path, "one", "1-1"), deb(tmp_path, "two", "1-1"), deb(tmp_path, "one", "2-1")
    assert repository.publish(lab, "os", "trixie", [one, two, later])
    assert sorted(offered(lab)) == [("one", "1-1"), ("one", "2-1"), ("two", "1-1")]
    assert repository.publish(lab, "os", "trixie", [two])
    assert offered(lab) == [("two", "1-1")]
    assert not repository.publish(lab, "os", "trixie", [two])
    dist = repository.repository_dir(lab, "os") / "dists/trixie"
    gpgv = ["gpg", "--homedir", keys.gnupg_home(lab), "--batch", "--no-auto-check-trustdb", "--status-fd", "1", "--verify", dist / "InRelease"]
    assert f"VALIDSIG {fingerprint}" in subprocess.run(gpgv, check=True, capture_output=True, text=True).stdout
    release = Release((dist / "Release").read_text())
    assert (release["Origin"], release["Label"], release["Suite"], release["Components"]) == ("goldnode-lab", "os", "trixie", "main")


def test_the_key_of_a_repository_is_made_once(lab: identity.Lab) -> None:
    first = keys.ensure_repository_key(lab)
    assert keys.ensure_repository_key(lab) == first
    assert keys.repository_public_key(lab).read_text().startswith("-----BEGIN PGP PUBLIC KEY BLOCK-----")


def test_a_later_revision_has_a_higher_version_and_the_same_upstream_and_siblings(tmp_path: Path) -> None:
    path = deb(tmp_path, "docker.io", "26.1.5+dfsg1-9", "docker-cli (= 26.1.5+dfsg1-9), libc6 (>= 2.34)")
    later = repository.repack(path, tmp_path)
    fields = subprocess.run(["dpkg-deb", "--field", later, "Version", "Depends"], check=True, capture_output=True, text=True).stdout
    assert fields == "Version: 26.1.5+dfsg1-9+goldnode.lab1\nDepends: docker-cli (= 26.1.5+dfsg1-9+goldnode.lab1), libc6 (>= 2.34)\n"
    assert subprocess.run(["dpkg", "--compare-versions", "26.1.5+dfsg1-9+goldnode.lab1", "gt", "26.1.5+dfsg1-9"], check=False).returncode == 0
    assert repository.repack(path, tmp_path) == later


def test_a_native_version_has_no_later_revision() -> None:
    with pytest.raises(LabError, match="has no Debian revision"):
        repository.later_revision("1.0")


@pytest.mark.parametrize(
    ("package", "depends", "kernels"),
    [
        ("linux-image-6.12.107+deb13-amd64", "kmod", {"6.12.107+deb13"}),
        ("linux-headers-6.12.107+deb13-common", "", {"6.12.107+deb13"}),
        ("linux-kbuild-6.12.107+deb13", "", {"6.12.107+deb13"}),
        ("linux-image-amd64", "linux-image-6.12.117+deb13-amd64 (= 6.12.117-1)", {"6.12.117+deb13"}),
        ("docker.io", "containerd (>= 1.7), runc", set()),
    ],
)
def test_a_package_belongs_to_the_kernels_that_it_is_or_leads_to(package: str, depends: str, kernels: set[str]) -> None:
    assert repository.kernels_of(package, depends) == kernels


def test_only_the_kernels_that_are_asked_for_are_offered(tmp_path: Path) -> None:
    old, new = (f"6.12.{number}+deb13-amd64" for number in (107, 117))
    kernels = {release: deb(tmp_path, f"linux-image-{release}", "1-1") for release in (old, new)}
    meta, other = deb(tmp_path, "linux-image-amd64", "2-1", f"linux-image-{new}"), deb(tmp_path, "runc", "1-1")
    assert repository.with_kernels([*kernels.values(), meta, other], [old]) == [kernels[old], other]
    assert repository.with_kernels([*kernels.values(), meta, other], [old, new]) == [*kernels.values(), meta, other]


def test_a_kernel_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"names 6\.13\.1-amd64; the lab has packages for 6\.12\.107"):
        repository.with_kernels([deb(tmp_path, "linux-image-6.12.107+deb13-amd64", "1-1")], ["6.13.1-amd64"])
