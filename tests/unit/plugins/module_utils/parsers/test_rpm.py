"""`rpm -qa` of several distributions, and the kernel in the name of a package of built modules."""

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import rpm


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("kernel-devel-5.14.0-427.el9.x86_64", ("kernel-devel", "5.14.0", "427.el9", "x86_64")),
        ("nvidia-driver-3:580.95.05-1.el9.x86_64", ("nvidia-driver", "580.95.05", "1.el9", "x86_64")),
        ("dnf-plugin-nvidia-2.0-1.el8.noarch", ("dnf-plugin-nvidia", "2.0", "1.el8", "noarch")),
        ("gpg-pubkey-d42d0685-62589a51", ("gpg-pubkey", "d42d0685", "62589a51", "")),
    ],
)
def test_name_version_release_and_architecture_are_told_apart(line, expected):
    (package,) = rpm.packages(line + "\n\nnot a package\n")
    assert (package.name, package.version, package.release, package.architecture) == expected


@pytest.mark.parametrize(
    ("package", "kernel"),
    [
        ("kmod-nvidia-515.48.07-4.18.0-372.9.1-515.48.07-3.el8.x86_64", "4.18.0-372.9.1"),
        ("kmod-nvidia-open-5.14.0-427.13.1-550.54.15-3.el9.x86_64", "5.14.0-427.13.1"),
        ("kmod-nvidia-6.8.10-300.fc40.x86_64-550.78-1.fc40.x86_64", "6.8.10-300.fc40.x86_64"),
        ("kmod-nvidia-latest-dkms-550.54.15-1.el9.x86_64", None),  # built by DKMS
        ("kmod-nvidia-550.78-1.el9_4.elrepo.x86_64", None),  # for every kernel of its ABI
        ("linux-modules-nvidia-535-server-open-6.8.0-1029-gke", "6.8.0-1029-gke"),
        ("linux-modules-nvidia-550-generic-hwe-22.04", None),
        ("linux-objects-nvidia-535-5.15.0-100-generic", "5.15.0-100-generic"),
        ("nvidia-driver-515.48.07-1.el8.x86_64", None),
    ],
)
def test_the_kernel_of_prebuilt_modules_is_in_their_package_name(package, kernel):
    assert rpm.built_for(package) == kernel


def test_a_short_kernel_name_means_its_release_and_no_longer_number():
    assert rpm.is_of("4.18.0-372.9.1", "4.18.0-372.9.1.el8.x86_64")
    assert rpm.is_of("5.15.0-60-generic", "5.15.0-60-generic")
    assert not rpm.is_of("4.18.0-372.9.1", "4.18.0-372.9.12.el8.x86_64")
