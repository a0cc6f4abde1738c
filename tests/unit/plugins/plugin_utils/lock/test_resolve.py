from dataclasses import replace

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_without, file_digest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import make_lock
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.resolve import PoolFiles, resolve, resolve_pool
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


def names(packages, layer):
    return {package.name: package.version for package in packages if package.layer == layer}


def test_each_layer_of_the_lock_has_the_pinned_packages_and_what_they_need(pins, offered):
    _, chosen = resolve(pins, offered)
    driver = "580.159.03-1+goldnode.lab"
    assert names(chosen, "kernel") == dict.fromkeys(
        ("linux-image-6.12.107+deb13-amd64", "linux-headers-6.12.107+deb13-amd64", "linux-kbuild-6.12.107+deb13-amd64"), "6.12.107-1"
    )
    assert names(chosen, "driver") == dict.fromkeys(
        (
            "nvidia-kernel-open-dkms",
            "nvidia-driver-cuda",
            "libcuda1",
            "libnvidia-ml1",
            "libnvidia-ptxjitcompiler1",
            "nvidia-smi",
            "nvidia-modprobe",
            "nvidia-persistenced",
            "firmware-nvidia-gsp",
        ),
        driver,
    )
    assert set(names(chosen, "container_toolkit").values()) == {"1.19.1-1"} and len(names(chosen, "container_toolkit")) == 4
    assert names(chosen, "engine") == {
        "docker.io": "26.1.5+dfsg1-9+deb13u1+b1",
        "docker-cli": "26.1.5+dfsg1-9+deb13u1+b1",
        "containerd": "1.7.24~ds1-6+deb13u1",
        "runc": "1.1.15+ds1-2+b4",
    }


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_the_order_in_which_packages_come_in_does_not_change_the_lock(data, pins, offered):
    shuffled = data.draw(st.permutations(offered))
    assert make_lock("a", *_locked(pins, shuffled)) == make_lock("a", *_locked(pins, offered))


def _locked(pins, packages):
    settled, chosen = resolve(pins, packages)
    return settled, pins, [], chosen


def test_a_full_package_version_is_a_pin_too(pins, offered):
    pins["nvidia_driver"]["version"] = "580.159.03-1+goldnode.lab"
    settled, chosen = resolve(pins, offered)
    assert settled["nvidia_driver"]["version"] == "580.159.03-1+goldnode.lab"
    assert names(chosen, "driver")["libcuda1"] == "580.159.03-1+goldnode.lab"


def test_of_several_revisions_of_one_upstream_version_the_highest_is_locked(pins, offered, package):
    later = [package(one.name, one.version.replace("u1", "u2")) for one in offered if one.name in ("docker.io", "docker-cli")]
    _, chosen = resolve(pins, [*offered, *later])
    assert names(chosen, "engine")["docker.io"] == "26.1.5+dfsg1-9+deb13u2+b1"


def test_ranges_become_the_chosen_versions(pins, offered):
    pins["nvidia_driver"]["version"], pins["container_toolkit"]["version"], pins["kernel"]["version"] = "580.*", "1.*", "6.12.*-amd64"
    settled, chosen = resolve(pins, offered)
    assert settled["nvidia_driver"]["version"] == "580.159.03"
    assert settled["container_toolkit"]["version"] == "1.20.0"
    assert settled["kernel"]["version"] == "6.12.117+deb13-amd64"
    assert names(chosen, "container_toolkit")["libnvidia-container1"] == "1.20.0-1"
    assert pins["nvidia_driver"]["version"] == "580.*"


def test_a_metapackage_is_no_kernel(pins, offered, package):
    pins["kernel"]["version"] = "9.9-amd64"
    with pytest.raises(LockError, match=r"have 6[.]12[.]107.deb13-amd64, 6[.]12[.]117.deb13-amd64[.] Write"):
        resolve(pins, [*offered, package("linux-image-amd64", "6.12.117-1")])


def test_a_range_takes_only_a_version_that_all_siblings_have(pins, offered):
    pins["container_toolkit"]["version"] = "1.*"
    partial = [one for one in offered if (one.name, one.version) != ("libnvidia-container1", "1.20.0-1")]
    assert resolve(pins, partial)[0]["container_toolkit"]["version"] == "1.19.1"


def test_the_fabric_manager_gets_the_version_that_the_driver_range_became(pins, offered, package):
    pins["nvidia_driver"]["version"] = "580.*"
    pins["fabric_manager"] = {"version": "580.*"}
    newer = package("nvidia-fabricmanager", "580.999.01-1", repository="nvidia")
    settled, chosen = resolve(pins, [*offered, newer])
    assert settled["fabric_manager"] == {"version": "580.159.03"}
    assert names(chosen, "driver")["nvidia-fabricmanager"] == "580.159.03-1+goldnode.lab"


