#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action stack_expiry."""

from __future__ import annotations

DOCUMENTATION = r"""
module: stack_expiry
short_description: Compare a pool's lock with what its repositories still have
version_added: "0.1.0"
description:
  - Fetches the signed indexes of the pool's repositories, as M(goldnode.gpu.stack_lock) does, and says of each locked package whether it is still
    there, superseded by a later version, there with other content under the same version, or gone.
  - A superseded package is still there, but the archives of Debian and Ubuntu drop it within days. NVIDIA's and Docker's repositories keep old versions.
  - Writes C(result.json) and C(page.txt). What is at risk is saved by M(goldnode.gpu.package_mirror).
  - Container images are not looked at; they are pinned by digest and proven when they are pulled.
options:
  pool:
    description: The pool, a group of the inventory.
    type: str
    required: true
  lock_file:
    description: The lock. By default C(locks/<pool>.lock.yml) of the inventory.
    type: path
  report_dir:
    description: The folder in which the result is left.
    type: path
    required: true
author:
  - The goldnode founders (@goldnode)
attributes:
  check_mode:
    description: Changes nothing but the report, so it does the same in check mode.
    support: full
  diff_mode:
    description: Has no difference to show.
    support: none
seealso:
  - module: goldnode.gpu.stack_lock
  - module: goldnode.gpu.package_mirror
"""

EXAMPLES = r"""
- name: Say which locked packages leave the archive
  goldnode.gpu.stack_expiry:
    pool: a10_serve
    report_dir: /var/lib/goldnode/reports/check_expiry/today
"""

RETURN = r"""
outcome:
  description: V(fail) where a locked package is gone or has other content, else V(pass).
  returned: success
  type: str
lines:
  description: The page.
  returned: success
  type: list
  elements: str
result:
  description: As in C(result.json) (C(goldnode.check_expiry/v1)).
  returned: success
  type: dict
  contains:
    count:
      description: How many packages are V(gone), V(changed), V(superseded) and V(there).
      type: dict
    packages:
      description: Each package with name, version, repository, state, newer, url and sha256, the worst first.
      type: list
"""
