from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.module_utils import node_files

VERSION = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.163.01  Tue Apr  8 12:41:17 UTC 2025\n"


def test_the_procfs_root_comes_from_the_probes_arguments():
    assert node_files.procfs_of(["--sysfs", "/s", "--procfs", "/p"]) == Path("/p")
    assert node_files.procfs_of([]) == Path("/proc")


def test_kernel_and_driver_are_read_below_the_procfs_root(tmp_path):
    (tmp_path / "sys/kernel").mkdir(parents=True)
    (tmp_path / "sys/kernel/osrelease").write_text("6.12.117+deb13-amd64\n")
    (tmp_path / "driver/nvidia").mkdir(parents=True)
    (tmp_path / "driver/nvidia/version").write_text(VERSION)
    assert node_files.running_release(tmp_path) == "6.12.117+deb13-amd64"
    assert node_files.loaded_driver(tmp_path) == "550.163.01"


def test_nothing_loaded_is_none(tmp_path):
    assert node_files.running_release(tmp_path) == ""
    assert node_files.loaded_driver(tmp_path) is None


def test_the_boot_default_is_the_entry_at_the_top(tmp_path):
    (tmp_path / "grub").mkdir()
    entry = "menuentry 'Linux {0}' {{\n\tlinux\t/boot/vmlinuz-{0} root=/dev/vda1\n}}\n"
    (tmp_path / "grub/grub.cfg").write_text(entry.format("6.12.107") + entry.format("6.12.117"))
    assert node_files.boot_default(tmp_path) == "6.12.107"
    assert node_files.boot_default(tmp_path / "nowhere") is None


def test_pci_devices_and_firmware_variables_are_read_below_the_sysfs_root(tmp_path):
    sysfs = node_files.sysfs_of(["--procfs", "/p", "--sysfs", str(tmp_path)])
    assert (node_files.pci_ids(sysfs), node_files.efi_variables(sysfs)) == ({}, {})
    device = tmp_path / "bus/pci/devices/0000:0f:00.0"
    device.mkdir(parents=True)
    for name, value in {"vendor": "0x10de", "device": "0x2236", "class": "0x030200"}.items():
        (device / name).write_text(f"{value}\n")
    variables = tmp_path / "firmware/efi/efivars"
    variables.mkdir(parents=True)
    (variables / "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c").write_bytes(b"\x06\0\0\0\x01")
    assert node_files.pci_ids(sysfs) == {"10de:2236": "0302"}
    assert node_files.efi_variables(sysfs) == {"SecureBoot": b"\x06\0\0\0\x01"}
    assert node_files.sysfs_of([]) == Path("/sys")


def test_the_loaded_flavour_is_read_from_the_version(tmp_path):
    assert node_files.loaded_flavour(tmp_path) is None
    (tmp_path / "driver/nvidia").mkdir(parents=True)
    (tmp_path / "driver/nvidia/version").write_text(VERSION)
    assert node_files.loaded_flavour(tmp_path) == "proprietary"
