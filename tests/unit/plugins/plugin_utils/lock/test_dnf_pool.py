"""What is shared with apt does for RPM's packages what it does for Debian's: resolving, document, difference, expiry, upgrade."""

from dataclasses import replace
from datetime import date

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.catalogue import Relation
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.difference import differences, lines
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import make_lock, read_lock, render
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.expiry import standings
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.resolve import Offers, PoolFiles, read_offers, resolve, resolve_pool
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.upgrade import proposals
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.check import check
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.model import REFUSAL
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TODAY = date(2026, 12, 1)
NEWER_KERNEL = "5.14.0-570.22.1.el9_6.x86_64"


def names(packages, layer):
    return {package.name: package.version for package in packages if package.layer == layer}


def identity(name):
    here = {"name": name, "uris": ["https://mirror.example/9"], "suites": ["/"], "components": [], "origin": "Rocky", "label": "any"}
    return {**here, "key_fingerprint": "A" * 40, "snapshot": f"sha256:{'b' * 64}", "date": "2026-11-21T09:15:44Z"}


REPOSITORIES = [identity("rpm-os"), identity("rpm-nvidia")]


@pytest.fixture
def locked(rpm_pins, rpm_offered):
    """Makes the lock of pins that differ from the usual ones."""

    def make(**other):
        settled, chosen = resolve({**rpm_pins, **other}, rpm_offered)
        return make_lock("lab_a10", settled, {**rpm_pins, **other}, REPOSITORIES, chosen)

    return make


def another(offered, name, version):
    """The newest package of a name, at another version."""
    one = next(package for package in offered if package.name == name)
    return replace(one, version=version, sha256="c" * 64, filename=f"Packages/{name}-{version}.rpm")


def test_a_pool_of_rocky_nodes_gets_a_lock(rpm_site, tmp_path):
    lock = resolve_pool(PoolFiles("lab_a10", rpm_site.inventory))
    path = tmp_path / "lab_a10.lock.yml"
    path.write_text(render(lock))
    assert read_lock(path, "lab_a10") == lock
    assert [one["name"] for one in lock["repositories"]] == ["rpm-nvidia", "rpm-os"]
    assert render(resolve_pool(PoolFiles("lab_a10", rpm_site.inventory))) == render(lock)
    assert check(lock["pins"], TODAY).of(REFUSAL) == []


def test_each_layer_has_the_pinned_packages_and_what_they_need(rpm_pins, rpm_offered):
    _, chosen = resolve(rpm_pins, rpm_offered)
    assert names(chosen, "kernel") == dict.fromkeys(
        ("kernel", "kernel-core", "kernel-modules", "kernel-modules-core", "kernel-devel"),
        "5.14.0-570.12.1.el9_6",
    )
    assert names(chosen, "driver") == dict.fromkeys(
        (
            "kmod-nvidia-open-dkms",
            "libnvidia-cfg",
            "nvidia-driver-cuda",
            "nvidia-driver-cuda-libs",
            "nvidia-kmod-common",
            "nvidia-modprobe",
            "nvidia-persistenced",
        ),
        "3:580.159.03-1.el9",
    )
    assert set(names(chosen, "container_toolkit").values()) == {"1.19.1-1"} and len(names(chosen, "container_toolkit")) == 4
    assert names(chosen, "engine") == {"containerd.io": "2.4.1-1.el9", "docker-ce": "3:29.9.0-1.el9", "docker-ce-cli": "1:29.9.0-1.el9"}


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_the_order_in_which_packages_come_in_does_not_change_the_lock(data, rpm_pins, rpm_offered):
    shuffled = data.draw(st.permutations(rpm_offered))
    settled, chosen = resolve(rpm_pins, shuffled)
    assert make_lock("a", settled, rpm_pins, [], chosen) == make_lock("a", rpm_pins, rpm_pins, [], resolve(rpm_pins, rpm_offered)[1])


@pytest.mark.parametrize(
    ("modules", "build", "module"),
    [
        ("open", "dkms", "kmod-nvidia-open-dkms"),
        ("proprietary", "dkms", "kmod-nvidia-latest-dkms"),
        ("proprietary", "prebuilt", "kmod-nvidia-580.159.03-5.14.0-570.12.1"),
        ("open", "prebuilt", "kmod-nvidia-open-580.159.03-5.14.0-570.12.1"),
    ],
)
@pytest.mark.parametrize("version", ["580.159.03", "580.*"])
def test_the_module_is_the_one_of_its_kind_and_build(rpm_pins, rpm_offered, modules, build, module, version):
    rpm_pins["nvidia_driver"] = {"version": version, "modules": modules, "build": build}
    settled, chosen = resolve(rpm_pins, rpm_offered)
    assert [name for name in names(chosen, "driver") if name.startswith("kmod-")] == [module]
    assert settled["nvidia_driver"]["version"] == "580.159.03"


