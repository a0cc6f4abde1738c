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
  - The spec must exist, name at least one device, and name libraries of the loaded driver's version. Where it does not, the unit that
    writes it is started, and the spec is looked at again.
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

from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.goldnode.gpu.plugins.module_utils import node_files
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.cdi import CdiSpec, cdi_spec


def describes(spec: CdiSpec, driver: str) -> bool:
    """Whether the spec has devices and no library of another driver."""
    return bool(spec.devices) and spec.driver_versions <= {driver}


def refresh(module: AnsibleModule, path: Path, driver: str) -> CdiSpec:
    """Starts the unit; fails with its own words where the spec is not the driver's afterwards."""
    unit = module.params["unit"]
    # A unit that has just run at boot may have reached its start limit; a refused start would read like a broken toolkit.
    module.run_command(["systemctl", "reset-failed", unit])
    _rc, _out, stderr = module.run_command(["systemctl", "restart", unit])
    spec = cdi_spec(str(path), node_files.text_of(path))
    if not describes(spec, driver):
        words = module.run_command(["journalctl", f"--unit={unit}", "--lines=1", "--output=cat", "--no-pager"])[1]
        module.fail_json(msg=f"{unit} ran, and {path} still does not describe driver {driver}: {(words or stderr).strip()}")
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
    spec = cdi_spec(str(path), node_files.text_of(path))
    stale = driver is not None and not describes(spec, driver)
    if driver is not None and stale and not module.check_mode:
        spec = refresh(module, path, driver)
    module.exit_json(changed=stale, driver=driver, devices=list(spec.devices))


if __name__ == "__main__":
    main()
