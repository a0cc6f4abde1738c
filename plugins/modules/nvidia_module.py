#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""NVIDIA's kernel module: built for the locked kernel, and loaded where that kernel runs."""

from __future__ import annotations

DOCUMENTATION = r"""
module: nvidia_module
short_description: Prove NVIDIA's kernel module for a kernel, and load it
version_added: "0.1.0"
description:
  - With I(state=built) the module must exist for the kernel at the pinned version. Where it does not, DKMS builds it; where that
    fails, the module fails with the line of the build log that decided.
  - With I(state=loaded) also the running kernel's module must be it. A module that is not loaded is loaded; another version is
    unloaded first, if nothing uses it. Where another kernel runs, or the module is in use, I(reboot_required) is returned.
options:
  version:
    description: The pinned version of the driver.
    type: str
    required: true
  kernel:
    description: The release of the locked kernel, which need not be the running one.
    type: str
    required: true
  build:
    description: Whether DKMS builds the module or a package brings it.
    type: str
    choices: [dkms, prebuilt]
    default: dkms
  state:
    description: How far to go.
    type: str
    choices: [built, loaded]
    default: loaded
  services:
    description: Units that hold the device open; they are stopped while another version is unloaded, and started again.
    type: list
    elements: str
    default: []
  probe_args:
    description: The probe's arguments, as the variable C(goldnode_probe_args) holds them; C(--procfs) names the procfs root.
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    support: full
    description: Builds, loads and unloads nothing.
  diff_mode:
    support: none
    description: There is no text to compare.
  platform:
    support: full
    description: Linux.
    platforms: linux
author:
  - The goldnode founders (@goldnode)
"""

EXAMPLES = r"""
- name: Prove the module for the locked kernel
  goldnode.gpu.nvidia_module:
    state: built
    version: "{{ goldnode_stack.pins.nvidia_driver.version }}"
    kernel: "{{ goldnode_stack.pins.kernel.version }}"
"""

RETURN = r"""
built_version:
  description: Version of the module on disk for the kernel; null where there is none (check mode only).
  returned: success
  type: str
  sample: 550.163.01
loaded_version:
  description: Version of the loaded module; null where none is loaded.
  returned: success
  type: str
  sample: 550.163.01
reboot_required:
  description: Whether only a reboot brings the node to the pinned module.
  returned: success
  type: bool
"""

from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.goldnode.gpu.plugins.module_utils import kernel_module, node_files
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError


class Driver:
    """The module's tools on this node, for one kernel and version."""

    def __init__(self, module: AnsibleModule) -> None:
        self.module = module
        self.version, self.kernel = module.params["version"], module.params["kernel"]
        self.procfs = node_files.procfs_of(module.params["probe_args"])

    def built(self) -> str | None:
        """The version of the module on disk; Debian's file has a name of its own."""
        for name in kernel_module.FILE_NAMES:
            rc, stdout, _err = self.module.run_command(["modinfo", "--set-version", self.kernel, "--field", "version", name])
            if rc == 0:
                return stdout.strip()
        return None

    def build(self) -> None:
        _rc, stdout, stderr = self.module.run_command(["dkms", "autoinstall", "--kernelver", self.kernel])
        if self.built() != self.version:
            logs = [node_files.text_of(path) for path in sorted(Path("/var/lib/dkms").glob(f"*nvidia*/{self.version}*/build/make.log"))]
            raise RefusedError(self.missing(kernel_module.deciding_line("\n".join([*logs, stdout, stderr]))))

    def missing(self, reason: str) -> str:
        return (
            f"there is no NVIDIA module {self.version} for kernel {self.kernel} (found: {self.built() or 'none'}): {reason}; "
            "pin a driver that supports this kernel, or a kernel that it supports"
        )

    def loaded(self) -> str | None:
        return node_files.loaded_driver(self.procfs)

    def load(self, services: list[str]) -> bool:
        """Whether the pinned module is loaded in the end; another version goes first, unless something uses it."""
        if self.loaded():
            self.unload(services)
        # nvidia-modprobe also makes the device nodes; Ubuntu's server packages only recommend it.
        if not self.loaded():
            self.module.run_command(["nvidia-modprobe"] if self.module.get_bin_path("nvidia-modprobe") else ["modprobe", "nvidia"])
        for service in services:
            self.module.run_command(["systemctl", "start", service])
        return self.loaded() == self.version

    def unload(self, services: list[str]) -> None:
        for service in services:
            self.module.run_command(["systemctl", "stop", service])
        for name in kernel_module.loaded_names(node_files.text_of(self.procfs / "modules")):
            self.module.run_command(["modprobe", "--remove", name])


def prove_built(driver: Driver, check_mode: bool, dkms: bool) -> bool:
    """Whether it had to be built; refuses where it cannot be."""
    if driver.built() == driver.version:
        return False
    if check_mode:
        return True
    if not dkms:
        raise RefusedError(driver.missing("its package brings it prebuilt for another kernel"))
    driver.build()
    return True


def settle(driver: Driver, module: AnsibleModule) -> dict:
    changed = prove_built(driver, module.check_mode, module.params["build"] == "dkms")
    reboot_required = False
    if module.params["state"] == "loaded" and driver.loaded() != driver.version:
        here = node_files.running_release(driver.procfs) == driver.kernel
        changed = changed or here
        reboot_required = not here or (not module.check_mode and not driver.load(module.params["services"]))
    return {"changed": changed, "built_version": driver.built(), "loaded_version": driver.loaded(), "reboot_required": reboot_required}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "version": {"type": "str", "required": True},
            "kernel": {"type": "str", "required": True},
            "build": {"type": "str", "default": "dkms", "choices": ["dkms", "prebuilt"]},
            "state": {"type": "str", "default": "loaded", "choices": ["built", "loaded"]},
            "services": {"type": "list", "elements": "str", "default": []},
            "probe_args": {"type": "list", "elements": "str", "default": []},
        },
        supports_check_mode=True,
    )
    try:
        result = settle(Driver(module), module)
    except RefusedError as reason:
        module.fail_json(msg=str(reason))
    module.exit_json(**result)


if __name__ == "__main__":
    main()
