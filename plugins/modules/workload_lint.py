# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: workload_lint
short_description: Find wrong GPU requests in Compose files and Kubernetes manifests
version_added: "0.1.0"
author: The goldnode founders (@goldnode)
description:
  - Reads a file, or each C(.yml), C(.yaml) and C(.json) file below a directory, on the controller.
  - Judges each container that uses a GPU by the rules C(workload.*).
  - A file that cannot be read gets one sentence and makes the outcome C(inconclusive) where nothing fails; the others are judged.
options:
  path:
    description: A Compose file, a Kubernetes manifest (several documents, rendered by Helm), or a directory of them.
    type: path
    required: true
  report_dir:
    description: Directory on the controller for C(result.json) and C(page.txt).
    type: path
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
- name: Judge the GPU requests of a service
  goldnode.gpu.workload_lint:
    path: /srv/app/compose.yml
    report_dir: /var/lib/goldnode/reports/lint_workload/2026-11-30T21:04:10Z
  register: __lint
"""

RETURN = r"""
outcome:
  description: C(pass), C(fail) (a rule of severity error) or C(inconclusive) (a file could not be judged).
  returned: success
  type: str
lines:
  description: The readable page.
  returned: success
  type: list
  elements: str
result:
  description: What result.json holds, schema C(goldnode.workload/v1).
  returned: success
  type: dict
"""
