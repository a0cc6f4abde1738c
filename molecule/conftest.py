"""What the scenarios' tests share: the lock that was applied, and what dpkg says of it."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

LAB = Path("/var/lib/goldnode-lab") / os.environ["GOLDNODE_LAB"]
PROCFS = "/run/goldnode-lab/proc"


@pytest.fixture
def lock() -> dict[str, Any]:
    """The pool's lock as lock_stack wrote it."""
    return yaml.safe_load((LAB / "inventory/locks/lab_a10.lock.yml").read_text())


@pytest.fixture
def variant_lock() -> dict[str, Any]:
    """The last lock that a side effect made from other pins."""
    return yaml.safe_load((LAB / "variant_inventory/locks/lab_a10.lock.yml").read_text())


@pytest.fixture
def deviations(host: Any) -> Callable[[dict[str, Any], str], list[str]]:
    """What dpkg shows of a layer that is not installed, locked and held."""

    def find(stack: dict[str, Any], layer: str) -> list[str]:
        text = host.check_output(r"dpkg-query --show --showformat='${Package} ${Version} ${db:Status-Want} ${db:Status-Status}\n'")
        wanted = {f"{row['name']} {row['version']} hold installed" for row in stack["packages"] if row["layer"] == layer}
        assert wanted, f"the lock has no package of layer {layer}"
        return sorted(wanted - set(text.splitlines()))

    return find


@pytest.fixture
def kernel_says(host: Any) -> Callable[[str], str]:
    """A file of the node's procfs, stripped."""
    return lambda path: host.check_output(f"cat {PROCFS}/{path}").strip()
