import hashlib
import os
import subprocess
from pathlib import Path

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.simulated_gpu import build, catalogue, deb
from debian.debfile import DebFile

SOURCES = Path(__file__).parents[5] / "roles/simulated_gpu/files"
DRIVERS = ["550.163.01", "580.159.03", "580.178.04"]
SMALL = """
revision: 1+goldnode.lab
build_time: 1764547200
families: {driver: {repository: nvidia, variants: [{version: "1.0", cuda: 13000, ptx: 90}]}}
packages:
  - {name: libx1, family: driver, section: libs, description: x, libraries: {/usr/lib/libx.so: x.c}}
  - {name: x-data, family: driver, section: misc, description: x, files: {/usr/share/x: data}, programs: {/usr/bin/x: x.py}, links: {/usr/share/y: x}}
"""


def digests(folder):
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in build.listed(folder)}


@pytest.fixture
def small(tmp_path):
    """Sources of two packages: a library, and a program with data."""
    sources = tmp_path / "sources"
    sources.mkdir()
    texts = {"catalogue.yml": SMALL, "x.c": "int x(void) { return 1; }\n", "data": "@version@\n", "x.py": "print(1)\n", "preinst": "#!/bin/sh\n"}
    for name, text in texts.items():
        (sources / name).write_text(text)
    return sources


@pytest.fixture
def packages(small, tmp_path):
    """They, built."""
    build.present(small, tmp_path / "out/packages")
    return tmp_path / "out/packages"


def test_a_program_can_be_run_and_data_has_its_version(packages):
    listing = subprocess.run(
        ["dpkg-deb", "--contents", packages / "nvidia/x-data_1.0-1+goldnode.lab_amd64.deb"], capture_output=True, text=True, check=True
    ).stdout
    assert "-rwxr-xr-x root/root" in next(line for line in listing.splitlines() if line.endswith("./usr/bin/x"))
    assert DebFile(packages / "nvidia/x-data_1.0-1+goldnode.lab_amd64.deb").data.get_content("usr/share/x") == b"1.0\n"


def test_a_library_has_its_soname_s_link(packages):
    content = DebFile(packages / "nvidia/libx1_1.0-1+goldnode.lab_amd64.deb").data.tgz()
    assert content.getmember("./usr/lib/libx.so.1").linkname == "libx.so.1.0"
    assert content.getmember("./usr/lib/libx.so.1.0").isfile()


def test_a_second_run_builds_nothing(small, packages):
    before = packages.stat().st_ino
    assert not build.present(small, packages)
    assert packages.stat().st_ino == before


def test_byte_code_beside_the_sources_is_no_source(small, packages):
    (small / "__pycache__").mkdir()
    (small / "__pycache__/x.pyc").touch()
    assert not build.present(small, packages)


def test_check_mode_says_that_it_would_build_and_builds_nothing(small, tmp_path):
    assert build.present(small, tmp_path / "out", check=True)
    assert not (tmp_path / "out").exists()


def test_a_changed_source_changes_its_package_alone(small, packages):
    before = digests(packages)
    (small / "data").write_text("other")
    assert build.present(small, packages)
    assert {name for name, digest in digests(packages).items() if digest != before[name]} == {"nvidia/x-data_1.0-1+goldnode.lab_amd64.deb"}


def test_a_failed_build_leaves_the_old_packages(small, packages):
    before = digests(packages)
    (small / "x.c").write_text("this is not C")
    with pytest.raises(deb.BuildError, match="gcc"):
        build.present(small, packages)
    assert digests(packages) == before
    assert [path.name for path in packages.parent.iterdir()] == ["packages"]


def test_what_a_killed_build_left_is_removed_by_the_next(small, tmp_path):
    (tmp_path / "out/.packages.killed").mkdir(parents=True)
    build.present(small, tmp_path / "out/packages")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["packages"]


# -- the role's own packages --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Every package of the role."""
    target = tmp_path_factory.mktemp("built") / "packages"
    assert build.present(SOURCES, target)
    return target


def field(path, name):
    return DebFile(path).debcontrol()[name]


@pytest.mark.parametrize("name", ["libcuda1", "linux-image-6.12.117+deb13-amd64", "nvidia-kernel-open-dkms", "nvidia-container-toolkit"])
def test_equal_sources_give_equal_bytes_wherever_and_whoever_builds(name, tmp_path):
    package = next(one for one in catalogue.packages(build.read_catalogue(SOURCES)) if one.name == name)
    built = []
    for folder, mask in (("a", 0o022), ("b/longer", 0o077)):
        old = os.umask(mask)
        (tmp_path / folder / "scratch").mkdir(parents=True)
        built.append(deb.build(package, SOURCES, tmp_path / folder / "scratch", tmp_path / folder, 1764547200).read_bytes())
        os.umask(old)
    assert built[0] == built[1]


def test_every_package_says_that_it_is_of_the_lab_and_refuses_other_machines(built):
    for name in build.listed(built):
        package = DebFile(built / name)
        assert package.debcontrol()["Origin"] == "goldnode-lab"
        assert package.debcontrol()["Version"].endswith("+goldnode.lab")
        assert b"/etc/goldnode-lab" in package.scripts()["preinst"]


def test_preinst_refuses_a_machine_without_the_marker():
    done = subprocess.run(["sh", SOURCES / "preinst"], env={"DPKG_MAINTSCRIPT_PACKAGE": "x"}, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "this machine has no /etc/goldnode-lab" in done.stderr


@pytest.mark.parametrize("version", DRIVERS)
def test_a_driver_has_both_module_flavours_that_exclude_each_other(built, version):
    package = f"{version}-1+goldnode.lab_amd64.deb"
    assert field(built / f"nvidia/nvidia-kernel-open-dkms_{package}", "Conflicts") == "nvidia-kernel-dkms"
    assert field(built / f"nvidia/nvidia-kernel-dkms_{package}", "Conflicts") == "nvidia-kernel-open-dkms"


@pytest.mark.parametrize("version", DRIVERS)
def test_driver_metapackage_needs_its_siblings_at_exactly_its_version(built, version):
    depends = field(built / f"nvidia/nvidia-driver-cuda_{version}-1+goldnode.lab_amd64.deb", "Depends")
    for sibling in ("libcuda1", "libnvidia-ml1", "nvidia-smi", "nvidia-persistenced", "nvidia-modprobe"):
        assert f"{sibling} (= {version}-1+goldnode.lab)" in depends
    assert f"nvidia-kernel-open-dkms (= {version}-1+goldnode.lab) | nvidia-kernel-dkms (= {version}-1+goldnode.lab)" in depends


@pytest.mark.parametrize("version", ["6.12.107", "6.12.117", "6.12.121", "6.12.125"])
def test_a_kernel_metapackage_of_each_release_depends_on_that_release(built, version):
    depends = field(built / f"os/linux-image-amd64_{version}-1+goldnode.lab_amd64.deb", "Depends")
    assert depends == f"linux-image-{version}+deb13-amd64 (= {version}-1+goldnode.lab)"


def test_only_the_bad_kernel_has_headers_of_another_image():
    variants = build.read_catalogue(SOURCES)["families"]["kernel"]["variants"]
    assert [one["version"] for one in variants if one["image_checksum"] != one["headers_checksum"]] == ["6.12.121"]
