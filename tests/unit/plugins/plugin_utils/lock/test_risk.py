import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.risk import risk_class

from tests.unit.plugins.plugin_utils.promotion.promotion_builders import lock


def test_the_first_release_of_a_pool_is_major():
    assert risk_class(lock(), None) == "major"


def test_the_same_pins_are_a_patch():
    assert risk_class(lock(), lock()) == "patch"


@pytest.mark.parametrize(
    ("changed", "risk"),
    [
        ({"kernel": {"version": "6.12.117+deb13-amd64"}}, "patch"),
        ({"kernel": {"version": "6.13.1+deb13-amd64"}}, "minor"),
        ({"nvidia_driver": {"version": "580.178.04"}}, "major"),
        ({"kernel": {"version": "6.12.117+deb13-amd64"}, "nvidia_driver": {"version": "550.200.01"}}, "minor"),
        ({"gpus": [{"model": "A100", "count": 1}]}, "major"),
        ({"container_engine": "podman"}, "major"),
        ({"docker": {"version": "26.1.5"}}, "major"),
    ],
)
def test_the_largest_step_decides(changed, risk):
    assert risk_class(lock(**changed), lock()) == risk