def test_a_pool_without_toolkit_locks_none(pins, offered):
    pins["container_toolkit"] = None
    assert names(resolve(pins, offered)[1], "container_toolkit") == {}


@pytest.mark.parametrize(
    ("subject", "version", "sentence"),
    [
        (
            "nvidia_driver",
            "580.999.99",
            'nvidia_driver.version is "580.999.99": the pool\'s repositories have nvidia-kernel-open-dkms 570.211.01, 580.159.03, 595.71.05',
        ),
        ("container_toolkit", "1.18.0", 'container_toolkit.version is "1.18.0": the pool\'s repositories have nvidia-container-toolkit 1.19.1, 1.20.0'),
        ("docker", "29.9.0", 'docker.version is "29.9.0": the pool\'s repositories have docker.io 26.1.5'),
        ("kernel", "6.1.1-amd64", 'kernel.version is "6.1.1-amd64"; the pool\'s repositories have 6.12.107+deb13-amd64, 6.12.117+deb13-amd64'),
    ],
)
def test_a_version_that_is_not_there_is_refused_with_the_nearest(pins, offered, subject, version, sentence):
    pins[subject]["version"] = version
    with pytest.raises(LockError) as refused:
        resolve(pins, offered)
    assert str(refused.value).startswith(sentence)


def test_an_engine_whose_containerd_is_not_there_names_containerd(pins, offered):
    pins["docker"]["containerd"] = "2.4.1"
    with pytest.raises(LockError, match=r'docker[.]containerd is "2.4.1": the pool\'s repositories have containerd 1[.]7[.]24'):
        resolve(pins, offered)


def test_what_no_table_knows_is_refused(pins, offered):
    pins["nvidia_driver"]["build"] = "prebuilt"
    with pytest.raises(LockError, match="no packages are known for debian with open modules and build prebuilt"):
        resolve(pins, offered)


def test_a_distribution_whose_packages_no_table_knows_is_refused_before_anything_is_fetched(site):
    site.pins["os"]["distribution"] = "sles"
    site.write()
    with pytest.raises(LockError, match=r'^pins.yml of pool lab_a10 .*: os[.]distribution is "sles"; lock_stack resolves for debian, ubuntu, rhel,'):
        resolve_pool(PoolFiles("lab_a10", site.inventory))


def test_all_packages_of_a_family_come_from_one_origin(pins, offered, package):
    foreign = package("nvidia-driver-cuda", "570.500.00-1", repository="elsewhere", origin="Elsewhere")
    lone = package("nvidia-kernel-open-dkms", "570.500.00-1", repository="nvidia")
    pins["nvidia_driver"]["version"] = "570.500.00"
    with pytest.raises(LockError, match="not there at one version from one origin"):
        resolve(pins, [*offered, foreign, lone])


def test_docker_ce_brings_its_own_runc(pins, offered, package):
    pins["docker"] = {"version": "29.9.0", "containerd": "2.4.1", "runc": "1.5.1"}
    ce = [package(name, "5:29.9.0-1~debian.13~trixie", origin="Docker") for name in ("docker-ce", "docker-ce-cli")]
    _, chosen = resolve(pins, [*offered, *ce, package("containerd.io", "2.4.1-1~debian.13~trixie", origin="Docker")])
    assert set(names(chosen, "engine")) == {"docker-ce", "docker-ce-cli", "containerd.io"}


def test_a_pool_resolves_against_a_signed_repository_to_the_same_bytes_each_time(site):
    files = PoolFiles("lab_a10", site.inventory)
    lock = resolve_pool(files)
    assert lock == resolve_pool(files)
    assert lock["digest"] == digest_without(lock)
    assert [one["name"] for one in lock["repositories"]] == ["nvidia", "os"]
    assert lock["repositories"][0]["key_fingerprint"] == site.repositories["os"].key.fingerprint
    deb = site.repositories["os"].folder / "pool" / "runc_1.1.15+ds1-2+b4_amd64.deb"
    [runc] = [one for one in lock["packages"] if one["name"] == "runc"]
    assert (runc["size"], runc["sha256"], runc["repository"]) == (deb.stat().st_size, file_digest(deb).partition(":")[2], "os")


