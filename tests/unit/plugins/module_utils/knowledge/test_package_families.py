from fnmatch import fnmatchcase

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.package_families import PACKAGE_GLOBS, layer_of

OWNERS = {
    "linux-image-6.12.117+deb13-amd64": "kernel",
    "linux-image-amd64": "kernel",
    "linux-headers-6.8.0-45": "kernel",
    "linux-generic-hwe-24.04": "kernel",
    "linux-modules-6.8.0-45-generic": "kernel",
    "linux-modules-extra-6.8.0-45-generic": "kernel",
    "linux-modules-nvidia-580-server-open-generic": "driver",
    "nvidia-driver": "driver",
    "nvidia-kernel-open-dkms": "driver",
    "nvidia-compute-utils-580": "driver",
    "nvidia-fabricmanager-580": "driver",
    "libnvidia-compute-580": "driver",
    "libnvidia-cfg1": "driver",
    "libnvidia-ml1": "driver",
    "libcuda1": "driver",
    "firmware-nvidia-gsp": "driver",
    "cuda-drivers-580": "driver",
    "nvidia-container-toolkit": "container_toolkit",
    "nvidia-container-toolkit-base": "container_toolkit",
    "libnvidia-container1": "container_toolkit",
    "libnvidia-container-tools": "container_toolkit",
    "docker.io": "engine",
    "docker-ce-cli": "engine",
    "containerd.io": "engine",
    "runc": "engine",
    "crun": "engine",
    "docker": "engine",
    "kernel": "kernel",
    "kernel-core": "kernel",
    "kernel-modules-extra": "kernel",
    "kernel-devel-matched": "kernel",
    "kernel6.12": "kernel",
    "kernel-64k-devel": "kernel",
    "kmod-nvidia-latest-dkms": "driver",
    "dnf-plugin-nvidia": "driver",
    "nvidia-kmod-common": "driver",
    "kernel-headers": None,
    "kernel-tools": None,
    "kmod": None,
    "nvidia-cuda-toolkit": None,
    "linux-libc-dev": None,
    "linux-base": None,
    "iptables": None,
}


@pytest.mark.parametrize(("name", "layer"), OWNERS.items())
def test_a_name_belongs_to_its_layer(name, layer):
    assert layer_of(name) == layer


@pytest.mark.parametrize("name", OWNERS)
def test_no_name_belongs_to_two_layers(name):
    """Else the order of apt's preference files would decide which pin holds."""
    assert sum(any(fnmatchcase(name, glob) for glob in globs) for globs in PACKAGE_GLOBS.values()) <= 1
