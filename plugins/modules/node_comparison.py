# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: node_comparison
short_description: Compare a good and a bad node layer by layer
version_added: "0.1.0"
author: The goldnode founders (@goldnode)
description:
  - Lists what differs between two nodes by layer, versions first, and what fails on the bad one alone; writes C(result.json) and C(page.txt).
  - Leaves out what differs between any two nodes, such as addresses, UUIDs, times and counters, and what was seen on one of them only.
  - Runs on the controller.
options:
  good:
    description: A node of the inventory, or the path of a bundle.
    type: str
    required: true
  bad:
    description: A node of the inventory, or the path of a bundle.
    type: str
    required: true
  register:
    description: Name of the variable into which M(goldnode.gpu.node_check) was registered on those that are nodes.
    type: str
    required: true
  report_dir:
    description: Directory for the result.
    type: path
    required: true
  started_at:
    description: When the comparison began, UTC, as C(2026-11-30T21:04:10Z).
    type: str
    required: true
attributes:
  check_mode:
    description: Writes its report in check mode too, since nothing else changes.
    support: full
  diff_mode:
    description: There is nothing to compare with.
    support: none
"""

EXAMPLES = r"""
- name: Compare a captured bundle with a good one
  goldnode.gpu.node_comparison:
    good: bundles/node-1.evidence.json
    bad: bundles/node-2.evidence.json
    register: __node_check
    report_dir: /tmp/report
    started_at: "2026-11-30T21:04:10Z"
"""

RETURN = r"""
outcome:
  description: C(pass) if nothing differs, C(fail) if something does, C(inconclusive) if not all was seen on both.
  returned: success
  type: str
lines:
  description: The readable page.
  returned: success
  type: list
  elements: str
result:
  description: What result.json holds, schema C(goldnode.comparison/v1).
  returned: success
  type: dict
"""
