#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: device_nodes_check
short_description: Probe and judge the layer device nodes of this node
version_added: "0.1.0"
author: The goldnode founders (@goldnode)
description:
  - Presence, major and mode of /dev/nvidia*, the module nvidia_uvm, and the capability nodes of MIG devices.
  - Runs the probe in place for this layer alone and judges it on the node.
extends_documentation_fragment: goldnode.gpu.layer_check
"""

EXAMPLES = r"""
- name: Look at the layer device nodes as it is
  goldnode.gpu.device_nodes_check:

- name: Judge the layer device nodes against the release of this node
  goldnode.gpu.device_nodes_check:
    stack: "{{ goldnode_stack }}"
"""

RETURN = r"""
verdict:
  description: Of the layer, C(pass), C(fail), C(unknown) or C(not_applicable).
  returned: always
  type: str
first_broken_layer:
  description: The layer, if it is broken.
  returned: always
  type: str
rung:
  description: How real the GPU behind the evidence is, C(captured), C(simulated), C(booted) or C(hardware).
  returned: always
  type: str
layers:
  description: The layer with its verdict.
  returned: always
  type: dict
findings:
  description: One judged statement for each rule, with rule, verdict, expected, observed, evidence, cause and remedy.
  returned: always
  type: list
  elements: dict
evidence:
  description: The bundle that was judged, docs/evidence.md.
  returned: always
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.goldnode.gpu.plugins.module_utils.layer_check import ARGUMENT_SPEC, check


def main() -> None:
    check(AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True), "device_nodes")


if __name__ == "__main__":
    main()
