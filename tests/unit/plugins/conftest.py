"""A real signed apt repository, made by dpkg-deb, apt-ftparchive and gpg, and a pool that takes its packages from it."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.catalogue import Package, parse_packages

DRIVERS = ("570.211.01", "580.159.03", "595.71.05")
TOOLKIT = ("nvidia-container-toolkit", "nvidia-container-toolkit-base", "libnvidia-container-tools", "libnvidia-container1")
KERNELS = ("6.12.107+deb13-amd64", "6.12.117+deb13-amd64")


def control(name: str, version: str, **fields: str) -> dict[str, str]:
    described = {"Package": name, "Version": version, "Architecture": "amd64", "Maintainer": "goldnode <lab@example.invalid>", "Description": name}
    return {**described, **{key.replace("_", "-"): value for key, value in fields.items()}}


def kernel(release: str) -> list[dict[str, str]]:
    version = f"{release.partition('+')[0]}-1"
    return [
        control(f"linux-image-{release}", version, Depends="kmod, linux-base (>= 4.12~)"),
        control(f"linux-headers-{release}", version, Depends=f"linux-image-{release} (= {version}), linux-kbuild-{release}, gcc-14"),
        control(f"linux-kbuild-{release}", version),
    ]


def driver(upstream: str) -> list[dict[str, str]]:
    version = f"{upstream}-1+goldnode.lab"
    exact = f"(= {version})"
    return [
        control("nvidia-kernel-open-dkms", version, Depends=f"dkms (>= 3), firmware-nvidia-gsp {exact}, nvidia-modprobe (>= 550)"),
        control("nvidia-driver-cuda", version, Depends=f"libcuda1 {exact}, libnvidia-ml1 {exact}, nvidia-smi {exact}, libc6"),
        control("libcuda1", version, Depends=f"libnvidia-ptxjitcompiler1 {exact}", Provides=f"libcuda.so.1 (= {upstream})"),
        control("libnvidia-ptxjitcompiler1", version),
        control("libnvidia-ml1", version),
        control("nvidia-smi", version, Depends=f"libnvidia-ml1 {exact}"),
        control("nvidia-persistenced", version),
        control("nvidia-modprobe", version),
        control("firmware-nvidia-gsp", version),
        control("nvidia-fabricmanager", version),
    ]


def toolkit(version: str) -> list[dict[str, str]]:
    needs = {"nvidia-container-toolkit": f"nvidia-container-toolkit-base (= {version}-1), libnvidia-container-tools (= {version}-1)"}
    return [control(name, f"{version}-1", **({"Depends": needs[name]} if name in needs else {})) for name in TOOLKIT]


def engine() -> list[dict[str, str]]:
    docker = "26.1.5+dfsg1-9+deb13u1+b1"
    return [
        control("docker.io", docker, Depends="containerd (>= 1.4~), runc (>= 1.0.0~rc8~), iptables", Conflicts="docker-ce"),
        control("docker-cli", docker),
        control("containerd", "1.7.24~ds1-6+deb13u1", Depends="runc (>= 0.1.0~)"),
        control("runc", "1.1.15+ds1-2+b4"),
    ]


OS = [package for release in KERNELS for package in kernel(release)] + engine()
NVIDIA = [package for version in DRIVERS for package in driver(version)] + [package for version in ("1.19.1", "1.20.0") for package in toolkit(version)]


@dataclass(frozen=True)
class SigningKey:
    home: Path
    fingerprint: str
    public_key: str


def make_key(home: Path) -> SigningKey:
    home.mkdir(mode=0o700, parents=True)
    gpg = ["gpg", "--homedir", str(home), "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", ""]
    subprocess.run([*gpg, "--quick-generate-key", "goldnode test", "ed25519", "sign", "never"], check=True, capture_output=True)
    listed = subprocess.run([*gpg, "--list-keys", "--with-colons"], check=True, capture_output=True, text=True).stdout
    exported = subprocess.run([*gpg, "--armor", "--export"], check=True, capture_output=True, text=True).stdout
    return SigningKey(home, next(line.split(":")[9] for line in listed.splitlines() if line.startswith("fpr:")), exported)


def stop_agent(key: SigningKey) -> None:
    subprocess.run(["gpgconf", "--homedir", str(key.home), "--kill", "all"], check=True)


@dataclass
class Repository:
    """One signed repository below `folder`."""

    folder: Path
    label: str
    key: SigningKey
    packages: list[dict[str, str]] = field(default_factory=list)

    @property
    def dist(self) -> Path:
        return self.folder / "dists" / "trixie"

    def publish(self, **release: str) -> None:
        pool = self.folder / "pool"
        shutil.rmtree(pool, ignore_errors=True)
        pool.mkdir(parents=True)
        for package in self.packages:
            self._build(package, pool)
        index = self.dist / "main" / "binary-amd64"
        index.mkdir(parents=True, exist_ok=True)
        listed = subprocess.run(["apt-ftparchive", "packages", "pool"], cwd=self.folder, check=True, capture_output=True)
        (index / "Packages").write_bytes(listed.stdout)
        self._sign(
            {"Origin": "goldnode-lab", "Label": self.label, "Suite": "trixie", "Codename": "trixie", "Architectures": "amd64", "Components": "main", **release}
        )

    def _build(self, package: dict[str, str], pool: Path) -> None:
        with tempfile.TemporaryDirectory() as tree:
            Path(tree).chmod(0o755)
            (Path(tree) / "DEBIAN").mkdir()
            (Path(tree) / "DEBIAN" / "control").write_text("".join(f"{name}: {value}\n" for name, value in package.items()))
            name = f"{package['Package']}_{package['Version']}_amd64.deb"
            subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, str(pool / name)], check=True, capture_output=True)

    def _sign(self, fields: dict[str, str]) -> None:
        for stale in ("Release", "InRelease"):
            (self.dist / stale).unlink(missing_ok=True)
        valid_until = fields.pop("Valid-Until", None)
        options = [f"-oAPT::FTPArchive::Release::{name}={value}" for name, value in fields.items()]
        text = subprocess.run(["apt-ftparchive", *options, "release", str(self.dist)], check=True, capture_output=True, text=True).stdout
        if valid_until:
            text = f"Valid-Until: {valid_until}\n{text}"
        command = ["gpg", "--homedir", str(self.key.home), "--batch", "--quiet", "--clearsign", "--output", str(self.dist / "InRelease")]
        subprocess.run(command, input=text, text=True, check=True, capture_output=True)


@dataclass
class Site:
    """An inventory with the pool `lab_a10`, and its two repositories."""

    inventory: Path
    repositories: dict[str, Repository]
    pins: dict[str, Any]

    def write(self) -> None:
        folder = self.inventory / "group_vars" / "lab_a10"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pins.yml").write_text(yaml.safe_dump({"goldnode_pins": self.pins}))
        (folder / "package_sources.yml").write_text(yaml.safe_dump({"package_sources_repositories": self.sources()}))
        (self.inventory / "trust.yml").write_text(yaml.safe_dump({"goldnode_trust": {"repositories": self.trust()}}))

    def sources(self) -> list[dict[str, Any]]:
        common = {"suites": ["trixie"], "components": ["main"], "origin": "goldnode-lab", "key": "lab"}
        return [{"name": name, "uris": [f"file:{one.folder}"], "label": one.label, **common} for name, one in self.repositories.items()]

    def trust(self) -> dict[str, Any]:
        key = self.repositories["os"].key
        return {"lab": {"fingerprint": key.fingerprint, "public_key": key.public_key}}


def good_pins() -> dict[str, Any]:
    return {
        "os": {"distribution": "debian", "release": "13", "arch": "x86_64", "cgroup": 2},
        "gpus": [{"model": "A10", "count": 1}],
        "kernel": {"version": "6.12.107+deb13-amd64"},
        "nvidia_driver": {"version": "580.159.03", "modules": "open", "build": "dkms"},
        "container_toolkit": {"version": "1.19.1"},
        "container_engine": "docker",
        "docker": {"version": "26.1.5", "containerd": "1.7.24", "runc": "1.1.15"},
        "canary_image": {"reference": f"registry.example/cuda-canary:1@sha256:{'a' * 64}", "cuda": "12.8"},
    }


def parsed(controls: list[dict[str, str]], repository: str, origin: str) -> list[Package]:
    return list(parse_packages("\n".join(map(_paragraph, controls)), repository, origin))


def _paragraph(package: dict[str, str]) -> str:
    filename = f"pool/{package['Package']}_{package['Version']}_amd64.deb"
    indexed = {**package, "Filename": filename, "Size": "1000", "SHA256": hashlib.sha256(repr(package).encode()).hexdigest()}
    return "".join(f"{name}: {value}\n" for name, value in indexed.items())


@pytest.fixture(scope="session")
def offered() -> list[Package]:
    """What the lab's two repositories offer, without fetching anything."""
    return parsed(OS, "os", "goldnode-lab") + parsed(NVIDIA, "nvidia", "goldnode-lab")


