#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Refuses a node to which the locked NVIDIA driver cannot come."""

from __future__ import annotations

DOCUMENTATION = r"""
module: driver_platform
short_description: Refuse a node to which the locked NVIDIA driver cannot come
version_added: "0.1.0"
description:
  - Fails with one sentence, before anything is changed, where the kind or branch of the driver does not serve a GPU of this node, where the fabric manager
    and the node's NVSwitches do not fit, where a driver of NVIDIA's .run installer, of the GPU operator's container or of other packages is there, where
    a process uses a GPU under another driver, where another file of modprobe.d contradicts the module's options, where Secure Boot is on and nothing would
    sign the modules that DKMS builds, and where the locked kernel has no headers to build them with (not in check mode, in which role C(kernel) has not
    installed them).
options:
  stack:
    description: The whole lock, as the variable C(goldnode_stack) holds it.
    type: dict
    required: true
  module_options:
    description: The options of the module nvidia that are to be set.
    type: dict
    default: {}
  signed:
    description: Whether a key of the user's signs the modules that DKMS builds.
    type: bool
    default: false
  drained:
    description: Whether the node is drained, so that processes that have a GPU open do not matter.
    type: bool
    default: false
  persistence:
    description: Whether the persistence daemon is wanted.
    type: bool
    default: true
  offline:
    description: Whether this is the root file system of an image, which says nothing about GPUs and firmware.
    type: bool
    default: false
  probe_args:
    description: The probe's arguments, as the variable C(goldnode_probe_args) holds them; C(--sysfs) names the sysfs root.
    type: list
    elements: str
    default: []
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
- name: Refuse a node to which the driver cannot come
  goldnode.gpu.driver_platform:
    stack: "{{ goldnode_stack }}"
"""

RETURN = r"""
secure_boot:
  description: Whether Secure Boot is on; false for an image.
  returned: success
  type: bool
services:
  description: The units of the daemons that the locked packages bring and that are wanted, in the order in which they start.
  returned: success
  type: list
  elements: str
  sample: [nvidia-persistenced]
unwanted_services:
  description: The units of daemons that the locked packages bring and that are not wanted.
  returned: success
  type: list
  elements: str
modprobe_text:
  description: The text of the file of modprobe.d that sets the options; empty where there are none.
  returned: success
  type: str
"""

from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.goldnode.gpu.plugins.module_utils import driver_fit, node_files, secure_boot
from ansible_collections.goldnode.gpu.plugins.module_utils.driver_services import DAEMONS, MONITORS, daemons_of, holders, holders_sentence
from ansible_collections.goldnode.gpu.plugins.module_utils.platforms import manager_of

# Where NVIDIA's .run installer puts what packages also have, and where it alone puts the module.
INSTALLER_FILES = (
    "usr/bin/nvidia-smi",
    "usr/lib/*/libcuda.so.*.*",
    "usr/lib64/libcuda.so.*.*",
    "usr/lib/*/libnvidia-ml.so.*.*",
    "usr/lib64/libnvidia-ml.so.*.*",
    "usr/lib/modules/*/kernel/drivers/video/nvidia.ko*",
)
OWN_MODPROBE = "/etc/modprobe.d/goldnode-nvidia.conf"
# Package manager -> how its database lists what is installed, and how it says whose a file is.
DATABASES = {
    "apt": (("dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${Package} ${Version} ${Architecture}\\n"), ("dpkg-query", "--search")),
    "dnf": (("rpm", "-qa"), ("rpm", "-qf")),
}


