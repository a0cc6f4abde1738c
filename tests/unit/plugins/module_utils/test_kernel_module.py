import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.kernel_module import Wanted, deciding_line, distrust, dkms_name, flaw, loaded_names, parameters


def test_modules_are_removed_dependents_first():
    text = "nvidia_uvm 1 0\nnvidia_drm 1 2\nnvidia_modeset 1 1 nvidia_drm,\nnvidia 1 3 nvidia_uvm,nvidia_modeset,\nnvme 1 0\n"
    assert loaded_names(text) == ["nvidia_uvm", "nvidia_drm", "nvidia_modeset", "nvidia"]


@pytest.mark.parametrize(
    ("log", "line"),
    [
        ("CC x.o\nx.c:3:1: error: too many arguments to function\nmake[2]: *** [x.o] Error 1\n", "x.c:3:1: error: too many arguments to function"),
        ("make: *** No rule to make target 'modules'.  Stop.\nError! Bad return status\n", "make: *** No rule to make target 'modules'.  Stop."),
        ("Error! Your kernel headers for kernel 6.12 cannot be found.\nPlease install\n", "Error! Your kernel headers for kernel 6.12 cannot be found."),
        ("Binary /x/sign-file not found, modules won't be signed\nRunning depmod... done.\n", "Binary /x/sign-file not found, modules won't be signed"),
        ("something else\n", "something else"),
        ("", "the build wrote no log"),
    ],
)
def test_the_line_that_decided_is_found(log, line):
    assert deciding_line(log) == line


KERNEL, SERIAL = "6.12.107+deb13-amd64", "5A:0F"
GOOD = {"version": "580.159.03", "vermagic": f"{KERNEL} SMP preempt mod_unload modversions", "license": "Dual MIT/GPL", "signer": "site", "sig_key": SERIAL}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, None),
        ({"version": "550.163.01"}, "it is version 550.163.01"),
        ({"vermagic": "6.12.117+deb13-amd64 SMP"}, "it is built for kernel 6.12.117+deb13-amd64"),
        ({"vermagic": f"{KERNEL}-rt SMP"}, f"it is built for kernel {KERNEL}-rt"),
        ({"license": "NVIDIA"}, "its licence is NVIDIA, that of the open modules is Dual MIT/GPL"),
        ({"signer": "", "sig_key": ""}, "it is signed by nobody, not by the given certificate (serial number 5A:0F)"),
        ({"signer": "DKMS module signing key", "sig_key": "77:01"}, "it is signed by DKMS module signing key, not"),
    ],
)
def test_a_module_is_proven_by_version_kernel_kind_and_signature(change, words):
    found = flaw({**GOOD, **change}, Wanted("580.159.03", KERNEL, "open", SERIAL))
    assert found is None if words is None else (found or "").startswith(words)


def test_no_module_proves_nothing_and_a_signature_counts_only_where_one_is_wanted():
    assert flaw({}, Wanted("580.159.03", KERNEL)) == "there is none"
    assert flaw({**GOOD, "sig_key": "", "license": "NVIDIA"}, Wanted("580.159.03", KERNEL)) is None


@pytest.mark.parametrize(
    ("secure_boot", "modinfo", "serial", "enrolled", "words"),
    [
        (False, {"signer": ""}, None, False, None),
        (True, GOOD, SERIAL, True, None),
        (True, GOOD, SERIAL, False, "is not enrolled: mokutil --import /c.der, reboot, confirm it in MokManager"),
        (True, {"signer": "Canonical Ltd. Kernel Module Signing", "sig_key": "01"}, None, False, None),
        (True, {"signer": ""}, None, False, "the module is signed by nobody, whom ubuntu kernels do not trust"),
        (True, {"signer": "DKMS module signing key", "sig_key": "77"}, SERIAL, True, "signed by DKMS module signing key"),
    ],
)
def test_under_secure_boot_the_kernel_must_trust_the_signer(secure_boot, modinfo, serial, enrolled, words):
    reason = distrust(modinfo, secure_boot, serial, enrolled, "ubuntu", "/c.der")
    assert (reason is None) if words is None else words in (reason or "")


@pytest.mark.parametrize(
    ("status", "name"),
    [
        ("mlnx/5.8: added\nnvidia/580.159.03, 6.12.107+deb13-amd64, x86_64: installed\n", "nvidia"),
        ("nvidia-current-open, 580.159.03, 6.1.0-9-amd64, x86_64: built\n", "nvidia-current-open"),
        ("nvidia/550.163.01: added\n", None),
        ("", None),
    ],
)
def test_dkms_knows_the_driver_by_this_name(status, name):
    assert dkms_name(status, "580.159.03") == name


def test_the_options_are_those_that_modinfo_lists():
    text = "filename: /x/nvidia.ko\nparm:           NVreg_EnableMSI:int\nparm:           NVreg_RegistryDwords:charp\nvermagic: x parm: y:z\n"
    assert parameters(text) == ["NVreg_EnableMSI", "NVreg_RegistryDwords"]
