#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action stack_lock."""

from __future__ import annotations

DOCUMENTATION = r"""
module: stack_lock
short_description: Resolve the pins of a pool into a lock, or read a lock
version_added: "0.1.0"
description:
  - O(state=present) reads C(group_vars/<pool>/pins.yml), C(group_vars/<pool>/package_sources.yml) and C(trust.yml) of the inventory, fetches the
    signed indexes of the pool's apt or dnf repositories, and writes C(locks/<pool>.lock.yml). The pinned packages and what they need within the owned
    families (kernel, driver, container toolkit, engine) are in it with version, size and SHA-256.
  - The same pins and the same repositories always give the same bytes; the file is replaced by rename, and only when its text changes.
  - O(state=read) checks a lock file (shape, digest, exact pins) and returns it. A file that was edited by hand is refused.
  - The work is done on the controller, whatever host the task runs for; it needs C(gpg) there, and C(apt-get) for apt repositories, but not root.
options:
  state:
    description: What to do.
    type: str
    choices: [present, read]
    required: true
  pool:
    description: The pool to lock, a group of the inventory. Needed with O(state=present).
    type: str
  inventory:
    description: The folder of the inventory. By default that of the first inventory source of this run.
    type: path
  path:
    description: The lock file to read. Needed with O(state=read).
    type: path
author:
  - The goldnode founders (@goldnode)
attributes:
  check_mode:
    description: Can run in check mode and say what would be done.
    support: full
  diff_mode:
    description: Can show the difference.
    support: full
seealso:
  - plugin: goldnode.gpu.stack_lock
    plugin_type: lookup
"""

EXAMPLES = r"""
- name: Lock the stack of a pool
  goldnode.gpu.stack_lock:
    state: present
    pool: a10_serve

- name: Read a lock
  goldnode.gpu.stack_lock:
    state: read
    path: inventories/example/locks/a10_serve.lock.yml
  register: stack
"""

RETURN = r"""
path:
  description: The lock file.
  returned: success
  type: str
  sample: inventories/example/locks/a10_serve.lock.yml
lock:
  description: The lock (C(goldnode.lock/v1)), the value of C(goldnode_stack).
  returned: success
  type: dict
  contains:
    digest:
      description: The digest over all the rest of the lock.
      type: str
    packages:
      description: Each owned package with name, version, architecture, repository, size, sha256 and layer.
      type: list
    pins:
      description: The whole mapping C(goldnode_pins), ranges replaced by the chosen version.
      type: dict
summary:
  description: Readable lines, what is locked per layer, or what differs from the former lock.
  returned: with O(state=present)
  type: list
  elements: str
"""
