import copy

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.manifest import differences, manifest, module_facts, same_upstream, stack_of
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.dpkg import Installed
from hypothesis import given
from hypothesis import strategies as st

KERNEL = "6.12.117+deb13-amd64"
STACK = {
    "pool": "p",
    "digest": "sha256:" + "1" * 64,
    "pins": {"kernel": {"version": KERNEL}, "nvidia_driver": {"version": "550.163.01"}},
    "packages": [
        {"name": "docker.io", "version": "26.1.5+dfsg1-9", "architecture": "amd64", "layer": "engine"},
        {"name": "nvidia-driver", "version": "550.163.01-2", "architecture": "amd64", "layer": "driver"},
    ],
}
INSTALLED = {"docker.io:amd64": Installed("26.1.5+dfsg1-9", True, True), "nvidia-driver:amd64": Installed("550.163.01-2", True, True)}
MODULES = {"nvidia": {"version": "550.163.01", "kernel": KERNEL, "signer": None}}
# modinfo of kmod 30 on the module that DKMS built from Debian's nvidia-kernel-dkms, shortened
MODINFO = f"""\
filename:       /lib/modules/{KERNEL}/updates/dkms/nvidia-current.ko.xz
alias:          char-major-195-*
version:        550.163.01
license:        NVIDIA
vermagic:       {KERNEL} SMP preempt mod_unload modversions
sig_id:         PKCS#7
signer:         DKMS module signing key
parm:           NvSwitchRegDwords:NvSwitch regkey (charp)
"""


def made(stack=STACK, installed=INSTALLED, kernels=(KERNEL,), modules=MODULES):
    return manifest(stack, installed, list(kernels), modules, {"/etc/docker/daemon.json": "sha256:0"}, {"commit": "c", "dirty": False})


def test_an_image_that_is_its_lock_has_no_difference():
    assert differences(made()) == []


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        (
            {"installed": {**INSTALLED, "docker.io:amd64": Installed("27.0-1", True, True)}},
            "package docker.io expected 26.1.5+dfsg1-9 (engine), verified 27.0-1",
        ),
        ({"installed": {"docker.io:amd64": INSTALLED["docker.io:amd64"]}}, "package nvidia-driver expected 550.163.01-2 (driver), verified not installed"),
        (
            {"installed": {**INSTALLED, "docker.io:amd64": Installed("26.1.5+dfsg1-9", True, False)}},
            "package docker.io expected 26.1.5+dfsg1-9 (engine), verified not installed",
        ),
        ({"kernels": ["6.1.0-1-amd64"]}, f"kernel expected {KERNEL}, verified 6.1.0-1-amd64"),
        ({"kernels": []}, f"kernel expected {KERNEL}, verified none"),
        ({"modules": {"nvidia": {**MODULES["nvidia"], "version": "535.1"}}}, "module nvidia expected 550.163.01, verified 535.1"),
        ({"modules": {"nvidia": {**MODULES["nvidia"], "kernel": "6.1"}}}, f"module nvidia expected for kernel {KERNEL}, verified for 6.1"),
        ({"modules": {}}, "module nvidia expected for the locked kernel, verified none"),
    ],
)
def test_each_difference_is_one_clause(change, clause):
    assert differences(made(**change)) == [clause]


def test_the_module_of_debians_own_packages_has_another_file_name():
    there = made(modules={"nvidia-current": {**MODULES["nvidia"]}})
    assert differences(there) == []


def test_another_kernel_beside_the_locked_one_is_recorded_and_no_difference():
    there = made(kernels=["6.1.0-1-amd64", KERNEL])
    assert there["kernel"]["verified"] == ["6.1.0-1-amd64", KERNEL]
    assert differences(there) == []


@given(names=st.lists(st.sampled_from(["docker.io", "nvidia-driver"]), min_size=1, unique=True), version=st.text(min_size=1, max_size=8))
def test_every_package_at_any_other_version_is_a_difference(names, version):
    versions = {package["name"]: package["version"] for package in STACK["packages"]}
    changed = {**INSTALLED, **{f"{name}:amd64": Installed(version + "x", True, True) for name in names}}
    found = differences(made(installed=changed))
    assert len(found) == len(names)
    assert all(any(f"package {name} expected {versions[name]}" in clause for clause in found) for name in names)


def test_a_manifest_made_again_from_itself_is_the_same():
    there = made()
    again = manifest(stack_of(there), INSTALLED, [KERNEL], MODULES, there["configuration"], there["source"])
    assert again == there


def test_a_manifest_is_a_copy_of_what_it_was_given():
    stack = copy.deepcopy(STACK)
    made(stack=stack)
    assert stack == STACK


def test_modinfo_is_read_field_by_field():
    assert module_facts(MODINFO) == {"version": "550.163.01", "kernel": KERNEL, "signer": "DKMS module signing key"}


def test_a_module_without_version_or_signature_says_so():
    assert module_facts("filename: /x.ko\n") == {"version": None, "kernel": None, "signer": None}


@pytest.mark.parametrize(
    ("observed", "wanted", "same"),
    [
        ("550.163.01", "550.163.01", True),
        ("550.163.01", "550.163.01-2", True),
        ("550.163.01", "1:550.163.01-2", True),
        ("550.163.01", "550.163.01+goldnode.lab", True),
        ("550.163.01+goldnode.lab", "550.163.01+goldnode.lab", True),
        ("550.163.02", "550.163.01", False),
        ("550.163.0", "550.163.01", False),
        (None, "550.163.01", False),
    ],
)
def test_a_module_version_is_compared_by_its_upstream_part(observed, wanted, same):
    assert same_upstream(observed, wanted) is same
