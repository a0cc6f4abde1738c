#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Options of the NVIDIA Container Toolkit's config.toml."""

from __future__ import annotations

DOCUMENTATION = r"""
module: toolkit_config
short_description: Set options in the NVIDIA Container Toolkit's config.toml
version_added: "0.1.0"
description:
  - C(nvidia-ctk) is both the reader and the writer of the file. It is asked for the configuration with and without the options, and
    writes only where the two differ.
  - An option that the toolkit does not know, or a value that breaks containers under an engine that runs as root, is refused.
options:
  options:
    description: Dotted option names and their values.
    type: dict
    required: true
  version:
    description: The toolkit's version, which decides what it knows.
    type: str
    required: true
  path:
    description: The file.
    type: path
    default: /etc/nvidia-container-runtime/config.toml
attributes:
  check_mode:
    support: full
    description: Asks and writes nothing.
  diff_mode:
    support: full
    description: Shows the configuration before and after.
  platform:
    support: full
    description: Linux.
    platforms: linux
author:
  - The goldnode founders (@goldnode)
"""

EXAMPLES = r"""
- name: Let the runtime take devices from the CDI spec
  goldnode.gpu.toolkit_config:
    version: 1.20.0
    options:
      nvidia-container-runtime.mode: cdi
"""

RETURN = r"""
options:
  description: The options as nvidia-ctk was given them.
  returned: success
  type: list
  elements: str
  sample: [nvidia-container-runtime.mode=cdi]
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.goldnode.gpu.plugins.module_utils.toolkit_options import assignments, objection


def config(module: AnsibleModule, *arguments: str) -> str:
    """What `nvidia-ctk config` prints for the file."""
    rc, stdout, stderr = module.run_command(["nvidia-ctk", "config", f"--config-file={module.params['path']}", *arguments])
    if rc != 0:
        module.fail_json(msg=f"nvidia-ctk refuses {' '.join(arguments) or module.params['path']}: {stderr.strip()}; nothing was changed")
    return stdout


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "options": {"type": "dict", "required": True},
            "version": {"type": "str", "required": True},
            "path": {"type": "path", "default": "/etc/nvidia-container-runtime/config.toml"},
        },
        supports_check_mode=True,
    )
    wanted, version = module.params["options"], module.params["version"]
    reason = objection(wanted, version)
    if reason:
        module.fail_json(msg=f"{reason}; nothing was changed")
    options = assignments(wanted, version)
    settings = [f"--set={option}" for option in options]
    before, after = config(module), config(module, *settings)
    if before != after and not module.check_mode:
        config(module, *settings, "--in-place")
    module.exit_json(changed=before != after, options=options, diff={"before": before, "after": after})


if __name__ == "__main__":
    main()
