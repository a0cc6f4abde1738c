# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: diagnosis
short_description: Judge evidence bundles in files, without any node
version_added: "0.1.0"
author: The goldnode founders (@goldnode)
description:
  - Judges each C(<stem>.evidence.yml) or C(<stem>.evidence.json) as a live node would be judged, and writes C(<stem>.diagnosis.json) with
    C(verdict), C(first_broken_layer), C(summary) and C(findings).
  - Writes one readable C(page.txt) beside them, and C(page.txt), C(result.json) and C(junit.xml) into the report's directory.
  - A bundle that cannot be read is listed with its reason; the others are judged all the same.
  - Runs on the controller. Never fails on a verdict.
options:
  evidence_path:
    description: A bundle, or a directory with bundles.
    type: path
    required: true
  diagnosis_path:
    description: Directory for the diagnoses; made if it is not there.
    type: path
    required: true
  report_dir:
    description: Directory for the result.
    type: path
    required: true
  started_at:
    description: When the diagnosis began, UTC, as C(2026-11-30T21:04:10Z).
    type: str
    required: true
  stack:
    description: The lock to judge against (C(goldnode_stack)); without it nothing is pinned.
    type: dict
attributes:
  check_mode:
    description: Writes its files in check mode too, since nothing else changes.
    support: full
  diff_mode:
    description: There is nothing to compare with.
    support: none
"""

EXAMPLES = r"""
- name: Judge captured bundles
  goldnode.gpu.diagnosis:
    evidence_path: bundles
    diagnosis_path: diagnoses
    report_dir: diagnoses
    started_at: "2026-11-30T21:04:10Z"
  register: __diagnosis
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
"""