@pytest.fixture(scope="session")
def package() -> Callable[..., Package]:
    """Makes one package: `package(name, version, Depends=…)`."""

    def make(name: str, version: str, repository: str = "os", origin: str = "goldnode-lab", **fields: str) -> Package:
        return parsed([control(name, version, **fields)], repository, origin)[0]

    return make


@pytest.fixture
def pins() -> dict[str, Any]:
    return good_pins()


@pytest.fixture(scope="session")
def public_folder() -> Iterator[Path]:
    # apt reads `file:` repositories as its own user, which pytest's 0700 folders keep out
    with tempfile.TemporaryDirectory(prefix="goldnode-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="session")
def key(public_folder: Path) -> Iterator[SigningKey]:
    made = make_key(public_folder / "keys")
    yield made
    stop_agent(made)


@pytest.fixture(scope="session")
def published(public_folder: Path, key: SigningKey) -> dict[str, Repository]:
    repositories = {"nvidia": Repository(public_folder / "nvidia", "nvidia", key, NVIDIA), "os": Repository(public_folder / "os", "os", key, OS)}
    for repository in repositories.values():
        repository.publish()
    return repositories


@pytest.fixture
def own_os(tmp_path: Path, public_folder: Path, key: SigningKey) -> Iterator[Repository]:
    """A repository `os` of this test's own, to spoil."""
    folder = public_folder / tmp_path.name
    yield Repository(folder, "os", key, list(OS))
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def site(tmp_path: Path, published: dict[str, Repository], pins: dict[str, Any]) -> Site:
    made = Site(tmp_path / "inventory", dict(published), pins)
    made.write()
    return made


@pytest.fixture(scope="session")
def other_key(public_folder: Path) -> Iterator[SigningKey]:
    made = make_key(public_folder / "other-keys")
    yield made
    stop_agent(made)
