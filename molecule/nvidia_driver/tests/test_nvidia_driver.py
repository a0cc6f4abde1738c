"""The node went over a kernel on which no module could be built to a newer driver (side_effect.yml)."""

import pytest
import testinfra

KERNEL, DRIVER = "6.12.107+deb13-amd64", "580.178.04"


def test_every_locked_package_is_installed_at_its_version_and_held(deviations, variant_lock):
    assert deviations(variant_lock, "driver") == []


def test_the_module_is_built_for_the_locked_kernel(host):
    assert f"nvidia/{DRIVER}, {KERNEL}, x86_64: installed" in host.check_output("dkms status")
    assert host.check_output(f"modinfo --set-version {KERNEL} --field version nvidia") == DRIVER


def test_the_locked_driver_is_loaded(kernel_says):
    assert f"  {DRIVER}  " in kernel_says("driver/nvidia/version")


def test_user_space_speaks_to_the_module(host):
    assert host.check_output("nvidia-smi --query-gpu=driver_version --format=csv,noheader") == DRIVER


def test_nouveau_is_kept_out(host):
    assert host.file("/etc/modprobe.d/goldnode-nouveau.conf").contains("^blacklist nouveau$")


def test_the_persistence_daemon_runs_and_starts_at_boot(host):
    service = host.service("nvidia-persistenced")
    assert service.is_running
    assert service.is_enabled


def test_no_other_driver_can_come_in(host):
    assert "0 upgraded, 0 newly installed, 0 to remove" in host.check_output("apt-get --simulate full-upgrade")
    assert "Candidate: (none)" in host.check_output("apt-cache policy nvidia-fabricmanager")


@pytest.fixture
def a100(request):
    """The node of the pool that pins a MIG layout; it was cut otherwise and rebooted."""
    return testinfra.get_host("ssh://lab-a100-canary-1", ssh_config=request.config.option.ssh_config)


def test_a_boot_makes_the_pinned_layout_before_the_cdi_spec(a100):
    listing = a100.check_output("nvidia-smi -L").splitlines()
    assert [line.split()[:2] for line in listing[1:]] == [["MIG", "3g.40gb"]] * 2
    assert "goldnode-cdi.service" in a100.check_output("systemctl show --property=Before goldnode-mig.service")


def test_the_options_of_the_module_are_in_effect_after_the_reboot_of_a_drained_node(a100):
    assert "EnableMSI: 0" in a100.check_output("cat /run/goldnode-lab/proc/driver/nvidia/params").splitlines()
    assert not a100.file("/run/side-effect").exists


def test_the_persistence_daemon_is_off_where_it_is_not_wanted(a100):
    assert not a100.service("nvidia-persistenced").is_running
    assert not a100.service("nvidia-persistenced").is_enabled


def test_a_signing_key_does_not_stay(a100):
    assert a100.check_output("find /run /etc/dkms /var/lib/dkms -xdev -name 'MOK.*' -o -name 'mok.*'") == ""
    assert a100.file("/etc/dkms/framework.conf.d/zz-goldnode.conf").contains("^sign_file=/nonexistent$")


def test_dkms_has_no_key_of_its_own(host):
    assert host.check_output("find /var/lib/dkms /run -xdev -name 'mok.*' -o -name 'MOK.*'") == ""
