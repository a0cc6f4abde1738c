#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action package_mirror."""

from __future__ import annotations

DOCUMENTATION = r"""
module: package_mirror
short_description: A signed mirror of exactly the packages of a lock
version_added: "0.1.0"
description:
  - Fetches every package of a pool's lock from the lock's repositories, or where they no longer have it from the archive's snapshot service as of the
    lock's date, and keeps it only if its size and SHA-256 are the lock's. What is there already is not fetched again.
  - Makes one apt or dnf repository for each of the lock's, with the same origin, label, suite and file names, signed by the key that is given, and removes
    what the lock does not name. Only a folder that is empty or a mirror of the same pool is taken.
  - Leaves C(package_sources.yml) and C(trust.yml) in the folder. A pool that uses them gets a lock with the same packages from
    M(goldnode.gpu.stack_lock).
  - Packages outside the owned families (libc, iptables) and container images are not mirrored.
  - Runs on the controller, whatever host the task is for. It needs C(gpg), and C(dpkg-deb) or C(createrepo_c).
options:
  pool:
    description: The pool, a group of the inventory.
    type: str
    required: true
  path:
    description: The folder of the mirror.
    type: path
    required: true
  url:
    description: The address at which nodes and C(lock_stack) reach the folder. By default its C(file:) address.
    type: str
  lock_file:
    description: The lock. By default C(locks/<pool>.lock.yml) of the inventory.
    type: path
  signing_key:
    description: A file with the secret key that signs, without passphrase. Exactly one of this and O(signing_home) is given; a key is never made.
    type: path
  signing_home:
    description: A gpg home that has the secret key; a passphrase is the business of its agent.
    type: path
  signing_fingerprint:
    description: Which key signs, where there is more than one.
    type: str
author:
  - The goldnode founders (@goldnode)
attributes:
  check_mode:
    description: Says what would be fetched and removed, and changes nothing.
    support: full
  diff_mode:
    description: Can show the difference.
    support: none
seealso:
  - module: goldnode.gpu.stack_lock
  - module: goldnode.gpu.stack_expiry
"""

EXAMPLES = r"""
- name: Mirror what is locked
  goldnode.gpu.package_mirror:
    pool: a10_serve
    path: /srv/mirror/a10_serve
    url: http://mirror.example/a10_serve
    signing_key: /root/mirror.key
"""

RETURN = r"""
path:
  description: The folder.
  returned: success
  type: str
url:
  description: Its address.
  returned: success
  type: str
lock_digest:
  description: The lock's digest.
  returned: success
  type: str
fingerprint:
  description: Of the key that signs.
  returned: success
  type: str
fetched:
  description: The packages that were fetched, or would be.
  returned: success
  type: list
  elements: str
removed:
  description: The files that were removed, or would be, below the folder.
  returned: success
  type: list
  elements: str
summary:
  description: What was done, and how to use it.
  returned: success
  type: list
  elements: str
"""
