"""Generations by PCI id and by name."""

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge import driver_branches, gpus

PRODUCTS = {
    "10de:102d": ("GK210GL [Tesla K80]", "Kepler"),
    "10de:17fd": ("GM200GL [Tesla M40]", "Maxwell"),
    "10de:1bb3": ("GP104GL [Tesla P4]", "Pascal"),
    "10de:1db6": ("Tesla V100 PCIe 32GB", "Volta"),
    "10de:1eb8": ("Tesla T4", "Turing"),
    "10de:20b2": ("NVIDIA A100-SXM4-80GB", "Ampere"),
    "10de:2236": ("NVIDIA A10", "Ampere"),
    "10de:2330": ("NVIDIA H100 80GB HBM3", "Hopper"),
    "10de:26b9": ("NVIDIA L40S", "Ada"),
    "10de:2684": ("NVIDIA GeForce RTX 4090", "Ada"),
    "10de:2901": ("NVIDIA B200", "Blackwell"),
    "10de:2b85": ("NVIDIA GeForce RTX 5090", "Blackwell"),
}


@pytest.mark.parametrize("identifier", PRODUCTS)
def test_id_and_name_tell_the_same_generation(identifier):
    name, generation = PRODUCTS[identifier]
    assert driver_branches.of_device(identifier).name == driver_branches.of_name(name).name == generation


def test_every_known_product_has_a_generation():
    assert all(driver_branches.of_device(f"10de:{device}") for device in gpus.PRODUCTS)


@pytest.mark.parametrize("identifier", ["8086:0d57", "10de:", "10de:ffff", "", "10de:zzzz"])
def test_what_is_no_gpu_of_ours_has_none(identifier):
    assert driver_branches.of_device(identifier) is None
