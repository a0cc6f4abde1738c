#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action image_recipe_info."""

from __future__ import annotations

DOCUMENTATION = r"""
module: image_recipe_info
short_description: Digest what a golden image is made from
version_added: "0.1.0"
description:
  - Digests the base root, the roles and modules of this collection that make an image, and the variables of the pool that set them.
  - Together with the digest of the lock this is the key under which M(goldnode.gpu.image_store) remembers a build.
  - The work is done on the controller, whatever host the task runs for.
options:
  base:
    description: The tar of the base root.
    type: path
    required: true
  lock_digest:
    description: The digest of the lock.
    type: str
    required: true
  host:
    description: The host whose variables set the roles, a member of the pool.
    type: str
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
- name: Digest the recipe
  goldnode.gpu.image_recipe_info:
    base: "{{ image_build_base }}"
    lock_digest: "{{ goldnode_stack.digest }}"
    host: goldnode-builder
  register: recipe
"""

RETURN = r"""
key:
  description: The build key.
  returned: success
  type: str
  sample: "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
lock_digest:
  description: The digest of the lock, as given.
  returned: success
  type: str
recipe_digest:
  description: The digest of base, files and settings.
  returned: success
  type: str
source:
  description: Where the recipe came from, C(commit) and C(dirty); both null for a collection that is no git clone.
  returned: success
  type: dict
"""
