"""Every wording that NVIDIA's tools have had."""

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import nvidia

OLD = "| NVIDIA-SMI 550.163.01             Driver Version: 550.163.01     CUDA Version: 12.4     |"
NEW = "| NVIDIA-SMI 610.57.04              KMD Version: 610.57.04     CUDA UMD Version: 13.5     |"


@pytest.mark.parametrize(("text", "version"), [(OLD, "550.163.01"), (NEW, "610.57.04")])
def test_the_header_is_read_before_and_since_610(text, version):
    assert nvidia.library_version(text) == version


def test_a_mismatch_tells_the_librarys_version():
    assert nvidia.library_version("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.107") == "550.107"


@pytest.mark.parametrize(
    ("text", "version", "flavour"),
    [
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 09:35:42 UTC 2024", "550.90.07", "proprietary"),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (dvs)", "580.95.05", "open"),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.95.05  Release Build  (dvs)", "580.95.05", "open"),
        ("NVRM version: something new", None, None),
    ],
)
def test_the_loaded_module_tells_version_and_kind(text, version, flavour):
    assert (nvidia.module_version(text), nvidia.module_flavour(text)) == (version, flavour)


@pytest.mark.parametrize("printed", ["00000000:01:00.0", "0000:01:00.0", "00000000:01:00.0 "])
def test_pci_addresses_of_nvml_and_kernel_are_the_same(printed):
    assert nvidia.pci_address(printed) == "0000:01:00.0"


def test_mig_devices_belong_to_their_gpu():
    slices = "  MIG 1g.10gb     Device  0: (UUID: MIG-1)\n  MIG 3g.40gb     Device  1: (UUID: MIG-2)\n"
    text = f"GPU 0: NVIDIA A100 (UUID: GPU-1a)\n{slices}GPU 1: NVIDIA A100 (UUID: GPU-2b)\n"
    assert nvidia.mig_profiles(text) == (("1g.10gb", "3g.40gb"), ())


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("NVIDIA Container Toolkit CLI version 1.20.0\ncommit: 68ea", "1.20.0"),
        ("containerd github.com/containerd/containerd v2.1.4 75cb2b7193e4", "2.1.4"),
        ("runc version 1.1.15+ds1\ncommit: 1.1.15", "1.1.15"),
        ("podman version 5.4.2", "5.4.2"),
        ("no version here", None),
    ],
)
def test_tools_tell_their_version(text, version):
    assert nvidia.tool_version(text) == version
