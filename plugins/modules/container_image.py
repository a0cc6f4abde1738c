#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A container image that is built from a recipe and stands in a registry."""

from __future__ import annotations

DOCUMENTATION = r"""
module: container_image
short_description: Build a container image from a recipe and push it to a registry
version_added: "0.1.0"
author: The goldnode founders (@goldnode)
description:
  - Builds an image of one layer from Debian packages and files, into an OCI layout, and pushes it to a registry over TLS.
  - Everything in the image carries the recipe's one time, so the same recipe over the same package archive gives the same digest.
  - Builds are kept by the digest of their recipe and files; a second run builds nothing, and pushes nothing that the registry already has.
  - Runs on the controller and needs no root. Credentials for the registry are taken from where C(skopeo login) or C(docker login) left them.
requirements:
  - mmdebstrap
  - umoci
  - skopeo
options:
  recipe:
    description: What the image is made of.
    type: dict
    required: true
    suboptions:
      suite:
        description: Suite of the Debian archive.
        type: str
        required: true
      packages:
        description: Packages to unpack, with all that they depend on. None of their scripts runs.
        type: list
        elements: str
        required: true
      exclude:
        description: Patterns of paths in the packages to leave out.
        type: list
        elements: str
        default: []
      include:
        description: Patterns of paths to keep although O(recipe.exclude) matches them.
        type: list
        elements: str
        default: []
      files:
        description: Files to add.
        type: list
        elements: dict
        default: []
        suboptions:
          source:
            description: Path relative to O(source_dir).
            type: str
            required: true
          target:
            description: Absolute path in the image.
            type: str
            required: true
      created:
        description: The time that everything in the image carries, as V(2026-01-01T00:00:00Z).
        type: str
        required: true
      user:
        description: User and group to run as, by number.
        type: str
        required: true
      environment:
        description: Environment, C(NAME=value) each.
        type: list
        elements: str
        default: []
      entrypoint:
        description: What runs.
        type: list
        elements: str
        required: true
  source_dir:
    description: Where the sources of O(recipe.files) begin.
    type: path
    required: true
  registry:
    description: Host and port of the registry.
    type: str
    required: true
  repository:
    description: Name of the repository in the registry.
    type: str
    required: true
  ca_file:
    description: Certificate authority of the registry. Without it the system's own are trusted.
    type: path
  mirror:
    description: The Debian archive to build from. Without it the one that apt on this machine uses.
    type: str
  cache_dir:
    description: Where builds are kept. Without it C(goldnode/container_images) in C($XDG_CACHE_HOME) or C(~/.cache).
    type: path
attributes:
  check_mode:
    support: full
    description: In check mode an image that was never built has no digest yet.
  diff_mode:
    support: none
    description: An image has no lines to compare.
"""

EXAMPLES = r"""
- name: Push the canary container image
  goldnode.gpu.container_image:
    recipe: "{{ lookup('ansible.builtin.file', collection_root ~ '/canary/recipe.yml') | from_yaml }}"
    source_dir: "{{ collection_root }}"
    registry: registry.example:5000
    repository: goldnode/cuda-canary
    ca_file: /etc/ssl/registry-ca.pem
"""

RETURN = r"""
reference:
  description: The image by digest, as pins and containers name it; null in check mode if it was never built.
  returned: success
  type: str
  sample: registry.example:5000/goldnode/cuda-canary@sha256:6deedfeefa935809cf7ba1a17fc222afd62b5d1034730aa5c50793e8ccafeecc
digest:
  description: The digest of its manifest.
  returned: success
  type: str
built:
  description: Whether it was built now and not taken from the cache.
  returned: success
  type: bool
seconds:
  description: How long building and pushing took.
  returned: success
  type: dict
  sample: {build: 15.2, push: 0.9}
"""

import os
import time
from pathlib import Path
from typing import Any, Mapping, Sequence

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.goldnode.gpu.plugins.module_utils import container_image as image

