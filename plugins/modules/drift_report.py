#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action drift_report."""

from __future__ import annotations

DOCUMENTATION = r"""
module: drift_report
short_description: Say how nodes differ from their release, and what moved them
version_added: "0.1.0"
description:
  - Compares evidence with a lock, both ways, and writes C(result.json), C(page.txt) and C(goldnode_drift.prom) (Prometheus' text format).
  - A difference is a locked package that is missing, of another version or no longer held, a package of an owned family that the lock has not, an edited,
    removed or added configuration file or package source, another kernel, module, engine, cgroup version or number of GPUs, a CDI specification that does not
    fit the driver, a pending reboot, another release. Where apt's log knows which transaction moved a package, it is named.
  - A node that could not be seen whole is V(unknown), never golden.
options:
  nodes:
    description: Nodes whose registered evidence is compared.
    type: list
    elements: str
  register:
    description: The variable that holds what M(goldnode.gpu.node_check) registered on them. Needed with O(nodes).
    type: str
  wanted:
    description: The variable that holds on each node C({stack, release}), what it should be. Needed with O(nodes).
    type: str
  pool:
    description: The pool's name for the report. Needed with O(nodes).
    type: str
  evidence_path:
    description: In place of O(nodes), a bundle or a directory of bundles.
    type: path
  lock_file:
    description: The lock that bundles are compared with. Needed with O(evidence_path).
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
  - module: goldnode.gpu.node_check
  - module: goldnode.gpu.configuration_record
"""

EXAMPLES = r"""
- name: Compare bundles with a lock
  goldnode.gpu.drift_report:
    evidence_path: /srv/bundles
    lock_file: inventories/example/locks/a10_serve.lock.yml
    report_dir: /var/lib/goldnode/reports/detect_drift/today
"""

RETURN = r"""
outcome:
  description: V(fail) where a node drifted, V(inconclusive) where one could not be seen whole, V(pass) if all are golden.
  returned: success
  type: str
lines:
  description: The page.
  returned: success
  type: list
  elements: str
result:
  description: As in C(result.json) (C(goldnode.detect_drift/v1)).
  returned: success
  type: dict
  contains:
    count:
      description: How many nodes are V(drifted), V(unknown) and V(golden).
      type: dict
    nodes:
      description: Each node with state, release, differences (kind, subject, expected, observed, moved_by) and unseen.
      type: dict
"""
