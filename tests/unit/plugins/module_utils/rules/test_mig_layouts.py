import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.driver.mig import _is_as_pinned


@pytest.mark.parametrize(
    ("profiles", "pinned", "as_pinned"),
    [
        (("1g.10gb",) * 7, "all-1g.10gb", True),
        (("1g.10gb",), "1g.10gb", True),
        (("1g.10gb", "2g.20gb"), "all-1g.10gb", False),
        ((), "all-1g.10gb", False),
        (("2g.20gb", "3g.40gb", "1g.10gb"), "3g.40gb,2g.20gb,1g.10gb", True),
        (("2g.20gb", "3g.40gb"), "3g.40gb,2g.20gb,1g.10gb", False),
        (("3g.40gb", "2g.20gb", "1g.10gb", "1g.10gb"), "all-balanced", True),
        ((), "all-disabled", True),
        (("1g.10gb",), "all-disabled", False),
    ],
)
def test_the_mig_devices_are_compared_with_every_form_of_a_layout(profiles, pinned, as_pinned):
    assert _is_as_pinned(profiles, pinned) is as_pinned
