#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action slot."""

from __future__ import annotations

DOCUMENTATION = r"""
module: slot
short_description: Open and close canary slots in the ledger
version_added: "0.1.0"
description:
  - A slot is one scheduled canary turn of a pool. Its id is its scheduled time in UTC, cut from the day by the slot length of the promotion policy.
  - O(state=opened) writes down who must answer with which release and nonce, and makes the spool. It first closes what a killed run left open, and
    refuses while a living run holds a slot. A slot that was closed already is returned with its result and nobody expected.
  - O(state=closed) judges the bundles in the spool, computes each node's and the slot's result, and moves the release. No data is never a pass.
  - O(state=provisioned) records what a node's validation said right after it was brought to a release. So a later difference is told from
    one that the release brought along, and a node that was taken out is expected again.
options:
  state:
    description: What to do.
    type: str
    choices: [opened, closed, provisioned]
    required: true
  hosts:
    description: The hosts of the pool by role. Needed with O(state=opened).
    type: dict
    suboptions:
      canary:
        description: The canaries. Each that is not taken out is expected.
        type: list
        elements: str
        default: []
      baseline:
        description: The baseline nodes. The first that is not taken out runs the same slot on stable.
        type: list
        elements: str
        default: []
  slot:
    description: The slot to close. Needed with O(state=closed).
    type: str
  node:
    description: The node. Needed with O(state=provisioned).
    type: str
  release:
    description: The digest of the release that the node was brought to. Needed with O(state=provisioned).
    type: str
  evidence:
    description: The bundle that M(goldnode.gpu.node_check) returned right after. Needed with O(state=provisioned).
    type: dict
  nonce:
    description: The nonce that O(evidence) was asked for with O(state=provisioned). A bundle without it is refused; not given, it is not looked at.
    type: str
extends_documentation_fragment:
  - goldnode.gpu.ledger
seealso:
  - module: goldnode.gpu.node_check
  - module: goldnode.gpu.release
  - module: goldnode.gpu.promotion
"""

EXAMPLES = r"""
- name: Open the slot of this time
  goldnode.gpu.slot:
    state: opened
    pool: a10_serve
    hosts:
      canary: "{{ groups['a10_serve_canary'] }}"
      baseline: "{{ groups['a10_serve_baseline'] }}"
  register: slot

- name: Close it from what the nodes left in its spool
  goldnode.gpu.slot:
    state: closed
    pool: a10_serve
    slot: "{{ slot.slot }}"
"""

RETURN = r"""
slot:
  description: The slot's id, its scheduled time.
  returned: with O(state=opened) and O(state=closed)
  type: str
  sample: "2026-11-30T21:00:00Z"
spool:
  description: The folder into which O(goldnode.gpu.node_check#module:spool) writes.
  returned: with O(state=opened) and O(state=closed)
  type: str
retry_spool:
  description: The folder for the bundle of a node's one retry.
  returned: with O(state=opened) and O(state=closed)
  type: str
release:
  description: The digest of the release that the slot is about.
  returned: with O(state=opened) and O(state=closed)
  type: str
release_state:
  description: Its state.
  returned: with O(state=opened) and O(state=closed)
  type: str
  sample: SOAKING
closed:
  description: Whether the slot is closed.
  returned: with O(state=opened) and O(state=closed)
  type: bool
expected:
  description: While the slot is open, who must answer. Each with node, arm (V(canary) or V(baseline)), release and nonce.
  returned: with O(state=opened)
  type: list
  elements: dict
stacks:
  description: The locks of the releases in RV(expected), by release.
  returned: with O(state=opened)
  type: dict
result:
  description: The slot's result, one of FAIL_FAST, FAIL, ERROR, HARDWARE_SUSPECT, DRIFTED, INCONCLUSIVE, PASS_WITH_FLAKE and PASS.
  returned: once the slot is closed
  type: str
reason:
  description: Why.
  returned: once the slot is closed
  type: str
nodes:
  description: Each node with arm, release, result, reason, rung and first_broken_layer.
  returned: once the slot is closed
  type: list
  elements: dict
outcome:
  description: V(pass), V(fail) or V(inconclusive), as in C(result.json).
  returned: with O(state=closed)
  type: str
screen:
  description: What was shown, line by line.
  returned: with O(state=closed)
  type: list
  elements: str
judgement:
  description: The judgement of the bundle.
  returned: with O(state=provisioned)
  type: dict
differences:
  description: Where the node differs from its release, a sentence each.
  returned: with O(state=provisioned)
  type: list
  elements: str
"""
