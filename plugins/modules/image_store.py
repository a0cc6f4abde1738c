#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action image_store."""

from __future__ import annotations

DOCUMENTATION = r"""
module: image_store
short_description: Keep golden images by the digest of their bytes
version_added: "0.1.0"
description:
  - Stores and finds images in the content-addressed store of the controller, C(<state_dir>/store).
  - Every write is atomic and durable, every read verifies the digest. A missing or damaged image is an error of one sentence.
  - The work is done on the controller, whatever host the task runs for.
options:
  state:
    description:
      - V(present) stores O(path), and with O(build) also remembers what the image was built from.
      - V(read) finds an image by O(digest), or what was built for O(key).
      - V(listed) returns the digests of all that is stored, without verifying.
    type: str
    choices: [present, read, listed]
    required: true
  state_dir:
    description: The state directory of the controller, the variable C(goldnode_state_dir).
    type: path
    required: true
  path:
    description: The file to store.
    type: path
  digest:
    description: The digest of an image, C(sha256:) and 64 hexadecimal digits.
    type: str
  key:
    description: The build key, as M(goldnode.gpu.image_recipe_info) returns it.
    type: str
  manifest:
    description: The manifest of the image, stored beside it. Needed with O(build).
    type: path
  build:
    description: What to remember about the build of O(path). Needs O(key) and O(manifest).
    type: dict
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
- name: Store an image
  goldnode.gpu.image_store:
    state: present
    state_dir: "{{ goldnode_state_dir }}"
    path: /srv/image.tar.zst

- name: Find an image, verified
  goldnode.gpu.image_store:
    state: read
    state_dir: "{{ goldnode_state_dir }}"
    digest: "{{ goldnode_image_digest }}"
"""

RETURN = r"""
digest:
  description: The digest of the image.
  returned: when an image was stored or found
  type: str
  sample: "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
path:
  description: Where the verified image lies.
  returned: when an image was stored or found
  type: str
manifest_path:
  description: Where the verified manifest of the image lies.
  returned: when the image has a record
  type: str
record:
  description: What is remembered about the build (C(goldnode.image/v1)), null if nothing whole was built for O(key).
  returned: with O(key)
  type: dict
digests:
  description: The digests of all that is stored, sorted.
  returned: with O(state=listed)
  type: list
  elements: str
"""
