#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Writes the manifest of an image into its root file system, or checks the one that is there."""

from __future__ import annotations

DOCUMENTATION = r"""
module: image_manifest
short_description: Read back what is installed in the root file system of an image and compare it with the lock
version_added: "0.1.0"
description:
  - Asks dpkg and modinfo about the directory of a root file system that is not running, and sets what they say beside what the lock says.
  - Fails, and writes nothing, if anything verified is not what is expected.
options:
  root:
    description: The directory of the root file system.
    type: path
    required: true
  stack:
    description: The lock, C(goldnode_stack). Needed with O(state=present); O(state=checked) takes what the manifest expects.
    type: dict
  source:
    description: What the recipe came from, C(commit) and C(dirty), to be written into the manifest.
    type: dict
    default: {}
  state:
    description:
      - V(present) writes C(/etc/goldnode/manifest.json) below O(root).
      - V(checked) writes nothing, and fails if the manifest that is there is not what is read back now.
    type: str
    choices: [present, checked]
    default: present
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
- name: Write the manifest
  goldnode.gpu.image_manifest:
    root: /srv/builder/root
    stack: "{{ goldnode_stack }}"
    source:
      commit: 0123456789abcdef0123456789abcdef01234567
      dirty: false

- name: Check the manifest of an unpacked image
  goldnode.gpu.image_manifest:
    root: /srv/unpacked
    state: checked
"""

RETURN = r"""
manifest:
  description: The manifest (C(goldnode.manifest/v1)), expected and verified for the kernel, each owned package and each module.
  returned: success
  type: dict
differences:
  description: What is verified other than expected, a clause each.
  returned: failure
  type: list
  elements: str
"""

import json
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.goldnode.gpu.plugins.module_utils import configuration
from ansible_collections.goldnode.gpu.plugins.module_utils.manifest import SCHEMA, differences, manifest, module_facts, stack_of
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.dpkg import FORMAT, parse_installed

PATH = "etc/goldnode/manifest.json"
# The image's own boot menu is replaced on the first boot of a node, so it is no part of a node's record.
CONFIGURATION = ("boot/grub/grub.cfg", *configuration.CONFIGURATION)


def _packages(module: AnsibleModule, root: Path) -> str:
    _, output, _ = module.run_command(["dpkg-query", f"--admindir={root}/var/lib/dpkg", "--show", f"--showformat={FORMAT}"], check_rc=True)
    return str(output)


def _kernels(root: Path) -> list[str]:
    return sorted(path.name for path in root.glob("lib/modules/*") if (root / "boot" / f"vmlinuz-{path.name}").exists())


def _modules(module: AnsibleModule, root: Path, kernel: str) -> dict[str, dict[str, Any]]:
    """Facts by module name. The root's own modinfo reads them: the controller may have none, or one that cannot decompress them."""
    files = {path.name.split(".")[0]: path.relative_to(root) for path in (root / "lib/modules" / kernel).rglob("nvidia*.ko*")}
    return {name: module_facts(module.run_command(["chroot", str(root), "modinfo", f"/{path}"], check_rc=True)[1]) for name, path in files.items()}


def _read_back(module: AnsibleModule, root: Path, stack: dict[str, Any], source: dict[str, Any]) -> dict[str, Any]:
    """The manifest of what is there now; fails if that is not what the lock says."""
    modules = _modules(module, root, stack["pins"]["kernel"]["version"])
    made = manifest(stack, parse_installed(_packages(module, root)), _kernels(root), modules, configuration.digests(root, CONFIGURATION), source)
    found = differences(made)
    if found:
        module.fail_json(msg=f"the image differs from the lock of pool {made['pool']}: {'; '.join(found)}", differences=found)
    return made


def _check(module: AnsibleModule, root: Path, there: dict[str, Any]) -> None:
    if there.get("schema") != SCHEMA:
        module.fail_json(msg=f"{root} has no /{PATH} of schema {SCHEMA}; it is no image that build_image made")
    made = _read_back(module, root, stack_of(there), there["source"])
    changed = sorted(key for key in {*made, *there} if there.get(key) != made.get(key))
    if changed:
        module.fail_json(msg=f"/{PATH} does not say what is in the image: {', '.join(changed)} differ; build the image again", differences=changed)
    module.exit_json(changed=False, manifest=there)


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "required": True},
            "stack": {"type": "dict"},
            "source": {"type": "dict", "default": {}},
            "state": {"type": "str", "choices": ["present", "checked"], "default": "present"},
        },
        required_if=[("state", "present", ["stack"])],
        supports_check_mode=True,
    )
    root = Path(module.params["root"])
    path = root / PATH
    there = json.loads(path.read_text()) if path.is_file() else {}
    if module.params["state"] == "checked":
        _check(module, root, there)
    made = _read_back(module, root, module.params["stack"], module.params["source"])
    if there != made and not module.check_mode:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(made, indent=2, sort_keys=True) + "\n")
    module.exit_json(changed=there != made, manifest=made)


if __name__ == "__main__":
    main()