FILE = {"source": {"type": "str", "required": True}, "target": {"type": "str", "required": True}}
RECIPE = {
    "suite": {"type": "str", "required": True},
    "packages": {"type": "list", "elements": "str", "required": True},
    "exclude": {"type": "list", "elements": "str", "default": []},
    "include": {"type": "list", "elements": "str", "default": []},
    "files": {"type": "list", "elements": "dict", "default": [], "options": FILE},
    "created": {"type": "str", "required": True},
    "user": {"type": "str", "required": True},
    "environment": {"type": "list", "elements": "str", "default": []},
    "entrypoint": {"type": "list", "elements": "str", "required": True},
}
ARGUMENTS = {
    "recipe": {"type": "dict", "required": True, "options": RECIPE},
    "source_dir": {"type": "path", "required": True},
    "registry": {"type": "str", "required": True},
    "repository": {"type": "str", "required": True},
    "ca_file": {"type": "path"},
    "mirror": {"type": "str"},
    "cache_dir": {"type": "path"},
}


class Image:
    """The image that the module's parameters describe."""

    def __init__(self, module: AnsibleModule) -> None:
        self.module, self.recipe = module, module.params["recipe"]
        self.source_dir = Path(module.params["source_dir"])
        self.architecture = self.run(["dpkg", "--print-architecture"]).strip()
        self.mirror = module.params["mirror"] or image.debian_mirror(self.run(["apt-get", "indextargets", "--format", "$(ORIGIN) $(SUITE) $(REPO_URI)"]))
        self.key = image.recipe_key(self.recipe, self.source_dir, self.architecture, self.mirror)
        self.layout = cache_dir(module.params["cache_dir"]) / self.key
        self.repository = f"{module.params['registry']}/{module.params['repository']}"
        self.certificates = self.trusted()

    def run(self, argv: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
        """The program's output; ImageError with its last line if it fails."""
        program = self.module.get_bin_path(argv[0], required=True)
        rc, out, err = self.module.run_command([program, *argv[1:]], environ_update=dict(environment or {}))
        if rc != 0:
            said = " / ".join((err or out).strip().splitlines()[-3:])
            raise image.ImageError(f"{argv[0]} {argv[1]} ended with {rc}: {said}")
        return str(out)

    def trusted(self) -> Path | None:
        """A folder with the registry's authority, in the form that skopeo takes."""
        if not self.module.params["ca_file"]:
            return None
        folder = Path(self.module.tmpdir) / "certificates"
        folder.mkdir()
        (folder / "ca.crt").symlink_to(Path(self.module.params["ca_file"]).resolve(strict=True))
        return folder

    def built(self) -> bool:
        """Builds it unless the cache has it; true if it had to. In check mode nothing is built."""
        with image.locked(self.layout.with_suffix(".lock")):
            if self.layout.is_dir():
                return False
            if not self.module.check_mode:
                image.build(self.recipe, self.source_dir, self.architecture, self.mirror, self.layout, self.run)
            return True

    def pushed(self, reference: str) -> bool:
        """Pushes it unless the registry has it; true if it had to."""
        if self.module.run_command(image.inspect_argv(reference, self.certificates))[0] == 0:
            return False
        if not self.module.check_mode:
            self.run(image.push_argv(self.layout, self.repository, self.key[:12], self.certificates))
        return True


def cache_dir(chosen: str | None) -> Path:
    """Where builds are kept."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen) if chosen else Path(home) / "goldnode/container_images"


def present(wanted: Image) -> dict[str, Any]:
    """Builds and pushes as far as it is missing; the module's result."""
    start = time.monotonic()
    built = wanted.built()
    middle = time.monotonic()
    if not wanted.layout.is_dir():
        return {"changed": True, "built": True, "reference": None, "digest": None, "seconds": {}}
    digest = image.manifest_digest(wanted.layout)
    reference = f"{wanted.repository}@{digest}"
    changed = wanted.pushed(reference)
    seconds = {"build": round(middle - start, 1), "push": round(time.monotonic() - middle, 1)}
    return {"changed": changed, "built": built, "reference": reference, "digest": digest, "seconds": seconds}


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    try:
        module.exit_json(**present(Image(module)))
    except (image.ImageError, OSError) as error:
        module.fail_json(msg=str(error))


if __name__ == "__main__":
    main()
