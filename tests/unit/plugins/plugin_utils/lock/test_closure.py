import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.catalogue import Catalogue
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.closure import closure


def closed(roots, others, preferred=None):
    return {one.name: one.version for one in closure(roots, Catalogue([*roots, *others]), preferred or {})}


def test_only_dependencies_within_the_owned_families_are_followed(package):
    root = package("nvidia-smi", "1-1", Depends="libnvidia-ml1 (= 1-1), libc6 (>= 2.34), debconf | debconf-2.0", Pre_Depends="nvidia-legacy-check")
    assert closed([root], [package("libnvidia-ml1", "1-1"), package("libnvidia-ml1", "2-1"), package("nvidia-legacy-check", "3-1")]) == {
        "nvidia-smi": "1-1",
        "libnvidia-ml1": "1-1",
        "nvidia-legacy-check": "3-1",
    }


def test_an_alternative_that_is_chosen_already_satisfies(package):
    root = package("nvidia-driver-bin", "1-1", Depends="nvidia-kernel-dkms (= 1-1) | nvidia-open-kernel-dkms (= 1-1)")
    pinned, other = package("nvidia-open-kernel-dkms", "1-1"), package("nvidia-kernel-dkms", "1-1")
    assert "nvidia-kernel-dkms" not in closed([root, pinned], [other])


def test_of_open_alternatives_the_first_that_is_there_is_taken(package):
    root = package("nvidia-driver-bin", "1-1", Depends="nvidia-kernel-dkms (= 9-1) | nvidia-open-kernel-dkms")
    assert set(closed([root], [package("nvidia-kernel-dkms", "1-1"), package("nvidia-open-kernel-dkms", "1-1")])) == {
        "nvidia-driver-bin",
        "nvidia-open-kernel-dkms",
    }


def test_a_provided_name_satisfies_with_its_own_version(package):
    root = package("nvidia-kernel-dkms", "1-1", Depends="nvidia-kernel-support--v1, nvidia-abi (= 550)")
    support = package("nvidia-kernel-support", "1-1", Provides="nvidia-kernel-support--v1, nvidia-abi (= 550)")
    assert "nvidia-kernel-support" in closed([root], [support])
    with pytest.raises(LockError, match=r"nvidia-kernel-dkms 1-1 needs nvidia-abi \(= 550\)"):
        closed([root], [package("nvidia-kernel-support", "1-1", Provides="nvidia-kernel-support--v1, nvidia-abi")])


def test_two_demands_on_one_package_are_both_met(package):
    first = package("nvidia-a", "1-1", Depends="nvidia-shared")
    second = package("nvidia-b", "1-1", Depends="nvidia-shared (<< 2)")
    others = [package("nvidia-shared", "1-1"), package("nvidia-shared", "2-1")]
    assert closed([first, second], others)["nvidia-shared"] == "1-1"


def test_demands_that_no_version_meets_are_refused(package):
    first = package("nvidia-a", "1-1", Depends="nvidia-shared (>= 2)")
    second = package("nvidia-b", "1-1", Depends="nvidia-shared (<< 2)")
    with pytest.raises(LockError, match=r"needs nvidia-shared .*; pin versions that belong together"):
        closed([first, second], [package("nvidia-shared", "1-1"), package("nvidia-shared", "2-1")])


def test_a_pin_is_never_moved_by_a_dependency(package):
    root = package("nvidia-driver-cuda", "2-1", Depends="libcuda1 (= 2-1)")
    with pytest.raises(LockError, match=r"nvidia-driver-cuda 2-1 needs libcuda1 \(= 2-1\), but libcuda1 1-1 is pinned"):
        closed([root, package("libcuda1", "1-1")], [package("libcuda1", "2-1")])


def test_the_pinned_driver_version_is_preferred_to_a_higher_one(package):
    root = package("nvidia-kernel-open-dkms", "1-1", Depends="nvidia-modprobe (>= 1)")
    others = [package("nvidia-modprobe", "1-1"), package("nvidia-modprobe", "2-1")]
    assert closed([root], others, {"driver": "1"})["nvidia-modprobe"] == "1-1"
    assert closed([root], others)["nvidia-modprobe"] == "2-1"


def test_an_alternative_of_the_pinned_version_goes_before_an_earlier_one_of_another(package):
    # Debian's nvidia-persistenced beside the tesla branch
    root = package("nvidia-persistenced", "550.1-1", Depends="libnvidia-cfg1 | libnvidia-tesla-535-cfg1 | libnvidia-cfg.so.1")
    others = [package("libnvidia-cfg1", "550.1-1"), package("libnvidia-tesla-535-cfg1", "535.2-1")]
    assert "libnvidia-tesla-535-cfg1" in closed([root], others, {"driver": "535.2"})
    assert "libnvidia-cfg1" in closed([root], others, {"driver": "550.1"})


def test_the_same_origin_is_preferred_to_a_higher_version(package):
    root = package("nvidia-kernel-open-dkms", "1-1", Depends="nvidia-modprobe", origin="NVIDIA")
    others = [package("nvidia-modprobe", "1-1", origin="NVIDIA"), package("nvidia-modprobe", "2-1", origin="Ubuntu")]
    assert closed([root], others)["nvidia-modprobe"] == "1-1"


def test_an_owned_package_that_no_repository_has_is_refused(package):
    with pytest.raises(LockError, match=r"needs firmware-nvidia-gsp .* do not have; add the repository or component"):
        closed([package("nvidia-kernel-dkms", "1-1", Depends="firmware-nvidia-gsp (= 1-1)")], [])


def test_dkms_is_locked_where_it_is_there_and_left_to_the_node_where_not(package):
    root = package("nvidia-kernel-dkms", "1-1", Depends="dkms (>= 3)")
    assert closed([root], [package("dkms", "3.2.2-1")])["dkms"] == "3.2.2-1"
    assert "dkms" not in closed([root], [])


def test_packages_that_conflict_are_refused(package):
    roots = [package("docker.io", "1-1", Conflicts="docker-ce (<< 9)"), package("docker-ce", "5-1")]
    with pytest.raises(LockError, match=r"docker[.]io 1-1 conflicts with docker-ce 5-1"):
        closed(roots, [])
