import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.platforms import objection

STACK = {"pool": "p", "pins": {"os": {"distribution": "debian", "release": "13", "arch": "x86_64"}}}
TRIXIE = {"distribution": "debian", "release": "13", "arch": "x86_64"}


def test_the_stacks_own_platform_is_taken():
    assert objection(TRIXIE, STACK) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"release": "12"}, "this node is debian 12 x86_64, the lock of pool p is for debian 13 x86_64"),
        ({"arch": "aarch64"}, "debian 13 aarch64"),
        ({"distribution": "rhel", "release": "9.4"}, "this node is rhel 9.4 x86_64; the roles install packages on debian and ubuntu only"),
    ],
)
def test_another_platform_is_refused_in_one_sentence(change, words):
    assert words in objection({**TRIXIE, **change}, STACK)


def test_a_lock_without_a_platform_is_refused():
    assert "is for ? ? ?" in objection(TRIXIE, {"pool": "p"})
