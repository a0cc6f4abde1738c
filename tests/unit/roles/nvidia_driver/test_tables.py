"""The role's tables serve every distribution on which the roles install packages, and its options are those that it documents."""

from pathlib import Path

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.module_utils.platforms import SUPPORTED
from ansible_collections.goldnode.gpu.plugins.module_utils.secure_boot import DISTRIBUTION_SIGNERS

ROLE = Path(__file__).parents[4] / "roles/nvidia_driver"
VARS = yaml.safe_load((ROLE / "vars/main.yml").read_text())


@pytest.mark.parametrize("distribution", SUPPORTED)
def test_each_distribution_has_a_way_to_make_its_initial_ram_disk_and_signers(distribution):
    row = VARS["__nvidia_driver_initramfs_of"][distribution]
    assert "{{ __nvidia_driver_kernel }}" in row["path"]
    assert row["argv"][-1] == "{{ __nvidia_driver_kernel }}"
    assert distribution in DISTRIBUTION_SIGNERS


def test_each_option_is_documented_with_the_default_that_it_has():
    documented = yaml.safe_load((ROLE / "meta/argument_specs.yml").read_text())["argument_specs"]["main"]["options"]
    own = {name: option.get("default") for name, option in documented.items() if name.startswith("nvidia_driver_")}
    assert own == yaml.safe_load((ROLE / "defaults/main.yml").read_text())


def test_dkms_reads_our_configuration_last_and_the_key_is_never_on_a_disk():
    assert Path(VARS["__nvidia_driver_dkms_conf"]).name.startswith("zz-")
    assert VARS["__nvidia_driver_key"].startswith("/run/")


def test_the_boot_makes_the_layout_before_what_uses_it():
    unit = (ROLE / "templates/goldnode-mig.service.j2").read_text()
    before = {word for line in unit.splitlines() if line.startswith("Before=") for word in line.partition("=")[2].split()}
    assert {"goldnode-cdi.service", "docker.service", "containerd.service", "kubelet.service"} <= before