def test_a_prebuilt_module_of_another_kernel_is_none(rpm_pins, rpm_offered):
    rpm_pins["nvidia_driver"] = {"version": "580.159.03", "modules": "proprietary", "build": "prebuilt"}
    rpm_pins["kernel"]["version"] = NEWER_KERNEL
    with pytest.raises(LockError, match=r'version is "580.159.03": the pool\'s repositories have kmod-nvidia-580.159.03-5.14.0-570.22.1 none'):
        resolve(rpm_pins, rpm_offered)


def test_ranges_become_the_chosen_versions(rpm_pins, rpm_offered):
    rpm_pins["kernel"]["version"], rpm_pins["nvidia_driver"]["version"], rpm_pins["docker"]["containerd"] = "5.14.0-*.x86_64", "*", "2.*"
    settled, chosen = resolve(rpm_pins, rpm_offered)
    assert settled["kernel"]["version"] == NEWER_KERNEL
    assert settled["nvidia_driver"]["version"] == "595.71.05"
    assert settled["docker"]["containerd"] == "2.4.1"
    assert names(chosen, "kernel")["kernel-devel"] == "5.14.0-570.22.1.el9_6"


def test_a_full_package_version_is_a_pin_too(rpm_pins, rpm_offered):
    rpm_pins["docker"]["version"] = "3:29.9.0-1.el9"
    rpm_pins["nvidia_driver"]["version"] = "3:580.159.03-1.el9"
    assert names(resolve(rpm_pins, rpm_offered)[1], "engine")["docker-ce"] == "3:29.9.0-1.el9"


def test_headers_of_another_release_are_no_headers(rpm_pins, rpm_offered):
    without = [one for one in rpm_offered if (one.name, one.version) != ("kernel-devel", "5.14.0-570.12.1.el9_6")]
    with pytest.raises(LockError, match=rf'kernel.version is "5.14.0-570.12.1.el9_6.x86_64": the pool\'s repositories have kernel-devel {NEWER_KERNEL}'):
        resolve(rpm_pins, without)


def test_a_kernel_that_is_not_there_is_refused_with_the_nearest(rpm_pins, rpm_offered):
    rpm_pins["kernel"]["version"] = "5.14.0-570.14.1.el9_6.x86_64"
    with pytest.raises(LockError, match=rf"have 5.14.0-570.12.1.el9_6.x86_64, {NEWER_KERNEL}[.] Write one of these"):
        resolve(rpm_pins, rpm_offered)


def test_podman_comes_with_its_runtime(rpm_pins, rpm_offered):
    del rpm_pins["docker"]
    pins = {**rpm_pins, "container_engine": "podman", "podman": {"version": "5.8.8"}}
    assert names(resolve(pins, rpm_offered)[1], "engine") == {"podman": "5:5.8.8-1.el9", "crun": "1.27-1.el9"}


def test_the_fabric_manager_is_the_drivers(rpm_pins, rpm_offered):
    _, chosen = resolve({**rpm_pins, "fabric_manager": {"version": "580.159.03"}}, rpm_offered)
    assert names(chosen, "driver")["nvidia-fabricmanager"] == "580.159.03-1"


def test_a_64k_kernel_is_known_by_the_end_of_its_release(rpm_pins, rpm_offered):
    bare = [replace(one, name=one.name.replace("kernel", "kernel-64k", 1), depends=(), provides=()) for one in rpm_offered if one.layer == "kernel"]
    rpm_pins["os"]["arch"] = "aarch64"
    rpm_pins["kernel"]["version"] = "5.14.0-570.12.1.el9_6.aarch64+64k"
    kernel = names(resolve(rpm_pins, [*rpm_offered, *bare])[1], "kernel")
    assert set(kernel) == {"kernel-64k", "kernel-64k-core", "kernel-64k-modules", "kernel-64k-modules-core", "kernel-64k-devel"}


