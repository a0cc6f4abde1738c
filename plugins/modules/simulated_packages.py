#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action `simulated_packages`."""

from __future__ import annotations

DOCUMENTATION = r"""
module: simulated_packages
short_description: Build the lab's stand-in packages for GPU driver, container toolkit and kernels
version_added: "0.1.0"
description:
  - Builds every package of a catalogue with C(dpkg-deb) on the controller, below C(os/), C(nvidia/) and C(node/).
  - The packages are the same bytes for the same sources and compiler. A folder that was built from these sources is left alone.
  - A new build replaces the whole folder, and only when all of it succeeded.
  - The packages refuse to be installed on a machine without C(/etc/goldnode-lab).
options:
  sources:
    description: Folder with C(catalogue.yml) and the files that it names.
    type: path
    required: true
  path:
    description: Folder for the packages. It holds nothing else.
    type: path
    required: true
attributes:
  check_mode:
    description: Says whether it would build, and builds nothing.
    support: full
  diff_mode:
    description: There is no diff.
    support: none
notes:
  - Needs C(dpkg-deb) and C(gcc) on the controller; C(make setup) installs them.
author: The goldnode founders (@goldnode)
"""

EXAMPLES = r"""
- name: Build the stand-in packages
  goldnode.gpu.simulated_packages:
    sources: "{{ role_path }}/files"
    path: /var/lib/goldnode-lab/3f2a91/packages
"""

RETURN = r"""
path:
  description: The folder.
  returned: always
  type: str
  sample: /var/lib/goldnode-lab/3f2a91/packages
packages:
  description: The packages in it, relative to it, sorted.
  returned: always
  type: list
  elements: str
  sample: [nvidia/libcuda1_580.178.04-1+goldnode.lab_amd64.deb]
"""
