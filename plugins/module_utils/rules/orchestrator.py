# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Orchestrator: what Kubernetes was told about the GPUs. Judged only where somebody put its evidence into the bundle."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.model import ORCHESTRATOR
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown


@rule(
    "orchestrator.gpus_allocatable",
    layer=ORCHESTRATOR,
    probes=("node_allocatable",),
    symptom="Pods that ask for nvidia.com/gpu stay Pending: 'Insufficient nvidia.com/gpu'.",
    cause="The device plugin has not registered the node's GPUs with the kubelet.",
    fix="kubectl -n <namespace> logs of the device plugin on this node says why; it needs the nvidia runtime or CDI.",
    verify="kubectl get node <node> -o jsonpath='{.status.allocatable}' shows nvidia.com/gpu.",
    source="NVIDIA/k8s-device-plugin README",
)
def gpus_allocatable(facts: Facts, wanted: Wanted) -> Outcome:
    """Kubernetes may allocate the node's GPUs"""
    if "node_allocatable" not in facts.bundle.probes:
        return not_applicable("no evidence of an orchestrator")
    count = facts.allocatable_gpus
    if count is None:
        return unknown()
    return passed(f"{count} allocatable") if count else failed("nvidia.com/gpu above 0", (facts.bundle.text("node_allocatable") or "").strip()[:200])
