#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action package_sources_info."""

from __future__ import annotations

DOCUMENTATION = r"""
module: package_sources_info
short_description: Say which files make a node's apt or dnf use a pool's repositories
version_added: "0.1.0"
description:
  - Checks that each public key has the fingerprint that C(trust.yml) states, and that the repositories of the lock are among those given, with the
    same address, suite, components, origin, label and key.
  - Returns what the role C(goldnode.gpu.package_sources) writes, by the distribution of the lock. For apt that is keyrings, deb822 sources, origin
    preferences and the blacklist for unattended-upgrades; for dnf keys and repository files. It changes nothing.
  - The work is done on the controller, whatever host the task runs for; it needs C(gpg) there.
options:
  repositories:
    description: The repositories of the pool, C(package_sources_repositories).
    type: list
    elements: dict
    required: true
  trust:
    description: Repository keys by name, each with C(fingerprint) and C(public_key); C(goldnode_trust.repositories) of C(trust.yml).
    type: dict
    required: true
  stack:
    description: The lock, C(goldnode_stack).
    type: dict
    required: true
author:
  - The goldnode founders (@goldnode)
attributes:
  check_mode:
    description: Can run in check mode and say what would be done.
    support: full
  diff_mode:
    description: Can show the difference.
    support: none
"""

EXAMPLES = r"""
- name: See what the node's package manager would be told
  goldnode.gpu.package_sources_info:
    repositories: "{{ package_sources_repositories }}"
    trust: "{{ package_sources_trust }}"
    stack: "{{ goldnode_stack }}"
"""

RETURN = r"""
files:
  description: The files, sorted by path.
  returned: success
  type: list
  elements: dict
  contains:
    path:
      description: Path on the node.
      type: str
    content:
      description: The whole content.
      type: str
folders:
  description: Where files of ours may be that are no longer wanted.
  returned: success
  type: list
  elements: str
patterns:
  description: The names of such files.
  returned: success
  type: list
  elements: str
refresh:
  description: The commands by which the package manager reads the new files, each a list of words.
  returned: success
  type: list
  elements: list
"""
