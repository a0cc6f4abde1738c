# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: pool_claim
short_description: Hold a pool for the running playbook
version_added: "0.1.0"
author: The goldnode founders (@goldnode)
description:
  - Holds a pool for the running C(ansible-playbook) until that process ends, however it ends. Fails in one sentence while another one holds it.
  - The work is done on the controller, whatever host the task runs for.
options:
  pool:
    description: The pool.
    type: str
    required: true
  state_dir:
    description: The state directory of the controller, the variable C(goldnode_state_dir).
    type: path
    required: true
attributes:
  check_mode:
    description: A check changes nothing, so it holds nothing; the task is skipped.
    support: none
  diff_mode:
    description: Has nothing to show.
    support: none
"""

EXAMPLES = r"""
- name: Hold the pool
  goldnode.gpu.pool_claim:
    pool: lab_a10
    state_dir: /var/lib/goldnode
"""

RETURN = r"""
"""
