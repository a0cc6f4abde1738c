"""docs/faults.md: the faults of role lab_fault and what a run of the bench showed of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.model import LAYERS

from .catalogue import Fault

HEAD = """# Faults

Each of these is a change of a lab node itself, made and undone on purpose: packages, files, services, device nodes, container images, the hardware
that the node's profile shows. None touches evidence or a rule. The bench (`tests/faults`, part of `make test`) makes each, validates the node, undoes it
and validates again; it holds the layer that must be the first broken one and the rule that must say so. This page is written from its results:

    .config/run python -m tests.faults.bench --page docs/faults.md     # as root; `--reuse --lab <id> <fault>…` for some of them on a lab that is up

By hand, after `make setup` and as root, from the top of the clone. [The lab](lab.md) says what `create_lab` makes; it prints `<state>`, which is
`/var/lib/goldnode-lab/<lab id>`. Nodes of `create_lab` have no GPU stack yet: the lock, the image and `provision_pool` give it to them.

    .config/run ansible-playbook goldnode.gpu.create_lab
    .config/run ansible-playbook -i <state>/inventory/hosts.yml goldnode.gpu.lock_stack -e pool=lab_a10
    .config/run ansible-playbook -i <state>/inventory/hosts.yml goldnode.gpu.build_image -e pool=lab_a10
    .config/run ansible-playbook -i <state>/inventory/hosts.yml goldnode.gpu.register_release -e pool=lab_a10
    .config/run ansible-playbook -i <state>/inventory/hosts.yml goldnode.gpu.provision_pool -e pool=lab_a10 -e nodes=lab-a10-canary-1
    .config/run ansible-playbook -i <state>/inventory/hosts.yml goldnode.gpu.inject_fault -e fault=gpu_node_missing
    .config/run ansible-playbook -i <state>/inventory/hosts.yml goldnode.gpu.validate_nodes -e pool=lab_a10 -e nodes=lab-a10-canary-1    # fails: device_nodes
    .config/run ansible-playbook -i <state>/inventory/hosts.yml goldnode.gpu.inject_fault -e fault=gpu_node_missing -e fault_state=absent
    .config/run ansible-playbook -i <state>/inventory/hosts.yml goldnode.gpu.validate_nodes -e pool=lab_a10 -e nodes=lab-a10-canary-1    # passes
    .config/run ansible-playbook goldnode.gpu.destroy_lab

A fault breaks the first node of its pool unless `-e nodes=` names others; the column *pool* of the tables says which. Pools `lab_h100x8` and `lab_p4` are
there after `create_lab -e lab_pools=h100x8,p4`. A fault that needs another kernel wants `-e offered_kernels=6.12.107+deb13-amd64,6.12.117+deb13-amd64`.

*Real*: a part of the node does not work as it should, and what says so is what the part itself does. *Message*: only a line in the kernel's log says so;
the GPU of a lab node has no such defect. The rung is that of the evidence: on `simulated` the GPU and the vendor's packages are stand-ins (the rest is
the distribution's own), which shows that rule and stand-in agree, not that a real GPU behaves so.
"""

APART = """
## Counted apart

What a lab node cannot show, since it shares this machine's kernel: Secure Boot that refuses an unsigned module, and AppArmor that denies a container the
device. `make nightly` shows both on a booted machine (`tests/vm`, rung `booted`). SELinux and a real nouveau are proven on captured reports alone
(`tests/cases`). Rootless Docker is not in the lab.
"""


def page(faults: Iterable[Fault], results: Mapping[str, Mapping[str, Any]]) -> str:
    """The page's text; a fault that was not run says so."""
    rows = sorted(faults, key=lambda fault: list(LAYERS).index(fault.layer))
    found = sum(row.id in results and results[row.id]["verdict"] == "found" for row in rows)
    count = f"\n{found} of {len(rows)} faults were found by their rule and undone when they were run last.\n"
    return HEAD + count + "".join(part for layer, group in groupby(rows, key=lambda fault: fault.layer) for part in section(layer, group, results)) + APART


def section(layer: str, faults: Iterable[Fault], results: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """A layer's heading and table."""
    yield f"\n## {layer}\n\n| fault | what is changed | rule | shown | pool | run |\n|---|---|---|---|---|---|\n"
    for fault in faults:
        rule = f"[{fault.rule}](rules/{fault.rule}.md)"
        shown = "message" if fault.message else "real"
        yield f"| `{fault.id}` | {fault.what} | {rule} | {shown} | {fault.pool} | {run(results.get(fault.id))} |\n"


def run(result: Mapping[str, Any] | None) -> str:
    """What the run says of a fault: `found, simulated`."""
    return f"{result['verdict']}, {result['rung']}" if result else "not run"
