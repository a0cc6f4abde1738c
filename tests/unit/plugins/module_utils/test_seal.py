import os

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.seal import ABSENT, seal, violations
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

# One file for every item of the seal list, as it is found in real roots; a glob of the list is never repeated here.
PLANTED = {
    "var/lib/dbus/machine-id": "dbus machine id",
    "etc/ssh/ssh_host_ed25519_key": "ssh host keys",
    "etc/ssh/ssh_host_ed25519_key.pub": "ssh host keys",
    "etc/hostname": "host name",
    "var/lib/systemd/random-seed": "random seed",
    "var/lib/systemd/credential.secret": "credential secret",
    "var/lib/cloud/instance/user-data.txt": "cloud-init state",
    "var/lib/dhcp/dhclient.eth0.leases": "dhcp leases",
    "var/lib/NetworkManager/secret_key": "dhcp leases",
    "etc/NetworkManager/system-connections/wifi.nmconnection": "network secrets",
    "etc/netplan/50-cloud-init.yaml": "network secrets",
    "etc/nvme/hostid": "nvme and iscsi names",
    "etc/iscsi/initiatorname.iscsi": "nvme and iscsi names",
    "root/.bash_history": "histories",
    "home/admin/.python_history": "histories",
    "root/.ssh/authorized_keys": "user credentials",
    "home/admin/.ssh/id_ed25519": "user credentials",
    "root/.docker/config.json": "user credentials",
    "home/admin/.netrc": "user credentials",
    "etc/krb5.keytab": "system credentials",
    "etc/apt/auth.conf": "system credentials",
    "etc/apt/auth.conf.d/vendor.conf": "system credentials",
    "etc/pip.conf": "system credentials",
    "tmp/.X0-lock": "temporary files",
    "var/tmp/build/a": "temporary files",
    "run/systemd/resolve/stub-resolv.conf": "temporary files",
    "var/crash/vmcore": "crash dumps",
    "var/cache/apt/pkgcache.bin": "apt caches",
    "var/cache/apt/archives/docker.io_26.1.5_amd64.deb": "apt caches",
    "var/lib/docker/overlay2/l/x": "container data",
    "var/lib/containerd/io.containerd.metadata.v1.bolt/meta.db": "container data",
    "swapfile": "swap",
    "var/lib/dkms/mok.key": "module signing keys",
    "var/lib/dkms/mok.pub": "module signing keys",
    "var/lib/shim-signed/mok/MOK.priv": "module signing keys",
    "srv/backup/MOK.priv": "module signing keys",
    "opt/a/b/mok.key": "module signing keys",
    "var/lib/dkms/nvidia/550.163.01/build/make.log": "dkms build trees",
    "var/lib/dkms/nvidia/550.163.01/6.12.1-amd64/x86_64/log/make.log": "dkms build trees",
    "etc/shadow-": "back-ups and caches that differ from build to build",
    "var/lib/dpkg/status-old": "back-ups and caches that differ from build to build",
    "usr/sbin/policy-rc.d": "builder",
    "etc/dpkg/dpkg.cfg.d/goldnode-builder": "builder",
    "root/.ansible/tmp/x/AnsiballZ_apt.py": "builder",
    "var/log/apt/history.log": "logs",
    "var/log/journal/0123456789abcdef0123456789abcdef/system.journal": "logs",
    "var/lib/apt/lists/deb.example_dists_trixie_InRelease": "apt lists",
    "etc/goldnode-lab/profile.yml": "lab node profile",
}

# What a sealed root must still have.
KEPT = (
    "etc/passwd",
    "etc/ssh/sshd_config",
    "var/lib/dkms/nvidia/550.163.01/6.12.1-amd64/x86_64/module/nvidia.ko.xz",
    "home/admin/.bashrc",
    "var/lib/dpkg/status",
)


def plant(root, path, text="planted"):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