def test_the_order_of_keys_and_repositories_does_not_change_the_lock(site):
    files = PoolFiles("lab_a10", site.inventory)
    first = resolve_pool(files)
    site.pins = dict(reversed(site.pins.items()))
    site.repositories = dict(reversed(site.repositories.items()))
    site.write()
    again = resolve_pool(files)
    assert again["digest"] == first["digest"]


def test_a_refusal_of_the_resolver_names_pins_yml(site):
    site.pins["nvidia_driver"]["version"] = "999.1"
    site.write()
    with pytest.raises(LockError) as refused:
        resolve_pool(PoolFiles("lab_a10", site.inventory))
    assert str(refused.value).startswith(f"pins.yml of pool lab_a10 ({site.inventory}/group_vars/lab_a10/pins.yml): nvidia_driver.version")


def test_other_modules_and_the_compiler_are_locked_where_the_repositories_have_them(pins, offered, package):
    pins["extra_modules"] = [{"name": "zfs-dkms", "version": "2.*"}]
    more = [
        package("zfs-dkms", "2.3.1-1", Depends="dkms (>> 2.1.1.2-5)"),
        package("dkms", "3.2.2-1"),
        package("gcc-14", "14.2.0-19"),
        package("gcc-15", "15.1-1"),
    ]
    settled, chosen = resolve(pins, [*offered, *more])
    assert settled["extra_modules"] == [{"name": "zfs-dkms", "version": "2.3.1"}]
    assert {"zfs-dkms": "2.3.1-1", "dkms": "3.2.2-1"}.items() <= names(chosen, "driver").items()
    assert names(chosen, "kernel")["gcc-14"] == "14.2.0-19"
    assert "gcc-15" not in names(chosen, "kernel")


def test_another_module_that_is_not_there_is_refused_by_its_place(pins, offered):
    pins["extra_modules"] = [{"name": "zfs-dkms", "version": "2.3.1"}]
    with pytest.raises(LockError, match=r'^extra_modules.0.version is "2.3.1": the pool\'s repositories have zfs-dkms none'):
        resolve(pins, offered)


def test_one_version_with_two_contents_is_refused(pins, offered, package):
    twin = package("runc", "1.1.15+ds1-2+b4", repository="mirror", Description="another build")
    with pytest.raises(LockError, match=r"runc 1.1.15\+ds1-2\+b4 is in repositories (os and mirror|mirror and os) with different content"):
        resolve(pins, [*offered, twin])


def test_a_second_copy_of_the_same_file_is_no_matter(pins, offered):
    copies = [replace(one, repository="mirror") for one in offered]
    _, chosen = resolve(pins, [*offered, *copies])
    _, alone = resolve(pins, offered)
    assert [str(one) for one in chosen] == [str(one) for one in alone]


def test_two_origins_with_the_pinned_version_are_refused(pins, offered, package):
    others = [
        package(name, "1.19.1-9", "other", "Other")
        for name in ("nvidia-container-toolkit", "nvidia-container-toolkit-base", "libnvidia-container-tools", "libnvidia-container1")
    ]
    with pytest.raises(
        LockError,
        match=r"both nvidia-container-toolkit 1.19.1-9 of origin Other and nvidia-container-toolkit 1.19.1-1 of origin goldnode-lab are what is pinned",
    ):
        resolve(pins, [*offered, *others])
    pins["container_toolkit"]["version"] = "1.19.1-9"
    assert set(names(resolve(pins, [*offered, *others])[1], "container_toolkit").values()) == {"1.19.1-9"}


def test_of_two_families_that_lack_the_pin_the_one_of_its_branch_is_named(pins, package):
    """Debian 13: 535 and 550 side by side under names of their own."""
    names = ("nvidia-tesla-535-kernel-dkms", "libnvidia-tesla-535-cuda1", "libnvidia-tesla-535-ml1", "nvidia-tesla-535-smi", "firmware-nvidia-tesla-535-gsp")
    archive = ("nvidia-kernel-dkms", "libcuda1", "libnvidia-ml1", "nvidia-smi", "firmware-nvidia-gsp")
    kernel = [package(f"linux-{kind}-6.12.107+deb13-amd64", "6.12.107-1") for kind in ("image", "headers")]
    offered = [*kernel, *(package(name, "535.274.02-1~deb13u1") for name in names), *(package(name, "550.163.01-2") for name in archive)]
    wanted = {**pins, "nvidia_driver": {"version": "535.261.03", "modules": "proprietary", "build": "dkms"}}
    with pytest.raises(LockError, match=r"the pool's repositories have nvidia-tesla-535-kernel-dkms 535\.274\.02"):
        resolve(wanted, offered)
