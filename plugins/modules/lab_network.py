#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action lab_network."""

from __future__ import annotations

DOCUMENTATION = r"""
module: lab_network
short_description: The network of a lab, a hub and a namespace per node
version_added: "0.1.0"
description:
  - Makes a hub namespace with a bridge, one veth pair per node and one to this machine. No route leads out.
  - What is complete stays; what is half-made is made anew.
  - Runs on the controller, whatever host the task is for, and needs root.
options:
  state_dir:
    description: The lab's state directory, C(goldnode_state_dir).
    type: path
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
- name: Connect the nodes
  goldnode.gpu.lab_network:
    state_dir: /var/lib/goldnode-lab/3f9a1c
"""

RETURN = r"""
nodes:
  description: The nodes whose end was made.
  type: list
  elements: str
  returned: success
  sample: [lab-a10-canary-1]
seconds:
  description: How long it took.
  type: float
  returned: success
  sample: 1.8
"""
