import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.cdi import CdiSpec
from ansible_collections.goldnode.gpu.plugins.modules.cdi_spec import describes


@pytest.mark.parametrize(
    ("devices", "versions", "fits"),
    [
        (("0", "all"), {"580.159.03"}, True),
        (("0",), set(), True),
        ((), {"580.159.03"}, False),
        (("0",), {"550.163.01"}, False),
        (("0",), {"580.159.03", "550.163.01"}, False),
    ],
)
def test_a_spec_without_devices_or_of_another_driver_is_stale(devices, versions, fits):
    assert describes(CdiSpec("f", "nvidia.com/gpu", devices, frozenset(), frozenset(versions)), "580.159.03") is fits
