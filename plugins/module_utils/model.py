# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The ground floor: layers and what each needs, verdicts, findings. Imports nothing of ours."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

PASS = "pass"  # noqa: S105 - a verdict, not a password
FAIL = "fail"
UNKNOWN = "unknown"
NOT_APPLICABLE = "not_applicable"

# How real the GPU behind the evidence is, least real first.
RUNGS = ("captured", "simulated", "booted", "hardware")

HARDWARE = "hardware"
KERNEL = "kernel"
DRIVER = "driver"
DEVICE_NODES = "device_nodes"
ENGINE = "engine"
CONTAINER_TOOLKIT = "container_toolkit"
POLICY = "policy"
CONTAINER = "container"
CUDA = "cuda"
ORCHESTRATOR = "orchestrator"

# In the order in which a layer can be the first broken one; the value is what the layer needs directly.
LAYERS: dict[str, tuple[str, ...]] = {
    HARDWARE: (),
    KERNEL: (),
    DRIVER: (HARDWARE, KERNEL),
    DEVICE_NODES: (DRIVER,),
    ENGINE: (KERNEL,),
    CONTAINER_TOOLKIT: (),
    POLICY: (KERNEL,),
    CONTAINER: (DEVICE_NODES, ENGINE, CONTAINER_TOOLKIT, POLICY),
    CUDA: (CONTAINER,),
    ORCHESTRATOR: (CONTAINER,),
}


@lru_cache(maxsize=None)
def all_needs(layer: str) -> frozenset[str]:
    """What a layer needs, direct and indirect."""
    return frozenset(LAYERS[layer]).union(*(all_needs(name) for name in LAYERS[layer]))


class Finding(NamedTuple):
    """One judged statement. `pass` means that all evidence it needs was there; could not look is `unknown`.

    `decided_by`: where the evidence allows two causes, both stand in `cause`, and this is the one probe or command that would decide.
    A pass or not_applicable with a `cause` explains a message that looks like a fault and is none.
    """

    rule: str
    layer: str
    verdict: str
    severity: str = "error"
    expected: str = ""
    observed: str = ""
    evidence: tuple[str, ...] = ()
    cause: str = ""
    remedy: str = ""
    confidence: str = "high"
    decided_by: str = ""

    @property
    def page(self) -> str:
        """Where the rule is explained."""
        return f"docs/rules/{self.rule}.md"

    def as_dict(self) -> dict[str, Any]:
        """The finding as the JSON mapping that reports and the ledger hold."""
        return {**self._asdict(), "evidence": list(self.evidence), "page": self.page}
