#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Refuses a node on which the roles or the stack cannot work."""

from __future__ import annotations

DOCUMENTATION = r"""
module: stack_platform
short_description: Refuse a node that is not of the stack's platform
version_added: "0.1.0"
description:
  - Fails with one sentence unless the node is the distribution, release and architecture that the lock was resolved for, and one on
    which the roles of this collection install packages (Debian, Ubuntu, RHEL, Rocky Linux, AlmaLinux, Amazon Linux).
  - ansible-core itself refuses a node whose Python is older than 3.8.
options:
  stack:
    description: The whole lock, as the variable C(goldnode_stack) holds it.
    type: dict
    required: true
attributes:
  check_mode:
    support: full
    description: Changes nothing.
  diff_mode:
    support: N/A
    description: Changes nothing.
  platform:
    support: full
    description: Linux.
    platforms: linux
author:
  - The goldnode founders (@goldnode)
"""

EXAMPLES = r"""
- name: Refuse a node that the stack is not for
  goldnode.gpu.stack_platform:
    stack: "{{ goldnode_stack }}"
"""

RETURN = r"""
platform:
  description: What the node is.
  returned: always
  type: str
  sample: debian 13 x86_64
"""

import platform
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.goldnode.gpu.plugins.module_utils.node_files import text_of
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.linux import key_values
from ansible_collections.goldnode.gpu.plugins.module_utils.platforms import distribution_of, objection


def main() -> None:
    module = AnsibleModule(argument_spec={"stack": {"type": "dict", "required": True}}, supports_check_mode=True)
    system = key_values(text_of(Path("/etc/os-release")))
    node = {"distribution": distribution_of(system.get("ID", "")), "release": system.get("VERSION_ID", ""), "arch": platform.machine()}
    reason = objection(node, module.params["stack"])
    if reason:
        module.fail_json(msg=reason, platform=" ".join(node.values()))
    module.exit_json(platform=" ".join(node.values()))


if __name__ == "__main__":
    main()
