"""Newer packages were offered, full-upgrade and unattended-upgrades were run, impossible locks were tried (side_effect.yml)."""

import pytest


@pytest.mark.parametrize("layer", ["kernel", "driver", "container_toolkit", "engine"])
def test_every_locked_package_is_installed_at_its_version_and_held(deviations, lock, layer):
    assert deviations(lock, layer) == []


def test_newer_packages_were_really_offered(host):
    assert "6.12.117+deb13-amd64" in host.check_output("apt-cache pkgnames linux-image-")
    assert "6.12.117" not in host.check_output("ls /boot")


def test_the_locked_kernel_and_driver_run(kernel_says, lock):
    assert kernel_says("sys/kernel/osrelease") == lock["pins"]["kernel"]["version"]
    assert f"  {lock['pins']['nvidia_driver']['version']}  " in kernel_says("driver/nvidia/version")


def test_docker_knows_the_gpu_by_cdi(host):
    assert "nvidia.com/gpu=all" in host.check_output("nvidia-ctk cdi list")
    assert "/var/run/cdi" in host.check_output("docker info --format '{{json .CDISpecDirs}}'")


@pytest.mark.parametrize("unit", ["docker.service", "nvidia-persistenced.service"])
def test_a_unit_runs_and_starts_at_boot(host, unit):
    assert host.service(unit).is_running
    assert host.service(unit).is_enabled


def test_nothing_is_left_half_done(host):
    assert host.check_output("dpkg --audit") == ""
    assert "0 upgraded, 0 newly installed, 0 to remove" in host.check_output("apt-get --simulate full-upgrade")
