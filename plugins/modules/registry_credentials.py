#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Credentials for container registries, for root on a node."""

from __future__ import annotations

DOCUMENTATION = r"""
module: registry_credentials
short_description: Give root on a node its credentials for container registries
version_added: "0.1.0"
description:
  - Writes them into Docker's client configuration, which Podman and nerdctl read too, mode 0600. Everything else in the file stays, credentials
    of other registries as well.
  - Remembers the names of the registries, never a secret, in C(/etc/goldnode/registries.json), and takes away what is no longer asked for.
options:
  credentials:
    description: Registry -> C(username) and C(password). Empty takes away all that an earlier run gave.
    type: dict
    required: true
  path:
    description: The client configuration.
    type: path
    default: /root/.docker/config.json
  record:
    description: Where the names are remembered.
    type: path
    default: /etc/goldnode/registries.json
attributes:
  check_mode:
    support: full
    description: Writes nothing.
  diff_mode:
    support: none
    description: The file holds secrets.
  platform:
    support: full
    description: Linux.
    platforms: linux
author:
  - The goldnode founders (@goldnode)
"""

EXAMPLES = r"""
- name: Give root its credentials
  goldnode.gpu.registry_credentials:
    credentials:
      nvcr.io: {username: $oauthtoken, password: "{{ vault_ngc_api_key }}"}
"""

RETURN = r"""
registries:
  description: Those that credentials were given for.
  returned: success
  type: list
  elements: str
  sample: [nvcr.io]
"""

from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.goldnode.gpu.plugins.module_utils import registry_auths
from ansible_collections.goldnode.gpu.plugins.module_utils.node_files import text_of, write
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError


def give(module: AnsibleModule, path: Path, record: Path) -> bool:
    """The record first names old and new, so that a run that is killed loses sight of none."""
    credentials, former, given = module.params["credentials"], text_of(path), text_of(record)
    known = registry_auths.recorded(given)
    text = registry_auths.config_text(former, credentials, known, str(path))
    final = registry_auths.record_text(set(credentials))
    readable = bool(text) and path.exists() and path.stat().st_mode & 0o777 != 0o600
    changed = text != former or final != given or readable
    if changed and not module.check_mode:
        write(record, registry_auths.record_text(known | set(credentials)))
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write(path, text, mode=0o600)
        write(record, final)
    return changed


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "credentials": {"type": "dict", "required": True, "no_log": True},
            "path": {"type": "path", "default": "/root/.docker/config.json"},
            "record": {"type": "path", "default": "/etc/goldnode/registries.json"},
        },
        supports_check_mode=True,
    )
    try:
        changed = give(module, Path(module.params["path"]), Path(module.params["record"]))
    except RefusedError as reason:
        module.fail_json(msg=str(reason))
    module.exit_json(changed=changed, registries=sorted(module.params["credentials"]))


if __name__ == "__main__":
    main()
