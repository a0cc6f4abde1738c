#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which kernel runs, which boots next, which are installed."""

from __future__ import annotations

DOCUMENTATION = r"""
module: kernel_info
short_description: Read which kernel runs, which boots next and which are installed
version_added: "0.1.0"
description:
  - Reads the running release from procfs, the boot default from the C(grub.cfg) that C(update-grub) wrote, the images in C(/boot).
options:
  probe_args:
    description: The probe's arguments, as the variable C(goldnode_probe_args) holds them; C(--procfs) names the procfs root.
    type: list
    elements: str
    default: []
  release:
    description: The kernel that RV(boot_choice), RV(boot_needed) and RV(boot_free) are asked for.
    type: str
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
    description: Linux with GRUB.
    platforms: linux
author:
  - The goldnode founders (@goldnode)
"""

EXAMPLES = r"""
- name: Ask which kernel runs
  goldnode.gpu.kernel_info:
    probe_args: "{{ goldnode_probe_args }}"
    release: "{{ goldnode_stack.pins.kernel.version }}"
  register: kernel
"""

RETURN = r"""
running:
  description: Release of the running kernel; empty where procfs does not say it.
  returned: success
  type: str
  sample: 6.12.117+deb13-amd64
boot_default:
  description: Release that the next boot starts; null where the boot loader's configuration does not say it.
  returned: success
  type: str
  sample: 6.12.117+deb13-amd64
boot_choice:
  description:
    - What C(GRUB_DEFAULT) must say so that O(release) starts whatever kernel is installed later.
    - Null where the boot menu has no entry that is bound to it.
  returned: success
  type: str
  sample: gnulinux-advanced-5c1d>gnulinux-6.1.0-44-amd64-advanced-5c1d
boot_needed:
  description: Bytes that O(release) will take in C(/boot), judged by the largest kernel there with its initial RAM disk; 0 where it is there.
  returned: success
  type: int
  sample: 71303168
boot_free:
  description: Bytes that are free in C(/boot).
  returned: success
  type: int
  sample: 412876800
boot_unmounted:
  description: Whether C(/etc/fstab) wants a file system at C(/boot) that is not mounted.
  returned: success
  type: bool
  sample: false
installed:
  description: Releases with an image in C(/boot), sorted.
  returned: success
  type: list
  elements: str
  sample: [6.12.107+deb13-amd64, 6.12.117+deb13-amd64]
boot_id:
  description: Identity of this boot.
  returned: success
  type: str
  sample: 0c9f6f0e-6a5a-4a3f-8f0e-0a8f3f0d4f4e
"""

from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.goldnode.gpu.plugins.module_utils import node_files
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import linux


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "probe_args": {"type": "list", "elements": "str", "default": []},
            "release": {"type": "str", "required": True},
        },
        supports_check_mode=True,
    )
    release = module.params["release"]
    needed, free = node_files.boot_space(release)
    module.exit_json(
        running=node_files.running_release(node_files.procfs_of(module.params["probe_args"])),
        boot_default=node_files.boot_default(),
        boot_choice=node_files.boot_choice(release),
        boot_needed=needed,
        boot_free=free,
        boot_unmounted=linux.lacks_mount(node_files.text_of(Path("/etc/fstab")), node_files.text_of(Path("/proc/self/mounts")), "/boot"),
        installed=sorted(path.name[len("vmlinuz-") :] for path in Path("/boot").glob("vmlinuz-*")),
        boot_id=node_files.text_of(Path("/proc/sys/kernel/random/boot_id")).strip(),
    )


if __name__ == "__main__":
    main()
