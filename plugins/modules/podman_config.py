#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Podman's configuration for a pool whose engine it is."""

from __future__ import annotations

DOCUMENTATION = r"""
module: podman_config
short_description: Configure Podman by a drop-in of containers.conf and prove that it takes it
version_added: "0.1.0"
description:
  - Writes one drop-in whole, asks Podman for its information with it, and puts the former one back where Podman fails.
    A table that containers.conf does not have is refused; a key inside one that Podman does not know it passes over without a word.
    Podman has no daemon; nothing is restarted, and containers that run keep what they were started with.
  - GPUs come by CDI alone, from the folders that Podman reads by itself, C(/etc/cdi) and C(/var/run/cdi).
options:
  version:
    description: Upstream version of Podman that must answer.
    type: str
    required: true
  cgroup:
    description: Version of control groups that Podman must have found; with 2 systemd manages them.
    type: int
    choices: [1, 2]
    required: true
  options:
    description: Further settings of containers.conf as nested tables; null takes a setting out.
    type: dict
    default: {}
  environment:
    description: Variables that Podman sets for itself, such as proxies.
    type: dict
    default: {}
  running:
    description: Whether this is a node that runs; false in the root file system of an image that is being built, where Podman is not asked.
    type: bool
    default: true
  path:
    description: The drop-in.
    type: path
    default: /etc/containers/containers.conf.d/50-goldnode.conf
attributes:
  check_mode:
    support: full
    description: Writes nothing.
  diff_mode:
    support: full
    description: Shows the drop-in before and after.
  platform:
    support: full
    description: Linux with Podman.
    platforms: linux
author:
  - The goldnode founders (@goldnode)
"""

EXAMPLES = r"""
- name: Configure Podman
  goldnode.gpu.podman_config:
    version: 5.4.2
    cgroup: 2
    options: {containers: {shm_size: 8g}}
"""

RETURN = r"""
versions:
  description: The version that answers; empty where none was asked.
  returned: success
  type: dict
  sample: {podman: 5.4.2}
cgroup:
  description: Version and driver of control groups that Podman found; empty where it was not asked.
  returned: success
  type: dict
  sample: {version: "2", driver: systemd}
"""

from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.goldnode.gpu.plugins.module_utils import daemon_config, engine_files, podman_config
from ansible_collections.goldnode.gpu.plugins.module_utils.node_files import text_of
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.docker import as_json
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError


def information(module: AnsibleModule) -> tuple[dict[str, Any], str | None]:
    """`podman info`, and what Podman complains of."""
    rc, stdout, stderr = module.run_command(["podman", "info", "--format=json"])
    return as_json(stdout) or {}, podman_config.complaint(rc, stderr)


def configure(module: AnsibleModule, path: Path) -> dict[str, Any]:
    asked, before = module.params, text_of(path)
    text = podman_config.drop_in(asked["cgroup"], asked["options"], asked["environment"])
    changed = before != text or engine_files.unfinished({path: text})
    if changed and not module.check_mode:
        engine_files.take({path: text}, "Podman", lambda: information(module)[1] if asked["running"] else None)
    return {"changed": changed, "diff": {"before_header": str(path), "after_header": str(path), "before": before, "after": text}}


def prove(module: AnsibleModule) -> dict[str, Any]:
    found, complaint = information(module)
    answer = podman_config.answer(found)
    wanted = {"podman": module.params["version"]}
    other = [complaint] if complaint else daemon_config.other_versions(wanted, answer["versions"])
    other = other or daemon_config.other_cgroup(module.params["cgroup"], answer["cgroup"]["version"])
    if other and not module.check_mode:
        raise RefusedError(f"Podman answers with {'; '.join(other)}: look at podman info and at the files in /etc/containers")
    return answer


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "version": {"type": "str", "required": True},
            "cgroup": {"type": "int", "choices": [1, 2], "required": True},
            "options": {"type": "dict", "default": {}},
            "environment": {"type": "dict", "default": {}},
            "running": {"type": "bool", "default": True},
            "path": {"type": "path", "default": "/etc/containers/containers.conf.d/50-goldnode.conf"},
        },
        supports_check_mode=True,
    )
    asked = module.params["running"] and module.get_bin_path("podman") is not None
    try:
        result = configure(module, Path(module.params["path"]))
        answer = prove(module) if asked else {"versions": {}, "cgroup": {}}
    except RefusedError as reason:
        module.fail_json(msg=str(reason))
    module.exit_json(**result, **answer)


if __name__ == "__main__":
    main()
