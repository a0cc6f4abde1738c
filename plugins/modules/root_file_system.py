#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action root_file_system."""

from __future__ import annotations

DOCUMENTATION = r"""
module: root_file_system
short_description: Root file systems of a lab, templates and roots made of them
version_added: "0.1.0"
description:
  - Templates are unpacked once. Roots are btrfs snapshots of a template where the kernel has btrfs and a loop device, else copies.
  - Runs on the controller, whatever host the task is for, and needs root.
options:
  state_dir:
    description: The lab's state directory, C(goldnode_state_dir).
    type: path
    required: true
  state:
    description:
      - V(template) unpacks O(archive) and installs O(packages) into it.
      - V(present) makes a root of its own from O(template); one that is there stays.
      - V(absent) removes the root O(name).
    type: str
    choices: [template, present, absent]
    default: present
  name:
    description: Name of the root or of the template.
    type: str
    required: true
  archive:
    description: A root file system tar, plain or zstd.
    type: path
  packages:
    description: Debian packages to install into a template. They become part of its name.
    type: list
    elements: path
    default: []
  template:
    description: Which template the root is made from, as returned in RV(template).
    type: str
  export:
    description: Whether to write the template as a tar as well.
    type: bool
    default: false
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
- name: Unpack an image
  goldnode.gpu.root_file_system:
    state_dir: /var/lib/goldnode-lab/3f9a1c
    state: template
    name: image-5d41402abc4b2a76
    archive: /var/lib/goldnode-lab/3f9a1c/store/sha256/5d/5d41402abc4b2a76

- name: Make a root from it
  goldnode.gpu.root_file_system:
    state_dir: /var/lib/goldnode-lab/3f9a1c
    name: scratch
    template: image-5d41402abc4b2a76
"""

RETURN = r"""
path:
  description: The root's or the template's directory.
  type: str
  returned: success
  sample: /var/lib/goldnode-lab/3f9a1c/roots/scratch
template:
  description: The template's full name.
  type: str
  returned: with O(state=template)
  sample: base-70d627f4ea831d3d-e513bcd72d17
exported:
  description: Where the template lies as a tar if it was exported.
  type: str
  returned: with O(state=template)
  sample: /var/lib/goldnode-lab/3f9a1c/images/base-70d627f4ea831d3d-e513bcd72d17.tar.zst
method:
  description: How roots are made on this machine, V(btrfs) or V(copy).
  type: str
  returned: success
  sample: btrfs
seconds:
  description: How long it took.
  type: float
  returned: success
  sample: 1.8
"""
