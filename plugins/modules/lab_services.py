#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action lab_services."""

from __future__ import annotations

DOCUMENTATION = r"""
module: lab_services
short_description: The servers of a lab for apt repositories and container images
version_added: "0.1.0"
description:
  - Starts an HTTP server for the repositories (port 80) and a container registry with TLS (port 5000) on the hub address, if they do not answer.
  - They run in control groups of the lab and end with it.
  - Runs on the controller, whatever host the task is for, and needs root.
options:
  state_dir:
    description: The lab's state directory, C(goldnode_state_dir).
    type: path
    required: true
author:
  - The goldnode founders (@goldnode)
attributes:
  check_mode:
    description: Can run in check mode and say what would be done.
    support: none
  diff_mode:
    description: Can show the difference.
    support: none
"""

EXAMPLES = r"""
- name: Start the repositories and the registry
  goldnode.gpu.lab_services:
    state_dir: /var/lib/goldnode-lab/3f9a1c
"""

RETURN = r"""
started:
  description: Those that were started.
  type: list
  elements: str
  returned: success
  sample: [http, registry]
seconds:
  description: How long it took.
  type: float
  returned: success
  sample: 1.8
"""
