import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.platforms import distribution_of, manager_of, objection

STACK = {"pool": "p", "pins": {"os": {"distribution": "debian", "release": "13", "arch": "x86_64"}}}
TRIXIE = {"distribution": "debian", "release": "13", "arch": "x86_64"}


def test_the_stacks_own_platform_is_taken():
    assert objection(TRIXIE, STACK) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"release": "12"}, "this node is debian 12 x86_64, the lock of pool p is for debian 13 x86_64"),
        ({"arch": "aarch64"}, "debian 13 aarch64"),
        (
            {"distribution": "sles", "release": "15.7"},
            "this node is sles 15.7 x86_64; the roles install packages on debian, ubuntu, rhel,",
        ),
    ],
)
def test_another_platform_is_refused_in_one_sentence(change, words):
    assert words in objection({**TRIXIE, **change}, STACK)


def test_a_lock_without_a_platform_is_refused():
    assert "is for ? ? ?" in objection(TRIXIE, {"pool": "p"})


@pytest.mark.parametrize(("os_release_id", "manager"), [("debian", "apt"), ("ubuntu", "apt"), ("rhel", "dnf"), ("rocky", "dnf"), ("amzn", "dnf")])
def test_the_distribution_says_what_installs_its_packages(os_release_id, manager):
    assert manager_of({"pins": {"os": {"distribution": distribution_of(os_release_id)}}}) == manager
