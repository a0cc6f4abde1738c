# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the documentation of every action on the ledger shares."""

from __future__ import annotations


class ModuleDocFragment:
    """Options and attributes of M(goldnode.gpu.release), M(goldnode.gpu.slot) and M(goldnode.gpu.promotion)."""

    DOCUMENTATION = r"""
options:
  pool:
    description: The pool, a group of the inventory.
    type: str
  environment:
    description: The environment that the pool belongs to. By default the variable C(goldnode_environment).
    type: str
  state_dir:
    description: The folder that holds the ledger, the image store and the spool. By default the variable C(goldnode_state_dir), else C(/var/lib/goldnode).
    type: path
  report_dir:
    description: If given, C(result.json) is written there, also when the task fails with a sentence.
    type: path
author:
  - The goldnode founders (@goldnode)
notes:
  - The work is done on the controller, whatever host the task runs for. All of it is one transaction - a killed run leaves nothing half done.
attributes:
  check_mode:
    description: A state that writes is left out in check mode, since nothing true could be said about its result.
    support: partial
    details: States that only read work as ever.
  diff_mode:
    description: Can show the difference.
    support: none
"""
