"""The node went over a kernel on which no module could be built to a newer driver (side_effect.yml)."""

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
