#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A container image, by digest, in a node's container engine."""

from __future__ import annotations

DOCUMENTATION = r"""
module: engine_image
short_description: Have a container image, by digest, in Docker on a node
version_added: "0.1.0"
author: The goldnode founders (@goldnode)
description:
  - Pulls a container image by digest unless Docker has it. An image that is there needs no registry.
  - Only a container image by digest is accepted, since a tag can come to mean another image.
requirements:
  - docker, the command line client
options:
  reference:
    description: The container image, as C(name@sha256:<64 hex>); a tag beside the digest is allowed.
    type: str
    required: true
  timeout:
    description: Seconds that a pull may take.
    type: int
    default: 600
attributes:
  check_mode:
    support: full
    description: Nothing is pulled in check mode.
  diff_mode:
    support: none
    description: An image has no lines to compare.
"""

EXAMPLES = r"""
- name: Pull the canary container image
  goldnode.gpu.engine_image:
    reference: registry.example/goldnode/cuda-canary@sha256:c841689a2b549dffc93dbad5cd671e58b419806c3aadef6b9e9231790be03aed
"""

RETURN = r"""
reference:
  description: The container image by digest.
  returned: success
  type: str
seconds:
  description: How long the pull took; 0 if there was none.
  returned: success
  type: float
  sample: 1.4
"""

import re
import time

from ansible.module_utils.basic import AnsibleModule

BY_DIGEST = re.compile(r"(?P<name>[^@\s]+?)(?::[^:/@]*)?@(?P<digest>sha256:[0-9a-f]{64})")


def pull(module: AnsibleModule, docker: str, reference: str) -> float:
    """Pulls the image; the seconds that it took."""
    start = time.monotonic()
    limit = ["timeout", "--kill-after=5", str(module.params["timeout"])]
    rc, out, err = module.run_command([*limit, docker, "pull", "--quiet", reference])
    if rc != 0:
        said = "no answer within {} s".format(module.params["timeout"]) if rc in (124, 137) else " / ".join((err or out).strip().splitlines()[-2:])
        module.fail_json(msg=f"Docker could not pull {reference}: {said}. Look at the registry, and at the CA in /etc/docker/certs.d on the node.")
    return round(time.monotonic() - start, 1)


def main() -> None:
    module = AnsibleModule(argument_spec={"reference": {"type": "str", "required": True}, "timeout": {"type": "int", "default": 600}}, supports_check_mode=True)
    parts = BY_DIGEST.fullmatch(module.params["reference"])
    if parts is None:
        module.fail_json(msg=f"The container image {module.params['reference']} is not named by digest; write name@sha256:<64 hex>.")
    reference = f"{parts['name']}@{parts['digest']}"
    docker = module.get_bin_path("docker", required=True)
    if module.run_command([docker, "image", "inspect", "--format", "ok", reference])[0] == 0:
        module.exit_json(changed=False, reference=reference, seconds=0.0)
    seconds = 0.0 if module.check_mode else pull(module, docker, reference)
    module.exit_json(changed=True, reference=reference, seconds=seconds)


if __name__ == "__main__":
    main()
