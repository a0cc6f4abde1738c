# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Lookup of a lock file."""

from __future__ import annotations

DOCUMENTATION = r"""
name: stack_lock
short_description: Read a lock file
version_added: "0.1.0"
description:
  - Checks a lock file that M(goldnode.gpu.stack_lock) wrote (shape, digest, exact pins) and returns it.
  - So a role of this collection can be used alone, without a ledger.
options:
  _terms:
    description: Paths of lock files.
    type: list
    elements: path
    required: true
  pool:
    description: The pool whose locks these must be; by default of any.
    type: str
author:
  - The goldnode founders (@goldnode)
seealso:
  - module: goldnode.gpu.stack_lock
"""

EXAMPLES = r"""
- name: Apply one role with a lock file
  hosts: a10_serve_canary
  gather_facts: false
  vars:
    goldnode_stack: "{{ lookup('goldnode.gpu.stack_lock', inventory_dir ~ '/locks/a10_serve.lock.yml') }}"
  roles:
    - role: goldnode.gpu.docker
"""

RETURN = r"""
_raw:
  description: One lock (C(goldnode.lock/v1)) for each path.
  type: list
  elements: dict
"""

from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import read_lock


class LookupModule(LookupBase):
    """Reads and checks; a lock that is not whole stops the play with one sentence."""

    def run(self, terms: list[str], variables: dict[str, Any] | None = None, **kwargs: Any) -> list[dict[str, Any]]:
        self.set_options(var_options=variables, direct=kwargs)
        try:
            return [read_lock(Path(term), self.get_option("pool")) for term in terms]
        except LockError as error:
            raise AnsibleError(str(error)) from None
