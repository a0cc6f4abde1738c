#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action package_repository."""

from __future__ import annotations

DOCUMENTATION = r"""
module: package_repository
short_description: A signed apt repository of a lab
version_added: "0.1.0"
description:
  - Makes the repository offer exactly the packages given. The index is signed with the lab's key; its Origin is C(goldnode-lab), its only component
    C(main).
  - Runs on the controller, whatever host the task is for, and needs root.
options:
  state_dir:
    description: The lab's state directory, C(goldnode_state_dir).
    type: path
    required: true
  label:
    description: The repository's name and Label.
    type: str
    required: true
  suite:
    description: The suite.
    type: str
    default: trixie
  packages:
    description: The C(.deb) files to choose from.
    type: list
    elements: path
    required: true
  kernels:
    description: Kernel releases to offer; packages of other kernels and metapackages that lead to them are left out. All of them if this is not given.
    type: list
    elements: str
  later_revisions:
    description: Package names of which a later revision (C(+goldnode.lab1)) is offered as well, the same content under a higher version.
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
- name: Offer a newer kernel too
  goldnode.gpu.package_repository:
    state_dir: /var/lib/goldnode-lab/3f9a1c
    label: os
    packages: "{{ query('ansible.builtin.fileglob', '/var/lib/goldnode-lab/3f9a1c/packages/os/*.deb') }}"
    kernels: [6.12.107+deb13-amd64, 6.12.117+deb13-amd64]
"""

RETURN = r"""
packages:
  description: The files that are offered.
  type: list
  elements: str
  returned: success
  sample: [linux-image-6.12.107+deb13-amd64_6.12.107-1+goldnode.lab_amd64.deb]
seconds:
  description: How long it took.
  type: float
  returned: success
  sample: 1.8
"""