def test_amazon_linux_has_names_of_its_own(rpm_pins, rpm_offered):
    os = [another(rpm_offered, name, "6.12.50-60.amzn2023") for name in ("kernel", "kernel-devel")]
    kernel = [replace(one, name=one.name.replace("kernel", "kernel6.12"), depends=()) for one in os]
    engine = [replace(one, name="docker", depends=()) for one in rpm_offered if one.name == "docker-ce"]
    engine += [replace(one, name="containerd", conflicts=(), provides=()) for one in rpm_offered if one.name == "containerd.io"]
    rpm_pins["os"] |= {"distribution": "amazon", "release": "2023"}
    rpm_pins["kernel"]["version"] = "6.12.50-*.x86_64"
    settled, chosen = resolve(rpm_pins, [one for one in rpm_offered if not one.name.startswith("docker")] + kernel + engine)
    assert settled["kernel"]["version"] == "6.12.50-60.amzn2023.x86_64"
    assert names(chosen, "kernel") == dict.fromkeys(("kernel6.12", "kernel6.12-devel"), "6.12.50-60.amzn2023")
    assert set(names(chosen, "engine")) == {"docker", "containerd", "runc"}


def test_relations_are_read_without_what_is_not_ours(rpm_offered):
    cuda = next(one for one in rpm_offered if (one.name, one.upstream) == ("nvidia-driver-cuda", "580.159.03"))
    assert (Relation("nvidia-driver-cuda-libs", "=", "3:580.159.03-1.el9"),) in cuda.depends
    core = next(one for one in rpm_offered if one.name == "kernel-core")
    assert core.depends == ()
    assert not any("printk" in relation.name for relation in core.provides)
    devel = next(one for one in rpm_offered if one.name == "kernel-devel")
    assert devel.depends == ()


def test_conflicting_packages_are_refused(rpm_pins, rpm_offered):
    clash = [replace(one, conflicts=(Relation("docker-ce"),)) if one.name == "libnvidia-cfg" else one for one in rpm_offered]
    with pytest.raises(LockError, match=r"libnvidia-cfg 3:580.159.03-1.el9 conflicts with docker-ce"):
        resolve(rpm_pins, clash)


def test_a_newer_kernel_is_one_difference(locked):
    found = differences(locked(kernel={"version": NEWER_KERNEL}), locked())
    assert lines(found) == [
        f"{'kernel':<17}  kernel 5.14.0-570.12.1.el9_6.x86_64 -> {NEWER_KERNEL} (5 packages)",
        f"{'needs':<17}  drain, reboot",
    ]


def test_a_newer_driver_is_one_difference(locked, rpm_pins):
    found = differences(locked(nvidia_driver={**rpm_pins["nvidia_driver"], "version": "595.71.05"}), locked())
    assert [one.words for one in found] == ["driver 580.159.03 -> 595.71.05 (7 packages)"]


def test_what_is_superseded_changed_or_gone_is_said(locked, rpm_offered):
    lock = locked()
    offered = [one for one in rpm_offered if one.name != "containerd.io" and (one.name, one.version) != ("kernel-modules", "5.14.0-570.12.1.el9_6")]
    offered += [another(rpm_offered, "docker-ce", "3:29.10.0-1.el9"), another(rpm_offered, "containerd.io", "2.4.1-1.el9")]
    found = {one.name: one for one in standings(lock, offered)}
    assert (found["docker-ce"].state, found["docker-ce"].newer) == ("superseded", "3:29.10.0-1.el9")
    assert found["docker-ce"].url.startswith("https://mirror.example/9/Packages/")
    assert found["containerd.io"].state == "changed"
    assert (found["kernel-modules"].state, found["kernel-modules"].newer) == ("gone", "5.14.0-570.22.1.el9_6")
    assert (found["kernel-core"].state, found["kernel-core"].newer) == ("superseded", "5.14.0-570.22.1.el9_6")
    assert found["docker-ce-cli"].state == "there"


def test_newer_stacks_are_proposed(locked, rpm_offered):
    found = {one.kind: one.lock["pins"] for one in proposals(locked(), Offers(REPOSITORIES, rpm_offered), lambda pins: check(pins, TODAY))}
    assert list(found) == ["patch", "minor", "major"]
    assert found["patch"]["kernel"]["version"] == NEWER_KERNEL
    assert found["minor"]["container_toolkit"]["version"] == "1.20.0"
    assert found["major"]["nvidia_driver"]["version"] == "595.71.05"


def test_the_repositories_of_a_pool_are_read_for_one_architecture(rpm_site):
    offers = read_offers(PoolFiles("lab_a10", rpm_site.inventory), {"distribution": "rhel", "arch": "aarch64"})
    assert {package.architecture for package in offers.packages} == {"noarch"}
