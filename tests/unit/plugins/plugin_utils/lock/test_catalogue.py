import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.catalogue import Catalogue, Relation, parse_packages

TEXT = """Package: libc6
Version: 2.41-12
Architecture: amd64
Size: 1
SHA256: 00

Package: docker.io
Source: docker.io (26.1.5+dfsg1-9)
Version: 26.1.5+dfsg1-9+b1
Architecture: amd64
Pre-Depends: init-system-helpers (>= 1.54~)
Depends: containerd (>= 1.4~), iptables | nftables,
 runc:any (>= 1.0.0~rc8~) [amd64]
Conflicts: docker-ce
Breaks: docker-cli (<< 20)
Filename: pool/main/d/docker.io/docker.io_26.1.5+dfsg1-9+b1_amd64.deb
Size: 27000000
SHA256: aa11
Description: container engine
 Package: not-one
"""


def test_only_owned_packages_are_read_with_all_that_a_lock_needs():
    [docker] = parse_packages(TEXT, "debian", "Debian")
    assert (docker.name, docker.version, docker.architecture) == ("docker.io", "26.1.5+dfsg1-9+b1", "amd64")
    assert (docker.repository, docker.origin, docker.size, docker.sha256, docker.layer) == ("debian", "Debian", 27000000, "aa11", "engine")
    assert docker.filename == "pool/main/d/docker.io/docker.io_26.1.5+dfsg1-9+b1_amd64.deb"


def test_dependencies_keep_alternatives_and_versions():
    [docker] = parse_packages(TEXT, "debian", "Debian")
    assert docker.depends == (
        (Relation("init-system-helpers", ">=", "1.54~"),),
        (Relation("containerd", ">=", "1.4~"),),
        (Relation("iptables"), Relation("nftables")),
        (Relation("runc", ">=", "1.0.0~rc8~"),),
    )
    assert docker.conflicts == (Relation("docker-ce"), Relation("docker-cli", "<<", "20"))


def test_an_index_without_owned_packages_is_empty():
    assert list(parse_packages("", "x", "X")) == []
    assert list(parse_packages("Package: bash\nVersion: 1\n", "x", "X")) == []


def test_candidates_stand_highest_version_first(package):
    catalogue = Catalogue([package("runc", version) for version in ("1.9-1", "1.10-1", "1.10~rc1-1")])
    assert [one.version for one in catalogue.named("runc")] == ["1.10-1", "1.10~rc1-1", "1.9-1"]


def test_a_package_of_the_name_comes_before_one_that_provides_it(package):
    real, provider = package("firmware-nvidia-gsp", "1-1"), package("firmware-nvidia-all", "9-1", Provides="firmware-nvidia-gsp")
    catalogue = Catalogue([provider, real])
    assert catalogue.offering(Relation("firmware-nvidia-gsp")) == [real, provider]
    assert catalogue.named("firmware-nvidia-gsp") == [real]
    assert catalogue.names() == ["firmware-nvidia-all", "firmware-nvidia-gsp"]


def test_an_unversioned_provision_meets_no_versioned_relation(package):
    provider = package("nvidia-x", "9-1", Provides="nvidia-abi, nvidia-api (= 550)")
    assert provider.meets(Relation("nvidia-abi"))
    assert not provider.meets(Relation("nvidia-abi", ">=", "1"))
    assert provider.meets(Relation("nvidia-api", ">=", "540"))
    assert not provider.meets(Relation("nvidia-api", ">>", "550"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SHA256: aa11\n", ""),
        ("Filename: pool", "File: pool"),
        ("Size: 27000000", "Size: x"),
        ("Version: 26.1.5+dfsg1-9+b1", "Version: 1.1_15"),
        ("Version: 26.1.5+dfsg1-9+b1", "Version: 1\x1b[2J"),
    ],
)
def test_a_package_that_is_described_wrongly_is_named_with_its_repository(old, new):
    assert old in TEXT
    with pytest.raises(LockError, match=r"repository debian: its index describes docker[.]io wrongly") as refused:
        list(parse_packages(TEXT.replace(old, new), "debian", "Debian"))
    assert "\n" not in str(refused.value)


def test_what_is_wrong_with_a_package_of_nobodys_family_stops_nothing():
    assert [one.name for one in parse_packages(TEXT.replace("Version: 2.41-12", "Version: 1_2").replace("SHA256: 00\n", ""), "debian", "Debian")] == [
        "docker.io"
    ]
