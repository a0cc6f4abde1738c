#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action stack_proposal."""

from __future__ import annotations

DOCUMENTATION = r"""
module: stack_proposal
short_description: Propose newer stacks for a pool, each as a complete lock
version_added: "0.1.0"
description:
  - Fetches the signed indexes of the pool's repositories, as M(goldnode.gpu.stack_lock) does, and looks for the newest set of versions that is a patch,
    a minor and a major step from the pool's lock. Each proposal resolves as a whole, and C(check_pins) has nothing to say of it that it does not say of
    the present lock.
  - For each it writes C(<class>/pins.yml), C(<class>/<pool>.lock.yml) and C(<class>/changes.txt) below O(report_dir), beside C(page.txt) and
    C(result.json). Nothing of the inventory is changed.
  - Container images keep the digests that are pinned; a new one is built or chosen by a person.
options:
  pool:
    description: The pool, a group of the inventory.
    type: str
    required: true
  lock_file:
    description: The present lock. By default C(locks/<pool>.lock.yml) of the inventory.
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
"""

EXAMPLES = r"""
- name: Propose newer stacks
  goldnode.gpu.stack_proposal:
    pool: a10_serve
    report_dir: /var/lib/goldnode/reports/propose_upgrade/today
"""

RETURN = r"""
outcome:
  description: V(pass), also where there is nothing newer.
  returned: success
  type: str
lines:
  description: The page.
  returned: success
  type: list
  elements: str
result:
  description: As in C(result.json) (C(goldnode.propose_upgrade/v1)).
  returned: success
  type: dict
  contains:
    proposals:
      description:
        - Each with kind (V(patch), V(minor), V(major)), lock_digest, pins_file, lock_file, differences, needs, settled (what C(check_pins) says of the
          present lock and no longer of this one, as the vulnerabilities that it closes) and said (what it says of this one).
      type: list
"""
