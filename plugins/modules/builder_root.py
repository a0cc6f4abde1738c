#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action builder_root."""

from __future__ import annotations

DOCUMENTATION = r"""
module: builder_root
short_description: The root file system in which an image is made
version_added: "0.1.0"
description:
  - One directory a pool below C(<state_dir>/builders), owned by the ansible-playbook process that made it.
  - A second run that wants the same builder is refused while that process lives. What a dead one left, mounts and processes included, is removed first.
  - C(/proc) and C(/sys) are mounted read-only and C(/dev) is a small file system of its own, so nothing that runs in the root reaches the machine's.
  - The work is done on the controller, as root, whatever host the task runs for.
options:
  pool:
    description: The pool whose image is made.
    type: str
    required: true
  state_dir:
    description: The state directory of the controller, the variable C(goldnode_state_dir).
    type: path
    required: true
  state:
    description:
      - V(unpacked) takes the builder and unpacks O(source) into it.
      - V(mounted) does that too, and makes the root fit for the connection C(chroot).
      - V(unmounted) ends what runs in the root and unmounts it.
      - V(packed) writes the root into a tar whose bytes follow from the tree alone.
      - V(absent) removes the builder, unless another living process owns it.
    type: str
    choices: [mounted, unpacked, unmounted, packed, absent]
    required: true
  source:
    description: The tar to unpack, plain or compressed.
    type: path
  newest:
    description: Later modification times are packed as this one, in seconds since 1970; V(mounted) returns that of the base.
    type: int
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
- name: Make a builder root
  goldnode.gpu.builder_root:
    state: mounted
    state_dir: "{{ goldnode_state_dir }}"
    pool: lab_a10
    source: "{{ image_build_base }}"
  register: builder
"""

RETURN = r"""
root:
  description: The directory of the root file system.
  returned: success
  type: str
newest:
  description: The newest modification time in O(source), in seconds since 1970.
  returned: with O(state=mounted) and O(state=unpacked)
  type: int
path:
  description: The tar.
  returned: with O(state=packed)
  type: str
"""
