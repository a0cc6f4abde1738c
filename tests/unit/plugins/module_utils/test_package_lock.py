import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils import package_lock
from ansible_collections.goldnode.gpu.plugins.module_utils.package_lock import Package
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.apt import Step
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.dpkg import Installed
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError
from hypothesis import given
from hypothesis import strategies as st

DRIVER = Package("nvidia-driver", "1:550.1-1", "amd64", "a" * 64)
LIBRARY = Package("libcuda1", "550.1-1", "amd64", "b" * 64)


def row(package, layer="driver", **changes):
    return {
        "name": package.name,
        "version": package.version,
        "architecture": package.architecture,
        "sha256": f"sha256:{package.sha256}",
        "layer": layer,
        **changes,
    }


STACK = {"pool": "p", "packages": [row(DRIVER), row(LIBRARY), row(LIBRARY, "engine", name="runc", version="1.1")]}


def test_a_layer_has_only_its_own_packages():
    assert package_lock.packages_of(STACK, "driver") == [DRIVER, LIBRARY]


def test_a_digest_may_stand_with_or_without_its_algorithm():
    assert package_lock.packages_of({"packages": [row(DRIVER, sha256="a" * 64)]}, "driver") == [DRIVER]


@pytest.mark.parametrize("stack", [{}, {"packages": None}, {"pool": "p", "packages": [row(DRIVER, "engine")]}])
def test_a_lock_without_the_layer_is_refused(stack):
    with pytest.raises(RefusedError, match="lists no package of layer driver"):
        package_lock.packages_of(stack, "driver")


def test_a_package_without_a_digest_is_refused():
    broken = row(DRIVER)
    del broken["sha256"]
    with pytest.raises(RefusedError, match="has no sha256"):
        package_lock.packages_of({"packages": [broken]}, "driver")


def test_an_archive_is_named_as_apt_names_it():
    assert DRIVER.archive == "nvidia-driver_1%3a550.1-1_amd64.deb"


@pytest.mark.parametrize(
    ("found", "differs"),
    [
        (None, True),
        (Installed("550.1-1", held=True, complete=True), False),
        (Installed("550.1-1", held=False, complete=True), False),
        (Installed("550.1-1", held=True, complete=False), True),
        (Installed("560.1-1", held=True, complete=True), True),
    ],
)
def test_only_the_locked_version_wholly_installed_does_not_differ(found, differs):
    installed = {LIBRARY.key: found} if found else {}
    assert package_lock.differing([LIBRARY], installed) == ([LIBRARY] if differs else [])


def test_another_architecture_of_the_same_name_does_not_count():
    assert package_lock.differing([LIBRARY], {"libcuda1:i386": Installed("550.1-1", held=True, complete=True)}) == [LIBRARY]


def test_a_missing_hold_is_seen():
    installed = {LIBRARY.key: Installed("550.1-1", held=False, complete=True), DRIVER.key: Installed("1:550.1-1", held=True, complete=True)}
    assert package_lock.unheld([DRIVER, LIBRARY], installed) == [LIBRARY]


def test_what_the_repositories_have_instead_is_named():
    index = {"libcuda1": ["560.1-1", "535.1-1"]}
    absent = package_lock.absent_from(index, [DRIVER, LIBRARY])
    assert absent == [DRIVER, LIBRARY]
    sentence = package_lock.absence_sentence(index, absent)
    assert "libcuda1 550.1-1 (there is: 560.1-1, 535.1-1)" in sentence
    assert "nvidia-driver 1:550.1-1 (there is: none)" in sentence


