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
  - With I(state=built) the module must exist for exactly that kernel, at the pinned version, of the pinned kind, and signed by I(certificate) where that is
    given; compressed files count. Where it is not proven, DKMS builds it; where that fails, the module fails with the line of the build log that decided.
  - With I(state=loaded) also the running kernel's module must be it, with I(options) in effect. A module that is not loaded is loaded; another one is
    unloaded first, if nothing uses it. Where another kernel runs, or the module is in use, I(reboot_required) is returned, and I(holders) who uses it.
  - Under Secure Boot it is neither loaded nor is a reboot offered unless the kernel will trust its signer.
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
  modules:
    description: The pinned kind of the module; without it either counts.
    type: str
    choices: [open, proprietary]
  state:
    description: How far to go.
    type: str
    choices: [built, loaded]
    default: loaded
  options:
    description: Options of the module that must be in effect, as the kernel's C(driver/nvidia/params) shows them; they are set in modprobe.d.
    type: dict
    default: {}
  certificate:
    description: DER file of the certificate that must have signed the module. DKMS is told the key by its own configuration.
    type: path
  secure_boot:
    description: Whether Secure Boot is on.
    type: bool
    default: false
  distribution:
    description: The distribution of the pins; its own signers are trusted under Secure Boot.
    type: str
    default: ""
  services:
    description: Units of the driver that hold the device open; they and monitors (DCGM, NVSM) are stopped while another module is unloaded.
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
  description: Whether only a reboot brings the node to the pinned module and its options.
  returned: success
  type: bool
flaw:
  description: What the module on disk is that it should not be (check mode only); empty where it is proven.
  returned: success
  type: str
  sample: it is version 550.163.01
settled:
  description: Whether the pinned module is loaded, with its options in effect.
  returned: success
  type: bool
ineffective:
  description: Options whose value in the loaded module is another one, with that value.
  returned: success
  type: str
  sample: NVreg_DeviceFileMode=438
holders:
  description: Who keeps the loaded module from being unloaded.
  returned: success
  type: str
  sample: python3 (4242)
signer:
  description: Who signed the module on disk; empty where nobody did, which only Secure Boot minds.
  returned: success
  type: str
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.goldnode.gpu.plugins.module_utils import node_files
from ansible_collections.goldnode.gpu.plugins.module_utils.nvidia_driver import Driver
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError


def prove_built(driver: Driver, check_mode: bool) -> bool:
    """Whether it had to be built; refuses where it cannot be."""
    if driver.flaw() is None:
        return False
    if check_mode:
        return True
    if driver.params["build"] != "dkms":
        raise RefusedError(driver.missing("its package brings no module of exactly this kernel"))
    driver.build()
    return True


def settle(driver: Driver, check_mode: bool) -> dict:
    changed = prove_built(driver, check_mode)
    if not check_mode:
        driver.refuse_unknown_options()
    reboot_required, held = False, ""
    if driver.params["state"] == "loaded" and not driver.settled():
        here = node_files.running_release(driver.procfs) == driver.wanted.kernel
        if not check_mode:
            driver.refuse_untrusted()
            held = driver.load() if here else driver.holders()
        changed = changed or (here and not held)
        reboot_required = not here if check_mode else not driver.settled()
    found = driver.modinfo()
    return {
        "changed": changed,
        "built_version": found.get("version"),
        "loaded_version": node_files.loaded_driver(driver.procfs),
        "reboot_required": reboot_required,
        "flaw": driver.flaw() or "",
        "settled": driver.settled(),
        "ineffective": ", ".join(f"{name}={value}" for name, value in sorted(driver.ineffective().items())),
        "holders": held,
        "signer": found.get("signer", ""),
    }


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "version": {"type": "str", "required": True},
            "kernel": {"type": "str", "required": True},
            "build": {"type": "str", "default": "dkms", "choices": ["dkms", "prebuilt"]},
            "modules": {"type": "str", "choices": ["open", "proprietary"]},
            "state": {"type": "str", "default": "loaded", "choices": ["built", "loaded"]},
            "options": {"type": "dict", "default": {}},
            "certificate": {"type": "path"},
            "secure_boot": {"type": "bool", "default": False},
            "distribution": {"type": "str", "default": ""},
            "services": {"type": "list", "elements": "str", "default": []},
            "probe_args": {"type": "list", "elements": "str", "default": []},
        },
        supports_check_mode=True,
    )
    try:
        result = settle(Driver(module.run_command, module.params), module.check_mode)
    except RefusedError as reason:
        module.fail_json(msg=str(reason))
    module.exit_json(**result)


if __name__ == "__main__":
    main()
