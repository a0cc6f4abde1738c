#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Brings the packages of one layer to exactly what the lock lists."""

from __future__ import annotations

DOCUMENTATION = r"""
module: locked_packages
short_description: Install the packages of one layer exactly as the lock lists them
version_added: "0.1.0"
description:
  - The one way in which a role of this collection installs packages.
  - Compares the lock with what dpkg or rpm has. Where they differ, asks the repositories for every locked version, simulates the whole transaction,
    downloads every artefact and compares it with the SHA-256 of the lock, and only then changes anything.
  - Refuses a transaction that would remove a package, or that would bring a package of a pinned layer at another version than the
    lock's. Refuses a version that the repositories do not have, and names those that they have.
  - Holds all packages of the layer. On Debian and Ubuntu writes C(/etc/apt/preferences.d/goldnode-<layer>), which lets no other version of them and
    no other package of the same family in. On RHEL and its kin writes their versions to C(/etc/dnf/plugins/versionlock.list) and the family's names
    to C(excludepkgs) of C(/etc/dnf/dnf.conf); entries that others made there stay.
  - With dnf, what is installed is the files whose SHA-256 was compared, with every repository off. A kernel is added beside the others.
  - Finishes a transaction that was interrupted.
options:
  stack:
    description: The whole lock, as the variable C(goldnode_stack) holds it.
    type: dict
    required: true
  layer:
    description: The layer whose packages are installed.
    type: str
    choices: [kernel, driver, container_toolkit, engine]
    required: true
  state:
    description: Packages are only ever brought to the lock, never removed.
    type: str
    choices: [present]
    default: present
attributes:
  check_mode:
    support: full
    description: Simulates, downloads and changes nothing.
  diff_mode:
    support: full
    description: Shows name, version and hold of each package, and the file that keeps others out.
  platform:
    support: full
    description: Debian and Ubuntu; RHEL, Rocky Linux, AlmaLinux and Amazon Linux 2023 with dnf 4 and its versionlock plugin.
    platforms: debian, rhel
author:
  - The goldnode founders (@goldnode)
"""

EXAMPLES = r"""
- name: Install the locked driver
  goldnode.gpu.locked_packages:
    stack: "{{ goldnode_stack }}"
    layer: driver
"""

RETURN = r"""
packages:
  description: The packages of the layer, as C(name=version).
  returned: success
  type: list
  elements: str
  sample: [nvidia-driver=550.163.01-2]
moved:
  description: Those that were not at the locked version before.
  returned: success
  type: list
  elements: str
  sample: [nvidia-driver=550.163.01-2]
"""

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.goldnode.gpu.plugins.module_utils import package_lock
from ansible_collections.goldnode.gpu.plugins.module_utils.node_files import text_of
from ansible_collections.goldnode.gpu.plugins.module_utils.package_lock import Package
from ansible_collections.goldnode.gpu.plugins.module_utils.package_manager import MANAGERS, PackageManager
from ansible_collections.goldnode.gpu.plugins.module_utils.platforms import manager_of
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError


def refuse_absent(node: PackageManager, packages: Sequence[Package]) -> None:
    """Refuses unless the repositories have every version; an index from before the lock is refreshed once."""
    if package_lock.absent_from(node.index(packages), packages):
        node.refresh_index()
    index = node.index(packages)
    absent = package_lock.absent_from(index, packages)
    if absent:
        raise RefusedError(package_lock.absence_sentence(index, absent))


def refuse_harm(node: PackageManager, packages: Sequence[Package], locked: dict[str, str]) -> None:
    objections = package_lock.objections(node.simulate(packages), locked)
    if objections:
        raise RefusedError(f"the transaction to the lock was refused, nothing was changed: {'; '.join(objections)}")


def refuse_other_content(node: PackageManager, packages: Sequence[Package]) -> None:
    for package in packages:
        path = node.artefact(package)
        seen = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "absent"
        if seen != package.sha256:
            raise RefusedError(f"{path} has SHA-256 {seen}, the lock has {package.sha256}; nothing was changed: resolve the lock again with lock_stack")


def write(module: AnsibleModule, path: Path, text: str) -> None:
    with tempfile.NamedTemporaryFile("w", dir=module.tmpdir, delete=False) as stream:
        stream.write(text)
    module.atomic_move(stream.name, str(path))
    module.set_mode_if_different(str(path), "0644", False)


def difference(title: str, before: str, after: str) -> dict:
    return {"before_header": title, "after_header": title, "before": before, "after": after}


def present(module: AnsibleModule, node: PackageManager, stack: dict, layer: str) -> dict:
    packages = package_lock.packages_of(stack, layer)
    installed, guards = node.installed(packages), node.guards(layer, packages)
    edited = {path: text for path, text in guards.items() if text_of(path) != text}
    former = {path: text_of(path) for path in guards}
    moved, unheld = package_lock.differing(packages, installed), package_lock.unheld(packages, installed)
    pending = moved
    if moved and not module.check_mode:
        node.finish_interrupted(moved)
        pending = package_lock.differing(packages, node.installed(packages))
    if pending:
        refuse_absent(node, pending)
        refuse_harm(node, packages, package_lock.locked_versions(stack))
    if pending and not module.check_mode:
        node.download(packages, pending)
        refuse_other_content(node, pending)
        node.install(packages)
    if not module.check_mode:
        for path, text in edited.items():
            write(module, path, text)
    if (moved or unheld) and not module.check_mode:
        node.hold(packages)
        package_lock.assert_locked(packages, node.installed(packages))
    return {
        "changed": bool(moved or unheld or edited),
        "packages": [package.argument for package in packages],
        "moved": [package.argument for package in moved],
        "diff": [
            difference(f"packages of layer {layer}", package_lock.versions_text(packages, installed), package_lock.locked_text(packages)),
            *[difference(str(path), former[path], text) for path, text in guards.items()],
        ],
    }


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "stack": {"type": "dict", "required": True},
            "layer": {"type": "str", "required": True, "choices": ["kernel", "driver", "container_toolkit", "engine"]},
            "state": {"type": "str", "default": "present", "choices": ["present"]},
        },
        supports_check_mode=True,
    )
    try:
        node = MANAGERS[manager_of(module.params["stack"])](module.run_command)
        result = present(module, node, module.params["stack"], module.params["layer"])
    except RefusedError as reason:
        module.fail_json(msg=str(reason))
    module.exit_json(**result)


if __name__ == "__main__":
    main()
