import string

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.families import FAMILIES, families_for, layer_of

FACTS = {
    "distribution": "debian",
    "modules": "open",
    "build": "dkms",
    "engine": "docker",
    "kernel": "6.12.1",
    "branch": "580",
    "arch": "x86_64",
    "abi": "6.12.1",
    "driver": "580.1",
}


@pytest.mark.parametrize(
    ("name", "layer"),
    [
        ("linux-image-6.12.117+deb13-amd64", "kernel"),
        ("linux-headers-6.12.117+deb13-common", "kernel"),
        ("linux-modules-6.8.0-45-generic", "kernel"),
        ("linux-aws-headers-6.8.0-1017", "kernel"),
        ("linux-hwe-6.17-headers-6.17.0-20", "kernel"),
        ("linux-nvidia-64k", "kernel"),
        ("linux-lowlatency", "kernel"),
        ("linux-modules-nvidia-580-server-open-6.8.0-45-generic", "driver"),
        ("nvidia-kernel-open-dkms", "driver"),
        ("nvidia-tesla-535-kernel-dkms", "driver"),
        ("libcuda1", "driver"),
        ("firmware-nvidia-gsp", "driver"),
        ("dkms", "driver"),
        ("nvidia-container-toolkit-base", "container_toolkit"),
        ("libnvidia-container1", "container_toolkit"),
        ("docker.io", "engine"),
        ("containerd.io", "engine"),
        ("kernel", "kernel"),
        ("kernel-modules-core", "kernel"),
        ("kernel-64k-core", "kernel"),
        ("kernel6.12-devel", "kernel"),
        ("kernel-headers", None),
        ("kernel(printk)", None),
        ("kmod-nvidia-open-dkms", "driver"),
        ("kmod-nvidia-580.159.03-5.14.0-570.12.1", "driver"),
        ("nvidia-fabric-manager", "driver"),
        ("crun", "engine"),
        ("libc6", None),
        ("nvidia-cuda-toolkit", None),
    ],
)
def test_a_package_name_belongs_to_one_layer(name, layer):
    assert layer_of(name) == layer


def test_every_root_of_every_family_is_a_package_that_we_own():
    roots = [root.name.format_map(FACTS) for families in FAMILIES.values() for family in families for root in family.roots]
    assert [name for name in roots if layer_of(name) is None] == []


def test_every_template_and_condition_uses_facts_that_a_pool_has():
    families = [family for subject in FAMILIES.values() for family in subject]
    used = {field for family in families for root in family.roots for _, field, _, _ in string.Formatter().parse(root.name + root.suffix) if field}
    assert used <= FACTS.keys()
    assert {fact for family in families for fact in family.when} <= FACTS.keys()


def test_every_family_begins_with_a_required_package():
    assert [family.title for subject in FAMILIES.values() for family in subject if not family.roots[0].required] == []


@pytest.mark.parametrize(
    ("facts", "titles"),
    [
        ({}, ["NVIDIA for Debian, open", "Debian archive, open"]),
        ({"modules": "proprietary"}, ["NVIDIA for Debian, proprietary", "Debian archive, proprietary", "Debian archive, tesla branch"]),
        ({"distribution": "ubuntu", "build": "prebuilt"}, ["Ubuntu archive, prebuilt, open"]),
        ({"distribution": "ubuntu"}, ["Ubuntu archive, DKMS, open", "NVIDIA for Ubuntu, open", "NVIDIA for Ubuntu from 590, open"]),
        ({"build": "prebuilt"}, []),
        ({"distribution": "rhel"}, ["NVIDIA for RHEL, DKMS, open"]),
        ({"distribution": "amazon", "modules": "proprietary"}, ["NVIDIA for RHEL, DKMS, proprietary"]),
        ({"distribution": "rocky", "build": "prebuilt"}, ["NVIDIA for RHEL, prebuilt, open"]),
        ({"distribution": "amazon", "build": "prebuilt"}, []),
    ],
)
def test_the_driver_families_follow_from_distribution_modules_and_build(facts, titles):
    assert [family.title for family in families_for("nvidia_driver", {**FACTS, **facts})] == titles


@pytest.mark.parametrize(
    ("facts", "titles"),
    [
        ({"distribution": "rhel"}, ["RHEL kernel"]),
        ({"distribution": "rhel", "arch": "aarch64"}, ["RHEL kernel", "RHEL kernel, 64k pages"]),
        ({"distribution": "amazon"}, ["Amazon kernel", "Amazon kernel 6.12"]),
    ],
)
def test_the_kernel_families_follow_from_distribution_and_architecture(facts, titles):
    assert [family.title for family in families_for("kernel", {**FACTS, **facts})] == titles


@pytest.mark.parametrize(
    ("distribution", "engine", "titles"),
    [
        ("debian", "docker", ["docker-ce", "docker.io"]),
        ("rocky", "docker", ["docker-ce"]),
        ("amazon", "docker", ["docker-ce", "docker of Amazon Linux"]),
        ("rocky", "podman", ["podman with crun"]),
        ("debian", "podman", ["podman"]),
    ],
)
def test_the_engine_families_follow_from_distribution_and_engine(distribution, engine, titles):
    assert [family.title for family in families_for("engine", {**FACTS, "distribution": distribution, "engine": engine})] == titles