class Node:
    """What the objections are told of this node."""

    def __init__(self, module: AnsibleModule, root: Path = Path("/")) -> None:
        self.module, self.root = module, root
        self.manager = manager_of(module.params["stack"])
        self.sysfs = node_files.sysfs_of(module.params["probe_args"])

    def loaded(self) -> str | None:
        """The loaded driver; in an image nothing is."""
        return None if self.module.params["offline"] else node_files.loaded_driver(node_files.procfs_of(self.module.params["probe_args"]))

    def held(self) -> str:
        """Who has a GPU open, beside the daemons that the role pauses."""
        return holders_sentence(holders(but=[*(daemon.unit for daemon in DAEMONS), *MONITORS])) if self.loaded() else ""

    def packages(self) -> str:
        return self.module.run_command(list(DATABASES[self.manager][0]))[1]

    def owned(self, path: Path) -> bool:
        """Whether a package has a file; on a merged /usr a package may have it without /usr."""
        names = [str(path), str(path).replace("/usr/lib", "/lib", 1)]
        return any(self.module.run_command([*DATABASES[self.manager][1], name])[0] == 0 for name in names)

    def unowned(self) -> list[str]:
        files = [path for pattern in INSTALLER_FILES for path in sorted(self.root.glob(pattern)) if path.is_file() and not path.is_symlink()]
        return [str(path) for path in files if not self.owned(path)]

    def modprobe_files(self) -> dict[str, str]:
        files = [path for folder in ("etc", "run", "usr/lib") for path in (self.root / folder / "modprobe.d").glob("*.conf")]
        return {str(path): node_files.text_of(path) for path in files if str(path) != OWN_MODPROBE}


def unsigned_objection(secure: bool, signed: bool, build: str) -> str | None:
    if secure and build == "dkms" and not signed:
        return (
            "Secure Boot is on and the lock has modules that DKMS builds here, which nothing would sign; nothing was changed: give "
            "nvidia_driver_signing_key and nvidia_driver_signing_certificate, or pin nvidia_driver.build: prebuilt"
        )
    return None


def headers_objection(root: Path, kernel: str, build: str) -> str | None:
    if build == "dkms" and not (root / "lib/modules" / kernel / "build").exists():
        return (
            f"there are no headers of kernel {kernel} on this node (/lib/modules/{kernel}/build leads nowhere), without which DKMS builds no module; "
            "nothing was changed: apply role kernel first, or lock the kernel's headers"
        )
    return None


def objections(node: Node, secure: bool) -> list[str | None]:
    """In the order in which they matter."""
    params = node.module.params
    stack, offline, options = params["stack"], params["offline"], params["module_options"]
    pins, driver = stack["pins"], stack["pins"]["nvidia_driver"]
    names = [row["name"] for row in stack["packages"]]
    former = driver_fit.former_names(node_files.text_of(node.root / "etc/apt/preferences.d/goldnode-driver"))
    devices = {} if offline else node_files.pci_ids(node.sysfs)
    return [
        driver_fit.options_objection(options),
        driver_fit.gpu_objection(devices, driver["version"], driver["modules"]),
        driver_fit.switch_objection(devices, "fabric_manager" in pins),
        driver_fit.installer_objection(node.unowned(), (node.root / "usr/bin/nvidia-uninstall").exists(), (node.root / "run/nvidia/driver/usr").exists()),
        driver_fit.foreign_objection(node.packages(), node.manager, [*names, *former], driver["version"]),
        driver_fit.in_use_objection(node.loaded(), driver["version"], node.held(), params["drained"]),
        driver_fit.duplicate_objection(node.modprobe_files(), options),
        unsigned_objection(secure, params["signed"], driver["build"]),
        # role kernel brings the headers, in check mode it would
        None if node.module.check_mode else headers_objection(node.root, pins["kernel"]["version"], driver["build"]),
    ]


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "stack": {"type": "dict", "required": True},
            "module_options": {"type": "dict", "default": {}},
            "signed": {"type": "bool", "default": False},
            "drained": {"type": "bool", "default": False},
            "persistence": {"type": "bool", "default": True},
            "offline": {"type": "bool", "default": False},
            "probe_args": {"type": "list", "elements": "str", "default": []},
        },
        supports_check_mode=True,
    )
    node = Node(module)
    secure = not module.params["offline"] and secure_boot.is_on(node_files.efi_variables(node.sysfs))
    reason = next((one for one in objections(node, secure) if one), None)
    if reason:
        module.fail_json(msg=reason)
    names = [row["name"] for row in module.params["stack"]["packages"] if row["layer"] == "driver"]
    services = daemons_of(names, module.params["persistence"])
    module.exit_json(
        secure_boot=secure,
        services=services,
        unwanted_services=[unit for unit in daemons_of(names) if unit not in services],
        modprobe_text=driver_fit.modprobe_text(module.params["module_options"]),
    )


if __name__ == "__main__":
    main()
