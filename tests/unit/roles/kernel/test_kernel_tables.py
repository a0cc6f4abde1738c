"""What the role writes for GRUB makes GRUB start the locked kernel, for each generation of GRUB."""

import subprocess
from pathlib import Path

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template
from ansible_collections.goldnode.gpu.plugins.module_utils.platforms import SUPPORTED

ROLE = Path(__file__).parents[4] / "roles/kernel"
VARS = yaml.safe_load((ROLE / "vars/main.yml").read_text())
RELEASE = "6.1.0-40-amd64"
ENTRY = f"gnulinux-advanced-f00>gnulinux-{RELEASE}-advanced-f00"


def settings_of(distribution, release, choice=ENTRY):
    """GRUB's settings as a shell sees them that sources the role's file, as grub-mkconfig does."""
    stack = {"pins": {"kernel": {"version": RELEASE}, "os": {"distribution": distribution, "release": release}}}
    trusted = yaml.safe_load((ROLE / "vars/main.yml").read_text())
    variables = {name: _trusted(value) for name, value in trusted.items()} | {"goldnode_stack": stack, "__kernel_listed": {"boot_choice": choice}}
    text = Templar(DataLoader(), variables=variables).template(trust_as_template("{{ __kernel_default }}"))
    shell = subprocess.run(["sh", "-eu", "-c", f'{text}\necho "$GRUB_DEFAULT|${{GRUB_TOP_LEVEL-}}"'], check=True, capture_output=True, text=True)
    return tuple(shell.stdout.strip().split("|"))


def _trusted(value):
    if isinstance(value, dict):
        return {key: _trusted(item) for key, item in value.items()}
    return trust_as_template(value) if isinstance(value, str) else value


@pytest.mark.parametrize(
    ("distribution", "release", "settings"),
    [
        ("debian", "12", (ENTRY, "")),
        ("ubuntu", "22.04", (ENTRY, "")),
        ("debian", "13", ("0", f"/boot/vmlinuz-{RELEASE}")),
        ("ubuntu", "24.04", ("0", f"/boot/vmlinuz-{RELEASE}")),
        ("ubuntu", "26.04", ("0", f"/boot/vmlinuz-{RELEASE}")),
    ],
)
def test_each_generation_of_grub_is_told_in_its_own_way(distribution, release, settings):
    assert settings_of(distribution, release) == settings


def test_the_table_names_distributions_that_the_roles_serve_and_ways_that_exist():
    assert {row.split()[0] for row in VARS["__kernel_default_kinds"]} <= set(SUPPORTED)
    assert set(VARS["__kernel_default_kinds"].values()) <= set(VARS["__kernel_defaults"])


def test_each_option_is_documented_with_the_default_that_it_has():
    documented = yaml.safe_load((ROLE / "meta/argument_specs.yml").read_text())["argument_specs"]["main"]["options"]
    own = {name: option.get("default") for name, option in documented.items() if name.startswith("kernel_")}
    assert own == yaml.safe_load((ROLE / "defaults/main.yml").read_text())
