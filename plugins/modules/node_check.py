# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: node_check
short_description: Probe a whole node in one ssh execution and judge it on the controller
version_added: "0.1.0"
author: The goldnode founders (@goldnode)
description:
  - Pipes the probe to the node's Python, so nothing need be installed there but Python 3.6 or later, and judges the evidence on the controller.
  - Looks where the inventory's C(goldnode_probe_args) says.
  - Never fails on a verdict. Fails when the node's answer could not be judged; a node that cannot be reached is C(unreachable).
  - Give the task a C(timeout), in seconds; it holds on the controller and, by coreutils' C(timeout), on the node. Without one a node whose Python
    never ends is waited for without limit.
options:
  stack:
    description: The lock that the node should match (C(goldnode_stack)); without it nothing is pinned.
    type: dict
  layers:
    description: The layers to judge; all by default.
    type: list
    elements: str
    choices:
      - hardware
      - kernel
      - driver
      - device_nodes
      - engine
      - container_toolkit
      - policy
      - container
      - cuda
      - orchestrator
  nonce:
    description: Hexadecimal number from the controller; the result of the CUDA kernel depends on it.
    type: str
  runs:
    description: GPU container runs for the probe to start, as C(goldnode.gpu.gpu_canary) declares them.
    type: list
    elements: dict
  spool:
    description: Directory on the controller into which the bundle goes as C(<node>.evidence.json).
    type: path
attributes:
  check_mode:
    description: Reads only, so it does the same in check mode; declared runs are started all the same.
    support: full
  diff_mode:
    description: Changes nothing.
    support: none
"""

EXAMPLES = r"""
- name: Judge the node against its release
  goldnode.gpu.node_check:
    stack: "{{ goldnode_stack }}"
    spool: "{{ goldnode_report_dir }}/bundles"
  timeout: 600
  register: __node_check

- name: Look at a node that has no release
  goldnode.gpu.node_check:
    layers:
      - hardware
      - kernel
      - driver
"""

RETURN = r"""
verdict:
  description: Of the node, C(pass), C(fail), C(unknown) or C(not_applicable).
  returned: when the node was judged
  type: str
first_broken_layer:
  description: The first layer that fails and needs no layer that fails; null if none does.
  returned: when the node was judged
  type: str
rung:
  description: How real the GPU is, C(captured), C(simulated), C(booted) or C(hardware).
  returned: when the node was judged
  type: str
layers:
  description: Each layer with its C(verdict) and the broken layer that it is C(blocked_by).
  returned: when the node was judged
  type: dict
findings:
  description: One judged statement for each rule, with rule, verdict, expected, observed, evidence, cause and remedy.
  returned: when the node was judged
  type: list
  elements: dict
evidence:
  description: The bundle that was judged, docs/evidence.md.
  returned: when the node was judged
  type: dict
"""
