#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Records the digests of what the roles configured."""

from __future__ import annotations

DOCUMENTATION = r"""
module: configuration_record
short_description: Record the configuration of a node, so that later edits are seen
version_added: "0.1.0"
description:
  - Writes C(/etc/goldnode/configuration.json), the SHA-256 of every file that the roles configure (apt's sources and preferences, the boot loader's
    drop-ins, modprobe's options, the engine's and the container toolkit's configuration, the installed probes).
  - The probe compares the files with it; the rules C(engine.configuration_is_provisioned) and C(container_toolkit.configuration_is_provisioned), and
    C(detect_drift) for all of them, tell what was edited since.
  - Run it right after a node was provisioned, and at no other time; an edit that is recorded is no longer seen.
options:
  state:
    description: A record is only ever written.
    type: str
    choices: [present]
    default: present
attributes:
  check_mode:
    support: full
    description: Says whether the record would change.
  diff_mode:
    support: full
    description: Shows the record.
  platform:
    support: full
    description: Linux.
    platforms: posix
author:
  - The goldnode founders (@goldnode)
"""

EXAMPLES = r"""
- name: Record what was configured
  goldnode.gpu.configuration_record:
"""

RETURN = r"""
files:
  description: Path to digest.
  returned: success
  type: dict
  sample: {/etc/docker/daemon.json: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}
"""

import json
import tempfile
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.goldnode.gpu.plugins.module_utils.configuration import RECORD, RECORD_SCHEMA, digests


def main() -> None:
    module = AnsibleModule(argument_spec={"state": {"type": "str", "choices": ["present"], "default": "present"}}, supports_check_mode=True)
    record = Path(RECORD)
    files = digests(Path("/"))
    before = record.read_text() if record.exists() else ""
    after = json.dumps({"schema": RECORD_SCHEMA, "files": files}, indent=1) + "\n"
    if before != after and not module.check_mode:
        record.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=module.tmpdir, delete=False) as stream:
            stream.write(after)
        module.atomic_move(stream.name, str(record))
        module.set_mode_if_different(str(record), "0644", False)
    diff = {"before_header": RECORD, "after_header": RECORD, "before": before, "after": after}
    module.exit_json(changed=before != after, files=files, diff=diff)


if __name__ == "__main__":
    main()
