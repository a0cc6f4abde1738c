import copy

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.difference import DRAIN, MIG, REBOOT, differences, lines, needs_of, summary
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import make_lock
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.resolve import resolve

REPOSITORY = {
    "name": "os",
    "uris": ["https://mirror.example"],
    "suites": ["trixie"],
    "components": ["main"],
    "origin": "O",
    "label": "L",
    "key_fingerprint": "A" * 40,
    "snapshot": f"sha256:{'b' * 64}",
    "date": "2026-11-21T09:15:44Z",
}


@pytest.fixture
def locked(pins, offered):
    """Makes the lock of pins that differ from the usual ones: `locked(nvidia_driver={...})`."""

    def make(**other):
        settled, chosen = resolve({**pins, **other}, offered)
        return make_lock("lab_a10", settled, {**pins, **other}, [dict(REPOSITORY)], chosen)

    return make


def words(new, old):
    return [(one.about, one.words) for one in differences(new, old)]


def with_package(lock, name, **other):
    made = copy.deepcopy(lock)
    for package in made["packages"]:
        if package["name"] == name:
            package.update(other)
    return made


def test_equal_locks_differ_in_nothing(locked):
    assert differences(locked(), locked()) == []
    assert summary(locked(), locked()) == ["nothing changed"]


def test_a_first_lock_is_listed_whole_by_layer(locked):
    lock = locked()
    listed = summary(lock, None)
    assert len(listed) == len(lock["packages"])
    assert listed[0].split()[:3] == ["kernel", "linux-headers-6.12.107+deb13-amd64", "6.12.107-1"]


def test_a_driver_and_the_packages_that_follow_it_are_one_line(locked):
    new, old = locked(nvidia_driver={"version": "595.71.05", "modules": "open", "build": "dkms"}), locked()
    count = sum(package["version"].startswith("595.71.05") for package in new["packages"])
    assert words(new, old) == [("driver", f"driver 580.159.03 -> 595.71.05 ({count} packages)")]
    assert needs_of(differences(new, old)) == [DRAIN, REBOOT]


def test_a_kernel_and_its_packages_are_one_line(locked):
    new, old = locked(kernel={"version": "6.12.117+deb13-amd64"}), locked()
    assert words(new, old) == [("kernel", "kernel 6.12.107+deb13-amd64 -> 6.12.117+deb13-amd64 (3 packages)")]
    assert needs_of(differences(new, old)) == [DRAIN, REBOOT]


def test_a_toolkit_needs_neither_drain_nor_reboot(locked):
    new, old = locked(container_toolkit={"version": "1.20.0"}), locked()
    assert lines(differences(new, old)) == [
        "container_toolkit  container toolkit 1.19.1 -> 1.20.0 (4 packages)",
        "needs              no drain and no reboot",
    ]


def test_a_pool_with_mig_gets_its_layout_again_after_another_driver(locked):
    mig = {"mig": {"profile": "all-1g.10gb"}}
    old, new = locked(**mig), locked(**mig, nvidia_driver={"version": "595.71.05", "modules": "open", "build": "dkms"})
    assert needs_of(differences(new, old)) == [DRAIN, REBOOT, MIG]


def test_a_rebuilt_package_of_the_same_upstream_version_is_named(locked):
    new = with_package(locked(), "runc", version="1.1.15+ds1-2+b5")
    assert words(new, locked()) == [("engine", "runc 1.1.15+ds1-2+b4 -> 1.1.15+ds1-2+b5")]
    assert needs_of(differences(new, locked())) == [DRAIN]


def test_other_content_under_the_same_version_is_loud(locked):
    new = with_package(locked(), "libcuda1", sha256="f" * 64)
    [(about, said)] = words(new, locked())
    assert about == "driver" and "OTHER CONTENT under the same version" in said and said.endswith("-> ffffffffffff); ask who rebuilt it")


def test_a_package_that_comes_or_goes_is_named(locked):
    old = locked()
    new = {**old, "packages": [package for package in old["packages"] if package["name"] != "docker-cli"]}
    assert words(new, old) == [("engine", "docker-cli 26.1.5+dfsg1-9+deb13u1+b1 is no longer part")]
    assert words(old, new) == [("engine", "docker-cli 26.1.5+dfsg1-9+deb13u1+b1 is new")]


def test_the_same_file_from_another_repository_is_named(locked):
    new = with_package(locked(), "runc", repository="mirror")
    assert words(new, locked())[0] == ("engine", "runc 1.1.15+ds1-2+b4: the same file, now from repository mirror instead of os")


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("key_fingerprint", "B" * 40, f"os: SIGNED BY ANOTHER KEY: {'A' * 40} -> {'B' * 40}"),
        ("uris", ["https://other.example"], "os: address: https://mirror.example -> https://other.example"),
        ("label", "M", "os: label: L -> M"),
    ],
)
def test_another_identity_of_a_repository_is_named(locked, key, value, said):
    new = {**locked(), "repositories": [{**REPOSITORY, key: value}]}
    assert words(new, locked()) == [("repositories", said)]


def test_a_newer_index_is_said_by_its_dates(locked):
    new = {**locked(), "repositories": [{**REPOSITORY, "snapshot": f"sha256:{'c' * 64}", "date": "2026-11-28T09:00:00Z"}]}
    assert words(new, locked()) == [("repositories", "os: index of 2026-11-21 -> 2026-11-28")]


def test_images_are_compared_by_name(locked):
    old = locked(workload_images=[{"reference": f"nvcr.io/x:1@sha256:{'c' * 64}", "cuda": "12.8"}])
    new = locked(workload_images=[{"reference": f"nvcr.io/x:2@sha256:{'d' * 64}", "cuda": "12.8"}])
    assert words(new, old) == [("images", "workload image nvcr.io/x ccccccc -> ddddddd")]


def test_two_images_of_one_name_are_told_apart_by_their_tags(locked):
    def images(first):
        return locked(workload_images=[{"reference": f"r/v:{tag}@sha256:{digest * 64}", "cuda": "12.8"} for tag, digest in ((1, first), (2, "d"))])

    assert words(images("e"), images("c")) == [("images", "workload image r/v:1 ccccccc -> eeeeeee")]


def test_another_platform_is_said_first(locked):
    new, old = locked(gpus=[{"model": "A10", "count": 2}], container_toolkit={"version": "1.20.0"}), locked()
    assert words(new, old)[0] == ("platform", "gpus: A10 1 -> A10 2")


def test_pins_that_were_only_written_otherwise_are_said_so(locked):
    lock = locked()
    assert summary({**lock, "pins_digest": f"sha256:{'0' * 64}"}, lock) == ["pins.yml was written otherwise, with the same result"]


def test_the_summary_of_a_later_lock_says_what_moved(locked):
    assert summary(locked(container_toolkit={"version": "1.20.0"}), locked())[0].endswith("container toolkit 1.19.1 -> 1.20.0 (4 packages)")
