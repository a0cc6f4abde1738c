#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action promotion."""

from __future__ import annotations

DOCUMENTATION = r"""
module: promotion
short_description: Explain where the newest release of a pool stands, or promote it
version_added: "0.1.0"
description:
  - O(state=explained) evaluates every guard from the ledger and says its value, its bound and what would make it true. It changes nothing.
  - O(state=promoted) promotes the release if every guard is met - first an intent, then one transaction in which all results are computed again from the
    raw bundles, all guards are evaluated again, and the channel C(stable) moves by compare-and-swap. Otherwise it says what holds the release back.
    A release that is promoted already stays so, and nothing is changed.
  - Guards that are not built are listed as such. They are neither a condition nor a pass.
options:
  state:
    description: What to do.
    type: str
    choices: [explained, promoted]
    required: true
extends_documentation_fragment:
  - goldnode.gpu.ledger
seealso:
  - module: goldnode.gpu.release
  - module: goldnode.gpu.slot
"""

EXAMPLES = r"""
- name: Show what holds a promotion back
  goldnode.gpu.promotion:
    state: explained
    pool: a10_serve

- name: Promote
  goldnode.gpu.promotion:
    state: promoted
    pool: a10_serve
  register: promotion
  failed_when: not promotion.promoted
"""

RETURN = r"""
release:
  description: The digest of the newest release.
  returned: success
  type: str
release_state:
  description: Its state.
  returned: success
  type: str
  sample: READY
risk:
  description: Its risk class.
  returned: success
  type: str
  sample: patch
promoted:
  description: Whether the release is promoted, now or before.
  returned: success
  type: bool
differences:
  description: What the release's lock changes against that of stable, each with about, words and needs; empty where there is no other stable.
  returned: success
  type: list
  elements: dict
needs:
  description: What the differences need of a node together, some of V(drain), V(reboot) and V(MIG layout again).
  returned: success
  type: list
  elements: str
guards:
  description: Each guard with id, name, state (V(met), V(unmet), V(not_applicable) or V(not built)), value, bound and needs.
  returned: success
  type: list
  elements: dict
outcome:
  description: V(pass) or V(blocked), as in C(result.json).
  returned: success
  type: str
screen:
  description: What was shown, line by line.
  returned: success
  type: list
  elements: str
"""
