import string

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.families import FAMILIES, families_for, layer_of

FACTS = {"distribution": "debian", "modules": "open", "build": "dkms", "engine": "docker", "kernel": "6.12.1", "branch": "580"}


@pytest.mark.parametrize(
    ("name", "layer"),
    [
        ("linux-image-6.12.117+deb13-amd64", "kernel"),
        ("linux-headers-6.12.117+deb13-common", "kernel"),
        ("linux-modules-6.8.0-45-generic", "kernel"),
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
    used = {field for family in families for root in family.roots for _, field, _, _ in string.Formatter().parse(root.name) if field}
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
    ],
)
def test_the_driver_families_follow_from_distribution_modules_and_build(facts, titles):
    assert [family.title for family in families_for("nvidia_driver", {**FACTS, **facts})] == titles
