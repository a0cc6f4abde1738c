"""Real signed dnf repositories, made by rpmbuild, createrepo_c and gpg, and a pool that takes its packages from them."""

from __future__ import annotations

import gzip
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.catalogue import Package
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.rpm_metadata import read_primary
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.sources import Key, Repository

KERNELS = ("570.12.1.el9_6", "570.22.1.el9_6")
DRIVERS = ("570.211.01", "580.159.03", "595.71.05")
TOOLKIT = ("nvidia-container-toolkit", "nvidia-container-toolkit-base", "libnvidia-container-tools", "libnvidia-container1")


def stub(name: str, evr: str, arch: str = "x86_64", **relations: str) -> dict[str, str]:
    """`stub("podman", "5:5.6.0-1.el9", Requires="crun")`."""
    epoch, _, rest = evr.rpartition(":")
    version, _, release = rest.partition("-")
    return {"name": name, "arch": arch, "Epoch": epoch, "Version": version, "Release": release, **relations}


def kernel(release: str) -> list[dict[str, str]]:
    evr, uname = f"5.14.0-{release}", f"5.14.0-{release}.x86_64"
    return [
        stub("kernel", evr, Requires=f"kernel-core-uname-r = {uname}, kernel-modules-uname-r = {uname}"),
        stub("kernel-core", evr, Provides=f"kernel-core-uname-r = {uname}, kernel(printk) = 0x1", Requires="linux-firmware, /usr/bin/kernel-install"),
        stub("kernel-modules", evr, Provides=f"kernel-modules-uname-r = {uname}", Requires=f"kernel-modules-core-uname-r = {uname}"),
        stub("kernel-modules-core", evr, Provides=f"kernel-modules-core-uname-r = {uname}"),
        stub("kernel-devel", evr, Requires="(gcc if make), perl"),
        stub("kernel-headers", evr),
    ]


def driver(version: str) -> list[dict[str, str]]:
    evr, exact = f"3:{version}-1.el9", f"= 3:{version}-1.el9"
    return [
        stub(
            "kmod-nvidia-open-dkms",
            evr,
            arch="noarch",
            Provides=f"nvidia-kmod {exact}",
            Requires=f"nvidia-kmod-common {exact}, dkms >= 3",
            Conflicts="kmod-nvidia",
        ),
        stub("kmod-nvidia-latest-dkms", evr, Provides=f"nvidia-kmod {exact}", Requires=f"nvidia-kmod-common {exact}, dkms", Conflicts="kmod-nvidia-open-dkms"),
        stub(f"kmod-nvidia-{version}-5.14.0-570.12.1", f"3:{version}-3.el9_6", Provides=f"nvidia-kmod = 3:{version}"),
        stub(f"kmod-nvidia-open-{version}-5.14.0-570.12.1", f"3:{version}-3.el9_6", Provides=f"nvidia-kmod = 3:{version}"),
        stub("nvidia-kmod-common", evr, arch="noarch", Requires=f"nvidia-kmod = 3:{version}"),
        stub("nvidia-driver-cuda", evr, Requires=f"nvidia-driver-cuda-libs(x86-64) {exact}, nvidia-kmod-common = 3:{version}, nvidia-persistenced {exact}"),
        stub("nvidia-driver-cuda-libs", evr, Provides="libnvidia-ml.so.1()(64bit), libcuda.so.1()(64bit)", Requires=f"libnvidia-cfg(x86-64) {exact}"),
        stub("libnvidia-cfg", evr),
        stub("nvidia-persistenced", evr),
        stub("nvidia-modprobe", evr),
        stub("nvidia-fabricmanager", f"{version}-1"),
    ]


def toolkit(version: str) -> list[dict[str, str]]:
    needs = {
        "nvidia-container-toolkit": f"nvidia-container-toolkit-base = {version}-1, libnvidia-container-tools >= {version}",
        "libnvidia-container-tools": f"libnvidia-container1 >= {version}, libnvidia-container.so.1()(64bit)",
    }
    gives = {"libnvidia-container1": "libnvidia-container.so.1()(64bit)"}
    fields = ("Requires", needs), ("Provides", gives)
    return [stub(name, f"{version}-1", **{key: table[name] for key, table in fields if name in table}) for name in TOOLKIT]


ENGINE = [
    stub("docker-ce", "3:29.9.0-1.el9", Requires="containerd.io >= 2.1.5, docker-ce-cli, iptables"),
    stub("docker-ce-cli", "1:29.9.0-1.el9"),
    stub("containerd.io", "2.4.1-1.el9", Provides="containerd, runc", Conflicts="containerd, runc"),
    stub("podman", "5:5.8.8-1.el9", Requires="containers-common >= 5"),
    stub("crun", "1.27-1.el9", Provides="oci-runtime"),
    stub("runc", "4:1.3.6-1.el9", Provides="oci-runtime"),
]
OS = [package for release in KERNELS for package in kernel(release)] + ENGINE
NVIDIA = [package for version in DRIVERS for package in driver(version)] + [package for version in ("1.19.1", "1.20.0") for package in toolkit(version)]


def _generations(packages: list[dict[str, str]]) -> list[list[dict[str, str]]]:
    """Packages in groups without a name that comes twice, for one spec file has one version of each."""
    groups: list[list[dict[str, str]]] = []
    for package in packages:
        group = next((group for group in groups if all(other["name"] != package["name"] for other in group)), None)
        if group is None:
            groups.append(group := [])
        group.append(package)
    return groups


def _spec(packages: list[dict[str, str]], vendor: str) -> str:
    head = f"Name: stub\nVersion: 1\nRelease: 1\nSummary: stub\nLicense: none\nVendor: {vendor}\n%description\nstub\n"
    return head + "\n".join(map(_section, packages))


