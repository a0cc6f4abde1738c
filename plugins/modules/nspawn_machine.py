#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action nspawn_machine."""

from __future__ import annotations

DOCUMENTATION = r"""
module: nspawn_machine
short_description: A node of a lab as a systemd-nspawn machine
version_added: "0.1.0"
description:
  - Gives the node its root, name, keys and hardware profile, starts it and waits until its boot is finished. A node that runs stays as it is.
  - A supervisor starts the node again when it reboots, and not when it powers off.
  - Runs on the controller, whatever host the task is for, and needs root.
options:
  state_dir:
    description: The lab's state directory, C(goldnode_state_dir).
    type: path
    required: true
  state:
    description:
      - V(started) makes the root if there is none, and starts the node.
      - V(stopped) shuts the node down.
      - V(absent) shuts it down and removes its root.
    type: str
    choices: [started, stopped, absent]
    default: started
  name:
    description: The node, one of the lab's.
    type: str
    required: true
  template:
    description: The template for a new root, as M(goldnode.gpu.root_file_system) returns it. Needed where the node has none.
    type: str
  profile:
    description: The node's hardware, one of C(simulated_gpu_profiles). It is kept for the node; without it the last one stays.
    type: dict
  recreate:
    description: Whether to cut the node's power and drop its root first. Address, host key and hardware stay.
    type: bool
    default: false
  boot_seconds:
    description: How long the boot may take.
    type: int
    default: 180
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
- name: Run a node
  goldnode.gpu.nspawn_machine:
    state_dir: /var/lib/goldnode-lab/3f9a1c
    name: lab-a10-canary-1
    template: base-70d627f4ea831d3d-e513bcd72d17
    profile: "{{ simulated_gpu_profiles.a10 }}"
"""

RETURN = r"""
system_state:
  description: What systemd says of itself once all jobs of the boot are done, V(running) or V(degraded).
  type: str
  returned: with O(state=started)
  sample: running
seconds:
  description: How long it took.
  type: float
  returned: success
  sample: 1.8
"""
