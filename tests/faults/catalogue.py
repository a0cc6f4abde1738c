"""The faults of role lab_fault, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.goldnode.gpu.plugins.module_utils.model import LAYERS

ROLE = Path(__file__).resolve().parents[2] / "roles/lab_fault"
HELPERS = ROLE / "files/helpers.sh"


@dataclass(frozen=True)
class Fault:
    """One change of a node: how it is made and undone, and which rule must find it."""

    id: str
    layer: str
    rule: str
    what: str
    present: str
    absent: str = "restore"
    reboot: bool = False
    pool: str = "lab_a10"
    message: bool = False
    runs: tuple[Mapping[str, Any], ...] = ()

    def script(self, state: str) -> str:
        """What a shell on the node runs, as role lab_fault does."""
        return f"{HELPERS.read_text()}\nset -eu\n{self.present if state == 'present' else self.absent}"


def faults() -> tuple[Fault, ...]:
    """All faults, in the order of the layers."""
    found = []
    for layer in LAYERS:
        path = ROLE / f"files/faults/{layer}.yml"
        found += [Fault(id=name, **row) for name, row in (yaml.safe_load(path.read_text()) if path.exists() else {}).items()]
    return tuple(found)
