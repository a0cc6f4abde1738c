#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Seals the root file system of an image, or checks its seal."""

from __future__ import annotations

DOCUMENTATION = r"""
module: image_seal
short_description: Remove from a root file system what belongs to one machine, or check that it is not there
version_added: "0.1.0"
description:
  - Works on the directory of a root file system that is not running. No link in it is followed.
  - The items are the machine id (also that of D-Bus), SSH host keys, host name, resolver, random seed, credential secret, cloud-init state, DHCP leases,
    network secrets, NVMe and iSCSI names, logs, histories, credentials of users and of the system, temporary files, crash dumps, apt lists and caches,
    container data, swap, the private keys that sign kernel modules, DKMS build trees, and what the builder left.
options:
  root:
    description: The directory of the root file system. Never C(/).
    type: path
    required: true
  state:
    description:
      - V(sealed) removes or resets what should not be there, and fails if something still is afterwards.
      - V(checked) changes nothing and returns the violations.
    type: str
    choices: [sealed, checked]
    default: sealed
author:
  - The goldnode founders (@goldnode)
attributes:
  check_mode:
    description: Can run in check mode and say what would be done.
    support: full
  diff_mode:
    description: Can show the difference.
    support: none
"""

EXAMPLES = r"""
- name: Seal a root file system
  goldnode.gpu.image_seal:
    root: /srv/builder/root

- name: Check the seal of an unpacked image
  goldnode.gpu.image_seal:
    root: /srv/unpacked
    state: checked
  register: seal
"""

RETURN = r"""
violations:
  description: What was found that a sealed image must not have; with O(state=sealed) it was removed or reset.
  returned: always
  type: list
  elements: dict
  contains:
    item:
      description: The item of the seal list.
      type: str
      sample: ssh host keys
    path:
      description: The path below O(root).
      type: str
      sample: etc/ssh/ssh_host_ed25519_key
    observed:
      description: What is wrong with it.
      type: str
      sample: is there
"""

from dataclasses import asdict
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.goldnode.gpu.plugins.module_utils.seal import seal, violations


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "required": True},
            "state": {"type": "str", "choices": ["sealed", "checked"], "default": "sealed"},
        },
        supports_check_mode=True,
    )
    root = Path(module.params["root"]).resolve()
    if root == Path("/") or not (root / "etc").is_dir():
        module.fail_json(msg=f"{root} is no root file system that can be sealed; expected a directory other than / with etc in it, such as build_image makes")
    changing = module.params["state"] == "sealed" and not module.check_mode
    found = seal(root) if changing else violations(root)
    left = violations(root) if changing else []
    if left:
        module.fail_json(msg=f"the seal of {root} could not be made: {left[0].path} {left[0].observed} ({left[0].item}); look who writes it")
    module.exit_json(changed=module.params["state"] == "sealed" and bool(found), violations=[asdict(violation) for violation in found])


if __name__ == "__main__":
    main()