@pytest.fixture
def root(tmp_path):
    top = tmp_path / "root"
    for path in KEPT:
        plant(top, path)
    for path in ("etc/machine-id", "etc/resolv.conf"):
        plant(top, path, "")
    for folder in ("var/log/apt", "var/lib/apt/lists/partial", "tmp", "run", "var/lib/docker", "etc/goldnode-lab"):
        (top / folder).mkdir(parents=True, exist_ok=True)
    return top


def test_a_sealed_root_has_no_violation(root):
    assert violations(root) == []


@pytest.mark.parametrize(("path", "item"), PLANTED.items())
def test_each_planted_thing_is_found_and_sealed_away(root, path, item):
    plant(root, path)
    found = violations(root)
    assert {violation.item for violation in found} == {item}
    assert all(path.startswith(violation.path) for violation in found)
    assert seal(root) == found
    assert not (root / path).exists()
    assert violations(root) == []


def test_every_item_of_the_seal_list_is_planted_by_a_test():
    assert set(ABSENT) <= set(PLANTED.values())


def test_sealing_everything_at_once_keeps_what_the_image_needs(root):
    for path in PLANTED:
        plant(root, path)
    seal(root)
    assert violations(root) == []
    assert all((root / path).is_file() for path in KEPT)
    assert (root / "var/log/apt").is_dir()
    assert (root / "etc/goldnode-lab").is_dir()


@given(paths=st.lists(st.sampled_from(sorted(PLANTED)), unique=True))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_set_of_planted_things_is_sealed_in_one_pass(root, paths):
    for path in paths:
        plant(root, path)
    seal(root)
    assert violations(root) == []


@pytest.mark.parametrize("text", ["", "\n", "uninitialized\n"])
def test_a_machine_id_without_an_id_is_sealed(root, text):
    plant(root, "etc/machine-id", text)
    assert violations(root) == []


@pytest.mark.parametrize("text", ["0123456789abcdef0123456789abcdef\n", "x"])
def test_a_machine_id_is_found_and_emptied(root, text):
    plant(root, "etc/machine-id", text)
    assert [violation.item for violation in seal(root)] == ["machine id"]
    assert (root / "etc/machine-id").read_text() == ""
    assert (root / "etc/machine-id").stat().st_mode & 0o777 == 0o644


def test_a_root_without_a_machine_id_file_gets_an_empty_one(root):
    (root / "etc/machine-id").unlink()
    seal(root)
    assert (root / "etc/machine-id").read_text() == ""


def test_the_build_hosts_resolver_is_emptied_where_nothing_resolves(root):
    plant(root, "etc/resolv.conf", "nameserver 192.0.2.1\n")
    assert [violation.item for violation in seal(root)] == ["resolver"]
    assert (root / "etc/resolv.conf").read_text() == ""


def test_the_resolver_is_the_link_where_systemd_resolved_is_installed(root):
    plant(root, "usr/lib/systemd/systemd-resolved")
    assert [violation.item for violation in seal(root)] == ["resolver"]
    assert os.readlink(root / "etc/resolv.conf") == "../run/systemd/resolve/stub-resolv.conf"
    assert violations(root) == []


def test_a_link_to_the_machine_id_is_no_second_machine_id(root):
    (root / "var/lib/dbus").mkdir()
    (root / "var/lib/dbus/machine-id").symlink_to("/etc/machine-id")
    assert violations(root) == []


@pytest.mark.parametrize("place", ["tmp", "var/log", "var/lib/docker", "root", "home/admin", "var/lib/apt/lists"])
def test_nothing_outside_of_the_root_is_touched_through_a_link(root, tmp_path, place):
    outside = tmp_path / "outside"
    for name in ("file", ".ssh/authorized_keys", ".bash_history", "sub/file"):
        plant(outside, name)
    before = sorted(outside.rglob("*"))
    target = root / place
    if target.is_dir():
        import shutil

        shutil.rmtree(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.symlink_to(outside)
    seal(root)
    assert sorted(outside.rglob("*")) == before
    assert violations(root) == []