def _section(package: dict[str, str]) -> str:
    name = package["name"]
    tags = [f"{tag}: {value}" for tag, value in package.items() if value and tag not in ("name", "arch")]
    tags += ["BuildArch: noarch"] if package["arch"] == "noarch" else []
    return "\n".join([f"%package -n {name}", "Summary: stub", *tags, f"%description -n {name}", "stub", f"%files -n {name}", ""])


@dataclass
class DnfRepository:
    """One signed repository below `folder`."""

    folder: Path
    vendor: str
    key: Any
    packages: list[dict[str, str]] = field(default_factory=list)
    options: tuple[str, ...] = ()

    @property
    def repomd(self) -> Path:
        return self.folder / "repodata" / "repomd.xml"

    def build(self) -> None:
        self.folder.mkdir(parents=True)
        define = [f"--define=_topdir {self.folder}/build", f"--define=_rpmdir {self.folder}/Packages", "--define=_build_id_links none"]
        for number, group in enumerate(_generations(self.packages)):
            spec = self.folder / f"{number}.spec"
            spec.write_text(_spec(group, self.vendor))
            subprocess.run(["rpmbuild", "-bb", "--quiet", "--target", "x86_64", *define, str(spec)], check=True, capture_output=True)

    def publish(self) -> None:
        command = ["createrepo_c", "--quiet", "--no-database", *self.options, str(self.folder)]
        subprocess.run(command, check=True, capture_output=True)
        self.sign()

    def sign(self) -> None:
        command = ["gpg", "--homedir", str(self.key.home), "--batch", "--quiet", "--yes", "--armor", "--detach-sign", str(self.repomd)]
        subprocess.run(command, check=True, capture_output=True)

    @property
    def primary(self) -> Path:
        return next(self.folder.glob("repodata/*-primary.xml.*"))

    def configured(self, **other: Any) -> Repository:
        key = Key("lab", self.key.fingerprint, self.key.public_key)
        fields = {"uri": f"file:{self.folder}", "suite": "/", "components": (), "origin": self.vendor, "label": self.folder.name, "key": key}
        return Repository(name=self.folder.name, **{**fields, **other})

    def offered(self) -> list[Package]:
        return list(read_primary([gzip.decompress(self.primary.read_bytes())], self.configured(), "x86_64")[0])


@dataclass
class DnfSite:
    """An inventory with the pool `lab_a10` of Rocky Linux nodes, and its repositories."""

    inventory: Path
    repositories: list[DnfRepository]
    pins: dict[str, Any]

    def write(self) -> None:
        folder = self.inventory / "group_vars" / "lab_a10"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pins.yml").write_text(yaml.safe_dump({"goldnode_pins": self.pins}))
        common = {"suites": ["/"], "components": [], "key": "lab"}
        entries = [{"name": one.folder.name, "uris": [f"file:{one.folder}"], "origin": one.vendor, "label": "any", **common} for one in self.repositories]
        (folder / "package_sources.yml").write_text(yaml.safe_dump({"package_sources_repositories": entries}))
        key = self.repositories[0].key
        trust = {"repositories": {"lab": {"fingerprint": key.fingerprint, "public_key": key.public_key}}}
        (self.inventory / "trust.yml").write_text(yaml.safe_dump({"goldnode_trust": trust}))


@pytest.fixture
def rpm_pins() -> dict[str, Any]:
    return {
        "os": {"distribution": "rocky", "release": "9.6", "arch": "x86_64", "cgroup": 2},
        "gpus": [{"model": "A10", "count": 1}],
        "kernel": {"version": "5.14.0-570.12.1.el9_6.x86_64"},
        "nvidia_driver": {"version": "580.159.03", "modules": "open", "build": "dkms"},
        "container_toolkit": {"version": "1.19.1"},
        "container_engine": "docker",
        "docker": {"version": "29.9.0", "containerd": "2.4.1", "runc": "1.3.6"},
        "canary_image": {"reference": f"registry.example/cuda-canary:1@sha256:{'a' * 64}", "cuda": "12.8"},
    }


@pytest.fixture(scope="session")
def dnf_repositories(public_folder: Path, key: Any) -> list[DnfRepository]:
    made = [DnfRepository(public_folder / "rpm-nvidia", "NVIDIA", key, NVIDIA), DnfRepository(public_folder / "rpm-os", "Rocky", key, OS)]
    for repository in made:
        repository.build()
        repository.publish()
    return made


@pytest.fixture(scope="session")
def rpm_offered(dnf_repositories: list[DnfRepository]) -> list[Package]:
    """What the two repositories offer, without fetching anything."""
    return [package for repository in dnf_repositories for package in repository.offered()]


@pytest.fixture(scope="session")
def small_packages(public_folder: Path, key: Any) -> DnfRepository:
    """Two packages, built once."""
    made = DnfRepository(public_folder / "rpm-small", "Rocky", key, ENGINE[-2:])
    made.build()
    return made


@pytest.fixture
def own_rpm(tmp_path: Path, small_packages: DnfRepository) -> DnfRepository:
    """A repository of this test's own, to spoil."""
    made = DnfRepository(tmp_path / "own", "Rocky", small_packages.key)
    made.folder.mkdir()
    (made.folder / "Packages").symlink_to(small_packages.folder / "Packages")
    made.publish()
    return made


@pytest.fixture
def rpm_site(tmp_path: Path, dnf_repositories: list[DnfRepository], rpm_pins: dict[str, Any]) -> DnfSite:
    made = DnfSite(tmp_path / "inventory", dnf_repositories, rpm_pins)
    made.write()
    return made
