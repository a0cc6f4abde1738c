# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Hardware: the GPUs that PCI shows, without asking the driver."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge import gpus
from ansible_collections.goldnode.gpu.plugins.module_utils.model import HARDWARE
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown


@rule(
    "hardware.gpu_count",
    layer=HARDWARE,
    probes=("lspci_nnk",),
    symptom="Fewer GPUs than the node should have; jobs that ask for all of them wait or fail, all others run as if nothing were wrong.",
    cause="A GPU is not on the PCI bus: it fell off the bus, its riser or power is loose, the firmware has disabled the slot, or it is passed to a guest.",
    fix="Power the node off completely and on again; if the GPU stays away, reseat or replace it. Or correct a wrong count in pins.yml, and lock again.",
    verify="lspci -d 10de: | grep -E '0300|0302|3D|VGA' lists as many GPUs as are pinned.",
    source="docs/pins_and_locks.md, key gpus: seven of eight GPUs is a failure",
)
def gpu_count(facts: Facts, wanted: Wanted) -> Outcome:
    """The node has exactly as many GPUs on PCI as its pool pins"""
    if facts.pci_gpus is None or not facts.bundle.complete("lspci_nnk"):
        return unknown()
    pinned = [gpu["count"] for gpu in wanted.pin("gpus") or ()]
    found = len(facts.pci_gpus)
    if not pinned:
        return passed(f"{found} GPUs") if found else failed("at least one GPU", "no GPU on PCI")
    return passed(f"{found} GPUs") if found == sum(pinned) else failed(f"{sum(pinned)} GPUs", f"{found} GPUs on PCI")


@rule(
    "hardware.gpu_model",
    layer=HARDWARE,
    probes=("lspci_nnk",),
    symptom="Jobs run slower or out of memory on this node only; kernels built for one architecture do not start.",
    cause="The GPUs on PCI are not of the model that the pool pins.",
    fix="Move the node to the pool of its GPUs, or correct the model in pins.yml and lock again.",
    verify="lspci -nn -d 10de: shows the pinned model.",
    source="pci.ids 2026.10.24",
)
def gpu_model(facts: Facts, wanted: Wanted) -> Outcome:
    """Each pinned GPU model is there in its number"""
    if wanted.pin("gpus") is None:
        return not_applicable("nothing is pinned")
    if facts.pci_gpus is None or not facts.bundle.complete("lspci_nnk"):
        return unknown()
    found = {pin["model"]: sum(gpus.is_model(pin["model"], gpu.identifier, gpu.name) for gpu in facts.pci_gpus) for pin in wanted.pin("gpus")}
    seen = ", ".join(gpus.product(gpu.identifier, gpu.name) for gpu in facts.pci_gpus) or "no GPU on PCI"
    if all(found[pin["model"]] == pin["count"] for pin in wanted.pin("gpus")):
        return passed(seen)
    return failed(", ".join(f"{pin['count']} x {pin['model']}" for pin in wanted.pin("gpus")), seen)
