#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action lab."""

from __future__ import annotations

DOCUMENTATION = r"""
module: lab
short_description: A lab of nodes on this machine, with its name, numbers and keys
version_added: "0.1.0"
description:
  - With O(state=present), checks that this machine can carry a lab, names the lab after the clone (or C(GOLDNODE_LAB)), finds a free subnet and
    makes its keys. Nothing is touched before all checks have passed.
  - Raises the kernel's C(fs.inotify.max_user_instances) to 1024 if it is lower; that setting stays.
  - With O(state=absent), ends everything that carries the lab's name and removes its state; it finds the left-overs of a half-made lab too.
  - Holds the lab for the playbook that runs it until the playbook ends; a second playbook is refused meanwhile.
  - Runs on the controller, whatever host the task is for, and needs root.
options:
  state:
    description: Whether the lab shall be there.
    type: str
    choices: [present, absent]
    default: present
  clone:
    description: The clone (or installed collection) that the lab belongs to; its C(inventories/lab) has the nodes.
    type: path
    required: true
  pools:
    description: Profiles of C(inventories/lab/profiles.yml), each of which gets a pool of one node.
    type: list
    elements: str
    default: []
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
- name: Name the lab and make its keys
  goldnode.gpu.lab:
    clone: /home/me/goldnode
    pools: [h100x8]

- name: Remove the lab
  goldnode.gpu.lab:
    clone: /home/me/goldnode
    state: absent
"""

RETURN = r"""
lab:
  description: The lab's C(id) and C(state_dir); with O(state=present) also C(nodes) (name, pool, address, profile), C(environment),
    C(inventory), C(ssh_config), C(authority), C(hub), C(registry), C(repository_uri) and C(subnet).
  type: dict
  returned: success
  sample: {id: 3f9a1c, state_dir: /var/lib/goldnode-lab/3f9a1c, subnet: 10.88.1.0/24}
seconds:
  description: How long it took.
  type: float
  returned: success
  sample: 1.8
"""
