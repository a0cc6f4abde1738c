#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action lab_inventory."""

from __future__ import annotations

DOCUMENTATION = r"""
module: lab_inventory
short_description: The inventory of a lab, all literals
version_added: "0.1.0"
description:
  - Copies C(inventories/lab) to C(<state_dir>/inventory) and adds addresses, pins, keys, C(ssh_config) and C(known_hosts).
  - Runs on the controller, whatever host the task is for, and needs root.
options:
  state_dir:
    description: The lab's state directory, C(goldnode_state_dir).
    type: path
    required: true
  source:
    description: The directory C(inventories/lab).
    type: path
    required: true
  pools:
    description: Further pools, as for M(goldnode.gpu.lab).
    type: list
    elements: str
    default: []
  versions:
    description: Package name to version of the engine, as M(goldnode.gpu.base_root) returns it.
    type: dict
    required: true
  base_image:
    description: The tar that golden images of the lab are built from.
    type: path
    required: true
  canary_image:
    description: The canary container image of every pool, a reference with digest.
    type: str
    required: true
author:
  - The goldnode founders (@goldnode)
attributes:
  check_mode:
    description: Can run in check mode and say what would be done.
    support: none
  diff_mode:
    description: Can show the difference.
    support: none
"""

EXAMPLES = r"""
- name: Write the inventory
  goldnode.gpu.lab_inventory:
    state_dir: /var/lib/goldnode-lab/3f9a1c
    source: /home/me/goldnode/inventories/lab
    versions: {docker.io: 26.1.5+dfsg1-9, containerd: 1.7.24~ds1-6, runc: 1.1.15+ds1-2}
    base_image: /var/lib/goldnode-lab/3f9a1c/images/base.tar.zst
    canary_image: 10.88.1.1:5000/goldnode/cuda-canary@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
"""

RETURN = r"""
path:
  description: The inventory's C(hosts.yml).
  type: str
  returned: success
  sample: /var/lib/goldnode-lab/3f9a1c/inventory/hosts.yml
seconds:
  description: How long it took.
  type: float
  returned: success
  sample: 1.8
"""
