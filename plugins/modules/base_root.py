#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action base_root."""

from __future__ import annotations

DOCUMENTATION = r"""
module: base_root
short_description: The bare Debian root that the nodes of a lab start from
version_added: "0.1.0"
description:
  - Builds it with mmdebstrap from this machine's own Debian mirror (or C(GOLDNODE_DEBIAN_MIRROR)) and caches it by its recipe in
    C(${XDG_CACHE_HOME:-~/.cache}/goldnode), together with Debian's packages of the container engine for it.
  - Runs on the controller, whatever host the task is for, and needs root.
options:
  packages_dir:
    description: Where a lab keeps the engine's packages. They are copied there once and stay, whatever becomes of the cache.
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
- name: Build the base root or take it from the cache
  goldnode.gpu.base_root:
    packages_dir: /var/lib/goldnode-lab/3f9a1c/packages/debian
"""

RETURN = r"""
key:
  description: Names the recipe.
  type: str
  returned: success
  sample: 70d627f4ea831d3d
path:
  description: The root file system, a tar compressed by zstd.
  type: str
  returned: success
  sample: /root/.cache/goldnode/roots/70d627f4ea831d3d.tar.zst
versions:
  description: Package name to version, of the engine's packages.
  type: dict
  returned: success
  sample: {runc: 1.1.15+ds1-2+b4}
seconds:
  description: How long it took.
  type: float
  returned: success
  sample: 1.8
"""
