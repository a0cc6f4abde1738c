#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The CDI spec of the loaded driver."""

from __future__ import annotations

DOCUMENTATION = r"""
module: cdi_spec
short_description: Make sure that the CDI spec is that of the loaded driver
version_added: "0.1.0"
description:
  - The spec must exist and describe the node as it is. Its libraries are there and of the loaded driver, its device nodes are there with the same
    major and minor, and it offers each GPU, or each MIG device of a GPU that is cut into some. Where it does not, the unit that writes it is
    started, and the spec is looked at again.
  - Where no driver is loaded there is nothing to describe; the unit does it at the boot that loads one.
options:
  unit:
    description: The unit that writes the spec.
    type: str
    required: true
  path:
    description: The spec.
    type: path
    default: /var/run/cdi/nvidia.yaml
  probe_args:
    description: The probe's arguments, as the variable C(goldnode_probe_args) holds them; C(--procfs) names the procfs root.
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    support: full
    description: Starts nothing.
  diff_mode:
    support: none
    description: The spec is the toolkit's to write.
  platform:
    support: full
    description: Linux with systemd.
    platforms: linux
author:
  - The goldnode founders (@goldnode)
"""

EXAMPLES = r"""
- name: Describe the loaded driver
  goldnode.gpu.cdi_spec:
    unit: nvidia-cdi-refresh.service
"""

RETURN = r"""
reason:
  description: What the spec said that was not so; null where it described the node.
  returned: success
  type: str
  sample: "it is not of driver 580.159.03: it names 550.163.01"
driver:
  description: Version of the loaded driver; null where none is loaded.
  returned: success
  type: str
  sample: 550.163.01
devices:
  description: Names of the devices in the spec.
  returned: success
  type: list
  elements: str
  sample: ["0", all]
"""

import os
import stat
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.goldnode.gpu.plugins.module_utils import cdi_state, node_files
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.cdi import CdiSpec, cdi_spec, library_paths


def device_nodes() -> dict[str, cdi_state.Numbers]:
    """The character devices of NVIDIA's below /dev, with their numbers."""
    found = {}
    for path in [*Path("/dev").glob("nvidia*"), *Path("/dev/nvidia-caps").glob("*"), *Path("/dev/nvidia-caps-imex-channels").glob("*")]:
        status = path.stat()
        if stat.S_ISCHR(status.st_mode):
            found[str(path)] = (os.major(status.st_rdev), os.minor(status.st_rdev))
    return found


def look(module: AnsibleModule, path: Path, driver: str) -> tuple[CdiSpec, str | None]:
    """The spec as it is now, and what in it is not so."""
    text = node_files.text_of(path)
    rc, listing, _err = module.run_command(["nvidia-smi", "-L"])
    devices = cdi_state.device_names(listing) if rc == 0 else []
    missing = [library for library in library_paths(text) if not Path(library).exists()]
    spec = cdi_spec(str(path), text)
    return spec, cdi_state.stale(spec, cdi_state.Host(driver, device_nodes(), devices, missing))


def refresh(module: AnsibleModule, path: Path, driver: str) -> CdiSpec:
    """Starts the unit; fails with its own words where the spec is not the node's afterwards."""
    unit = module.params["unit"]
    # A unit that has just run at boot may have reached its start limit; a refused start would read like a broken toolkit.
    module.run_command(["systemctl", "reset-failed", unit])
    _rc, _out, stderr = module.run_command(["systemctl", "restart", unit])
    spec, reason = look(module, path, driver)
    if reason:
        words = module.run_command(["journalctl", f"--unit={unit}", "--lines=1", "--output=cat", "--no-pager"])[1]
        module.fail_json(msg=f"{unit} ran, and {path} still does not describe driver {driver} as it is: {reason}; the unit said: {(words or stderr).strip()}")
    return spec


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "unit": {"type": "str", "required": True},
            "path": {"type": "path", "default": "/var/run/cdi/nvidia.yaml"},
            "probe_args": {"type": "list", "elements": "str", "default": []},
        },
        supports_check_mode=True,
    )
    path, driver = Path(module.params["path"]), node_files.loaded_driver(node_files.procfs_of(module.params["probe_args"]))
    if driver is None:
        module.exit_json(changed=False, driver=None, devices=[], reason=None)
    spec, reason = look(module, path, driver)
    if reason and not module.check_mode:
        spec = refresh(module, path, driver)
    module.exit_json(changed=reason is not None, driver=driver, devices=list(spec.devices), reason=reason)


if __name__ == "__main__":
    main()
