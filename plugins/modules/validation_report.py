# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: validation_report
short_description: Write the result of a validation, and say it in words
version_added: "0.1.0"
author: The goldnode founders (@goldnode)
description:
  - Gathers what M(goldnode.gpu.node_check) registered on each node and writes C(result.json), C(junit.xml) and C(page.txt) on the controller.
  - A node that did not answer is listed with its reason and makes the outcome C(inconclusive); no answer is never a pass.
options:
  pool:
    description: Name of the pool.
    type: str
    required: true
  nodes:
    description: The nodes that had to answer.
    type: list
    elements: str
    required: true
  register:
    description: Name of the variable into which the nodes' C(node_check) was registered.
    type: str
    required: true
  report_dir:
    description: Directory on the controller for the three files.
    type: path
    required: true
  started_at:
    description: When the validation began, UTC, as C(2026-11-30T21:04:10Z).
    type: str
    required: true
attributes:
  check_mode:
    description: Writes its report in check mode too, since nothing but the report changes.
    support: full
  diff_mode:
    description: There is nothing to compare with.
    support: none
"""

EXAMPLES = r"""
- name: Write the report
  goldnode.gpu.validation_report:
    pool: lab_a10
    nodes: "{{ groups['lab_a10'] }}"
    register: __node_check
    report_dir: /var/lib/goldnode/reports/validate_nodes/2026-11-30T21:04:10Z
    started_at: "2026-11-30T21:04:10Z"
  register: __report
"""

RETURN = r"""
outcome:
  description: C(pass), C(fail) or C(inconclusive).
  returned: success
  type: str
lines:
  description: The readable page.
  returned: success
  type: list
  elements: str
result:
  description: What result.json holds, schema C(goldnode.validation/v1).
  returned: success
  type: dict
"""
