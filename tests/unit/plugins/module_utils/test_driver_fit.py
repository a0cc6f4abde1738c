import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils import driver_fit

P4, V100, T4, A10, H100, B200, VIRTIO = "10de:1bb3", "10de:1db4", "10de:1eb8", "10de:2236", "10de:2330", "10de:2901", "1af4:1050"
HOPPER_SWITCH, AMPERE_SWITCH = "10de:22a3", "10de:1af1"


@pytest.mark.parametrize(
    ("gpu", "version", "modules", "words"),
    [
        (P4, "580.159.03", "open", "runs with proprietary ones only"),
        (V100, "550.163.01", "open", "Tesla V100 PCIe 16GB (Volta, 10de:1db4) of this node runs with proprietary"),
        (B200, "580.159.03", "proprietary", "runs with open ones only"),
        (P4, "590.48.01", "proprietary", "is served by branches 367 to 580"),
        (B200, "550.163.01", "open", "is served by branches 570 on"),
        (P4, "580.159.03", "proprietary", None),
        (T4, "580.159.03", "open", None),
        (A10, "620.70.06", "proprietary", None),
        (H100, "550.163.01", "open", None),
        ("10de:ffff", "580.159.03", "open", None),  # not in the table
        (VIRTIO, "580.159.03", "open", None),
    ],
)
def test_a_driver_that_cannot_serve_the_gpu_is_refused(gpu, version, modules, words):
    reason = driver_fit.gpu_objection({gpu: "0302"}, version, modules)
    assert (reason is None) if words is None else (words in reason and "nothing was changed" in reason)


def test_what_is_no_gpu_is_not_asked():
    assert driver_fit.gpu_objection({V100: "0403"}, "580.159.03", "open") is None


@pytest.mark.parametrize(
    ("devices", "pinned", "words"),
    [
        ({H100: "0302", HOPPER_SWITCH: "0680"}, False, "pin fabric_manager"),
        ({H100: "0302", AMPERE_SWITCH: "0680"}, True, None),
        ({H100: "0302"}, True, "take fabric_manager out"),
        ({H100: "0302"}, False, None),
        ({B200: "0302"}, True, None),  # its switches are no PCI functions
        ({"10de:ffff": "0302"}, True, None),
        ({}, True, None),  # an image
    ],
)
def test_the_fabric_manager_goes_with_the_switches(devices, pinned, words):
    reason = driver_fit.switch_objection(devices, pinned)
    assert (reason is None) if words is None else words in reason


@pytest.mark.parametrize(
    ("unowned", "uninstaller", "container", "words"),
    [
        ([], False, False, None),
        ([], True, False, "nvidia-uninstall --silent"),
        (["/usr/bin/nvidia-smi"], False, False, "--uninstall"),
        (["/usr/bin/nvidia-smi"], True, False, "(/usr/bin/nvidia-uninstall, /usr/bin/nvidia-smi: of no package)"),
        ([], False, True, "driver.enabled=false"),
    ],
)
def test_a_driver_of_no_package_is_refused_with_the_way_out(unowned, uninstaller, container, words):
    reason = driver_fit.installer_objection(unowned, uninstaller, container)
    assert (reason is None) if words is None else words in reason


@pytest.mark.parametrize(
    ("loaded", "held", "drained", "refused"),
    [
        ("550.163.01", "python3 (7)", False, True),
        ("550.163.01", "python3 (7)", True, False),
        ("550.163.01", "", False, False),
        ("580.159.03", "python3 (7)", False, False),
        (None, "", False, False),
    ],
)
def test_no_other_driver_comes_under_a_process_that_uses_a_gpu(loaded, held, drained, refused):
    reason = driver_fit.in_use_objection(loaded, "580.159.03", held, drained)
    assert (reason is not None and "in use by python3 (7), driver 550.163.01 is loaded" in reason) is refused


DPKG = """ii  libcuda1 535.216.01-1~deb12u1 amd64
ii  nvidia-kernel-dkms 535.216.01-1~deb12u1 amd64
rc  nvidia-driver 525.60.13-1 amd64
hi  nvidia-utils-550-server 550.163.01-0ubuntu1 amd64
ii  nvidia-container-toolkit 1.19.1-1 amd64
ii  linux-image-6.12.107+deb13-amd64 6.12.107-1 amd64
"""
RPM = "kmod-nvidia-open-dkms-570.124.06-1.el9.noarch\nnvidia-driver-cuda-570.124.06-1.el9.x86_64\nbash-5.1.8-9.el9.x86_64\n"


