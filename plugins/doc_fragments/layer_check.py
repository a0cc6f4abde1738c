# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Options that all check modules share."""

from __future__ import annotations


class ModuleDocFragment:
    """The shared options of `<layer>_check`."""

    DOCUMENTATION = r"""
options:
  stack:
    description:
      - The lock that the node should match, as C(goldnode_stack) holds it.
      - Without it nothing is pinned, and rules that compare with a pin are C(not_applicable).
    type: dict
  nonce:
    description: Hexadecimal number that the CUDA probe computes with.
    type: str
  probe_args:
    description:
      - Where the probe looks, for example C(--procfs /run/goldnode-lab/proc) as list items.
      - Where it is left out, the action that starts the module gives the inventory's C(goldnode_probe_args).
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    description: Reads only, so it does the same in check mode; declared container runs are started there too.
    support: full
  diff_mode:
    description: Changes nothing.
    support: none
notes:
  - Never fails on a verdict; fails only when it could not judge.
  - For whole nodes use M(goldnode.gpu.node_check), which costs one ssh execution.
seealso:
  - module: goldnode.gpu.node_check
"""
