import subprocess

import pytest

from tests.unit.roles.simulated_gpu.simulated_gpu_node import FILES, boot


@pytest.fixture
def machine(tmp_path):
    """A function: settings -> the release that would be started, with three kernels installed."""
    (tmp_path / "boot").mkdir()
    for version in ("6.12.107", "6.12.99", "6.12.121"):
        (tmp_path / f"boot/vmlinuz-{version}+deb13-amd64").touch()

    def default(settings=""):
        (tmp_path / "etc/default/grub.d").mkdir(parents=True, exist_ok=True)
        (tmp_path / "etc/default/grub.d/goldnode.cfg").write_text(settings)
        subprocess.run(["sh", FILES / "node/update-grub", "--root", tmp_path], check=True, capture_output=True)
        text = (tmp_path / "boot/grub/grub.cfg").read_text()
        assert text.count("menuentry ") == 3
        return boot.default_entry(text)

    return default


def test_the_newest_kernel_is_the_default(machine):
    assert machine()[0] == "/boot/vmlinuz-6.12.121+deb13-amd64"


def test_a_named_kernel_goes_before_the_newest(machine):
    assert machine("GRUB_TOP_LEVEL=/boot/vmlinuz-6.12.99+deb13-amd64\n")[0] == "/boot/vmlinuz-6.12.99+deb13-amd64"


def test_a_named_kernel_that_is_not_installed_is_passed_over(machine):
    assert machine("GRUB_TOP_LEVEL=/boot/vmlinuz-5.10.0-amd64\n")[0] == "/boot/vmlinuz-6.12.121+deb13-amd64"


def test_kernel_parameters_reach_the_menu_entry(machine):
    assert machine('GRUB_CMDLINE_LINUX_DEFAULT="quiet iommu=pt"\n')[1] == "root=/dev/vda1 ro quiet iommu=pt"
