# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: evidence_collection
short_description: Write the evidence bundles of nodes, fit for a bug report
version_added: "0.1.0"
author: The goldnode founders (@goldnode)
description:
  - Writes the bundle that M(goldnode.gpu.node_check) registered on each node as C(<node>.evidence.json), and C(result.json) and C(page.txt),
    which say which bundle is of which node.
  - By default each identifier (host, user, address, UUID, serial, container id, domain) becomes a neutral value, the same one in all bundles, also in
    the names of the files. The judgement of a bundle is the same before and after.
  - Runs on the controller.
options:
  nodes:
    description: The nodes that had to answer.
    type: list
    elements: str
    required: true
  register:
    description: Name of the variable into which the nodes' C(node_check) was registered.
    type: str
    required: true
  collection_path:
    description: Directory for the bundles; made if it is not there.
    type: path
    required: true
  report_dir:
    description: Directory for C(result.json) and C(page.txt).
    type: path
    required: true
  started_at:
    description: When the collection began, UTC, as C(2026-11-30T21:04:10Z).
    type: str
    required: true
  keep_identifiers:
    description: Leave the identifiers as they are. Secrets are cut by the probe in any case.
    type: bool
    default: false
attributes:
  check_mode:
    description: Writes its files in check mode too, since nothing else changes.
    support: full
  diff_mode:
    description: There is nothing to compare with.
    support: none
"""

EXAMPLES = r"""
- name: Keep the bundles
  goldnode.gpu.evidence_collection:
    nodes: "{{ groups['lab_a10'] }}"
    register: __node_check
    collection_path: /tmp/bundles
    report_dir: /tmp/report
    started_at: "2026-11-30T21:04:10Z"
"""

RETURN = r"""
outcome:
  description: C(pass) if every node answered, else C(inconclusive).
  returned: success
  type: str
lines:
  description: The readable page.
  returned: success
  type: list
  elements: str
result:
  description: What result.json holds, schema C(goldnode.collection/v1).
  returned: success
  type: dict
"""
