"""Which Linux a driver release knows of: never more than its own branch's releases say."""

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge import driver_kernels


@pytest.mark.parametrize(
    ("driver", "kernel"),
    [
        ("535.183.01", (6, 8)),
        ("535.200.01", (6, 8)),  # between two that are known: the older one's
        ("545.29.02", (6, 6)),  # older than all of its branch that are known: at most theirs
        ("580.159.04", (7, 1)),
        ("999.1", None),
        ("", None),
    ],
)
def test_the_newest_kernel_that_a_driver_knows(driver, kernel):
    assert driver_kernels.newest_kernel(driver) == kernel


def test_the_first_release_of_each_branch_that_knows_a_kernel():
    assert driver_kernels.drivers_for("6.8.10")[:3] == ("535.183.01", "550.90.07", "555.58.02")
    assert driver_kernels.drivers_for("9.9") == ()