@pytest.mark.parametrize(
    ("listing", "manager", "ours", "words"),
    [
        (DPKG, "apt", ["libcuda1"], "apt-get purge nvidia-kernel-dkms nvidia-utils-550-server, then"),
        (DPKG, "apt", ["libcuda1", "nvidia-kernel-dkms", "nvidia-utils-550-server"], None),
        (RPM, "dnf", ["nvidia-driver-cuda"], "dnf remove kmod-nvidia-open-dkms, then"),
        (RPM.replace("570.124.06", "580.159.03"), "dnf", [], None),
        ("", "apt", [], None),
    ],
)
def test_packages_of_another_driver_are_refused_with_the_way_out(listing, manager, ours, words):
    reason = driver_fit.foreign_objection(listing, manager, ours, "580.159.03")
    assert (reason is None) if words is None else words in reason


def test_the_packages_of_the_former_lock_are_ours():
    text = "# Written by x\n\nPackage: libcuda1\nPin: version 1\nPin-Priority: 1001\n\nPackage: nvidia-[!c]* libcuda1*\nPin: release *\nPin-Priority: -1\n"
    assert driver_fit.former_names(text) == ["libcuda1"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"NVreg_DeviceFileMode": 432, "NVreg_RegistryDwords": "a=1;b=2", "NVreg_EnableMSI": True}, None),
        ({"modeset": 1}, "begin with NVreg_"),
        ({"NVreg_X": [1]}, "a number or a text"),
        ({"NVreg_X": "1\noptions nvidia NVreg_Y=1"}, "a number or a text"),
    ],
)
def test_options_are_the_module_s(options, words):
    reason = driver_fit.options_objection(options)
    assert (reason is None) if words is None else words in reason


def test_the_file_of_modprobe_d_has_one_line_for_each_option():
    text = driver_fit.modprobe_text({"NVreg_RegistryDwords": "a=1; b=2", "NVreg_EnableMSI": True, "NVreg_DeviceFileMode": 432})
    assert "options nvidia-current NVreg_EnableMSI=1" in text  # the name of the file in Debian's archive
    assert [line for line in text.splitlines() if line.startswith("options nvidia ")] == [
        "options nvidia NVreg_DeviceFileMode=432",
        "options nvidia NVreg_EnableMSI=1",
        'options nvidia NVreg_RegistryDwords="a=1; b=2"',
    ]
    assert driver_fit.modprobe_text({}) == ""


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("options nvidia NVreg_EnableMSI=0 NVreg_X=1", True),
        ("options nvidia NVreg_X=1 NVreg_EnableMSI=1", False),
        ("options nvidia-drm modeset=1", False),
        ("options nvidia-current NVreg_EnableMSI=0", True),
        ("# options nvidia NVreg_EnableMSI=0", False),
        ('options nvidia NVreg_RegistryDwords="b=2 c=3"', True),
    ],
)
def test_another_file_that_says_otherwise_is_refused(line, refused):
    reason = driver_fit.duplicate_objection({"/etc/modprobe.d/site.conf": f"{line}\n"}, {"NVreg_EnableMSI": True, "NVreg_RegistryDwords": "a=1"})
    assert (reason is not None and "/etc/modprobe.d/site.conf sets NVreg_" in reason) is refused


PARAMS = 'DeviceFileMode: 438\nEnableMSI: 1\nRegistryDwords: "a=1"\nTemporaryFilePath: ""\n'


@pytest.mark.parametrize(
    ("options", "other"),
    [
        ({"NVreg_EnableMSI": True, "NVreg_DeviceFileMode": "0666", "NVreg_RegistryDwords": "a=1"}, {}),
        ({"NVreg_DeviceFileMode": "0x1b6"}, {}),
        ({"NVreg_DeviceFileMode": 432}, {"NVreg_DeviceFileMode": "438"}),
        ({"NVreg_RegistryDwords": "a=2"}, {"NVreg_RegistryDwords": '"a=1"'}),
        ({"NVreg_NotShown": 5}, {}),
    ],
)
def test_the_value_that_the_loaded_module_uses_is_compared(options, other):
    assert driver_fit.ineffective_options(PARAMS, options) == other


def test_an_option_that_the_module_lacks_is_told_where_it_lists_any():
    assert driver_fit.unknown_options(["NVreg_EnableMSI"], {"NVreg_EnableMSI": 1, "NVreg_Enablemsi": 1}) == ["NVreg_Enablemsi"]
    assert driver_fit.unknown_options([], {"NVreg_X": 1}) == []
