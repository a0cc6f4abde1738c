import re

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import make_lock
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.families import layer_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.node_files import (
    PREFERENCES,
    UNATTENDED,
    node_files,
    preferences,
    sources_of,
    unattended,
)
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.resolve import resolve
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.sources import make_repositories


@pytest.fixture
def repositories(site):
    return make_repositories(site.sources(), site.trust(), "package_sources_repositories", "package_sources_trust")


@pytest.fixture
def stack(pins, offered, repositories):
    settled, chosen = resolve(pins, offered)
    return make_lock(
        "lab_a10", settled, pins, [{**one.identity(), "snapshot": f"sha256:{'b' * 64}", "date": "2026-11-28T08:12:13Z"} for one in repositories], chosen
    )


def test_each_repository_gets_a_source_signed_by_its_own_keyring(site, repositories, stack):
    files = node_files(repositories, stack)
    assert set(files) == {
        "/etc/apt/keyrings/goldnode-lab.asc",
        "/etc/apt/sources.list.d/goldnode-nvidia.sources",
        "/etc/apt/sources.list.d/goldnode-os.sources",
        PREFERENCES,
        UNATTENDED,
    }
    assert "Signed-By: /etc/apt/keyrings/goldnode-lab.asc\n" in files["/etc/apt/sources.list.d/goldnode-os.sources"]
    assert files["/etc/apt/keyrings/goldnode-lab.asc"] == site.repositories["os"].key.public_key


def test_a_lock_for_another_package_manager_is_refused(repositories, stack):
    stack["pins"]["os"]["distribution"] = "sles"
    with pytest.raises(LockError, match="the lock of pool lab_a10 is for sles; the roles configure package sources on debian,"):
        node_files(repositories, stack)


def test_a_dnf_repository_has_signed_packages_and_signed_metadata(site, repositories, stack):
    stack["pins"]["os"]["distribution"] = "rocky"
    files = node_files(repositories, stack)
    assert set(files) == {
        "/etc/pki/rpm-gpg/goldnode-lab.asc",
        "/etc/yum.repos.d/goldnode-nvidia.repo",
        "/etc/yum.repos.d/goldnode-os.repo",
    }
    text = files["/etc/yum.repos.d/goldnode-os.repo"]
    assert "[goldnode-os]\n" in text
    assert "gpgcheck=1\nrepo_gpgcheck=1\ngpgkey=file:///etc/pki/rpm-gpg/goldnode-lab.asc\nmodule_hotfixes=1\n" in text
    imported, read = sources_of(stack).refresh(repositories)
    assert imported == ["rpm", "--import", "/etc/pki/rpm-gpg/goldnode-lab.asc"]
    assert "--enablerepo=goldnode-nvidia,goldnode-os" in read


def test_each_apt_source_is_read_alone_and_a_bad_signature_is_an_error(repositories, stack):
    commands = sources_of(stack).refresh(repositories)
    assert [command[-1].rpartition("/")[2] for command in commands] == ["goldnode-nvidia.sources", "goldnode-os.sources"]
    assert all("--error-on=any" in command for command in commands)


def test_a_repository_of_the_lock_that_is_not_configured_is_refused(repositories, stack):
    with pytest.raises(LockError, match="the lock of pool lab_a10 takes packages from repository os, which package_sources_repositories lacks"):
        node_files([one for one in repositories if one.name != "os"], stack)


def test_a_repository_at_another_address_than_the_locked_one_is_refused(repositories, stack):
    stack["repositories"][0]["uris"] = ["file:/elsewhere"]
    with pytest.raises(LockError, match="repository nvidia is another than the lock of pool lab_a10 used: uris is"):
        node_files(repositories, stack)


def test_a_further_repository_is_allowed(site, repositories, stack):
    more = make_repositories([*site.sources(), {**site.sources()[0], "name": "extra"}], site.trust(), "s", "t")
    assert "/etc/apt/sources.list.d/goldnode-extra.sources" in node_files(more, stack)


def test_a_key_of_another_fingerprint_writes_nothing(site, stack, other_key):
    trust = {"lab": {**site.trust()["lab"], "fingerprint": other_key.fingerprint}}
    with pytest.raises(LockError, match="its fingerprint is stated as"):
        node_files(make_repositories(site.sources(), trust, "s", "t"), stack)


def test_vendors_rank_below_the_distribution_and_the_distribution_is_not_ranked(repositories):
    text = preferences(repositories, "debian")
    assert "Pin: release o=goldnode-lab,l=nvidia\nPin-Priority: 400\n" in text
    assert "Pin:" not in preferences(repositories, "goldnode-lab")


NAMES = [
    "linux-image-6.12.117+deb13-amd64",
    "linux-headers-amd64",
    "nvidia-kernel-open-dkms",
    "nvidia-container-toolkit",
    "libnvidia-container1",
    "libnvidia-cfg1",
    "libcuda1",
    "docker.io",
    "containerd.io",
    "runc",
    "libc6",
    "nvidia-cuda-toolkit",
    "dockerxio",
    "openssl",
]


@pytest.mark.parametrize("name", NAMES)
def test_unattended_upgrades_leaves_exactly_the_owned_families_alone(name):
    expressions = re.findall(r'^  "(.*)";$', unattended(), re.MULTILINE)
    assert any(re.match(expression, name) for expression in expressions) is (layer_of(name) is not None)