LOCKED = {"nvidia-driver": "550.1-1", "dkms": "3.2"}


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (Step("nvidia-driver", None, "550.1-1"), None),
        (Step("nvidia-driver", "560.1-1", "550.1-1"), None),
        (Step("iptables", None, "1.8"), None),
        (Step("iptables", "1.7", "1.8"), None),
        (Step("dkms", "3.1", "3.2"), None),
        (Step("dkms", "3.1", "3.3"), "dkms 3.3, of which the lock has 3.2"),
        (Step("nvidia-driver", "550.1-1", "560.1-1"), "nvidia-driver 560.1-1, of which the lock has 550.1-1"),
        (Step("libcuda1", None, "550.1-1"), "libcuda1 550.1-1, of which the lock has nothing"),
        (Step("libcuda1:i386", None, "550.1-1"), "libcuda1:i386 550.1-1, of which the lock has nothing"),
        (Step("nvidia-driver", "550.1-1", None), "remove nvidia-driver 550.1-1"),
        (Step("vim", "9", None), "remove vim 9"),
    ],
)
def test_a_transaction_may_add_and_move_only_what_the_lock_says_or_nobody_owns(step, words):
    found = package_lock.objections([step], LOCKED)
    assert (not found) if words is None else words in found[0]


@given(st.lists(st.builds(Step, st.sampled_from(["nvidia-driver", "libcuda1", "runc", "vim"]), st.just("1"), st.none() | st.sampled_from(["1", "2"]))))
def test_no_removal_and_no_owned_move_passes_unsaid(steps):
    allowed = {("nvidia-driver", "1"), ("vim", "1"), ("vim", "2")}
    harmful = [step for step in steps if (step.name, step.new) not in allowed]
    assert len(package_lock.objections(steps, {"nvidia-driver": "1"})) == len(harmful)


def test_preferences_let_in_the_lock_and_nothing_else_of_the_family():
    stanzas = package_lock.preferences_text("driver", [DRIVER, LIBRARY]).split("\n\n")
    assert "Package: libcuda1\nPin: version 550.1-1\nPin-Priority: 1001" in stanzas
    assert stanzas[-1].startswith("Package: nvidia-[!c]* ")
    assert stanzas[-1].endswith("Pin: release *\nPin-Priority: -1\n")


def test_a_met_lock_has_the_same_text_before_and_after():
    installed = {package.key: Installed(package.version, held=True, complete=True) for package in (DRIVER, LIBRARY)}
    assert package_lock.versions_text([DRIVER, LIBRARY], installed) == package_lock.locked_text([DRIVER, LIBRARY])
    package_lock.assert_locked([DRIVER, LIBRARY], installed)


def test_a_package_that_did_not_arrive_is_named():
    with pytest.raises(RefusedError, match=r"the node has nvidia-driver absent, the lock has nvidia-driver 1:550\.1-1 held"):
        package_lock.assert_locked([DRIVER], {})


RPM = Package("nvidia-driver-cuda", "3:580.1-1.el9", "x86_64", "a" * 64)
KERNEL = Package("kernel-core", "5.14.0-2.el9", "x86_64", "b" * 64)


def test_an_rpm_beside_the_locked_one_is_a_broken_upgrade_but_a_kernel_is_not():
    versions = {RPM.key: ["3:570.1-1.el9", RPM.version], KERNEL.key: ["5.14.0-1.el9", KERNEL.version]}
    assert package_lock.duplicates([RPM, KERNEL], versions) == ["nvidia-driver-cuda-570.1-1.el9.x86_64"]
    assert package_lock.differing([RPM, KERNEL], package_lock.merged([RPM, KERNEL], versions, [])) == [RPM]


def test_without_the_locked_version_nothing_is_a_duplicate():
    versions = {RPM.key: ["3:560.1-1.el9", "3:570.1-1.el9"]}
    assert package_lock.duplicates([RPM], versions) == []
    assert package_lock.differing([RPM], package_lock.merged([RPM], versions, [])) == [RPM]


def test_versionlocks_entry_is_the_hold():
    versions = {RPM.key: [RPM.version]}
    for locks, unheld in (([RPM.nevra], []), (["nvidia-driver-cuda-3:570.1-1.el9.x86_64"], [RPM])):
        assert package_lock.unheld([RPM], package_lock.merged([RPM], versions, locks)) == unheld
