# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Filter goldnode.gpu.declared_runs."""

from __future__ import annotations

DOCUMENTATION = r"""
name: declared_runs
short_description: The GPU container runs that a canary turn declares
version_added: "0.1.0"
author: The goldnode founders (@goldnode)
description:
  - Makes, out of a lock, the list of container runs that O(goldnode.gpu.node_check#module:runs) starts on a node, one for each path by which a
    container can ask for GPUs. Each runs the canary container image by digest, unprivileged, without network and without writing.
  - The list is empty for a pool that has no container toolkit on purpose.
positional: _input
options:
  _input:
    description: The lock, C(goldnode_stack).
    type: dict
    required: true
  nonce:
    description: Hexadecimal number that was issued to this node for this turn.
    type: str
    required: true
  slot:
    description: What the containers are named and labelled after.
    type: str
    required: true
  paths:
    description: The ways to ask for all GPUs, in the order in which they are tried.
    type: list
    elements: str
    choices: [cdi, gpus]
    default: [cdi, gpus]
  limit_s:
    description: Seconds after which a run is killed.
    type: int
    default: 60
  pids:
    description: Greatest number of processes and threads in the container.
    type: int
    default: 128
  memory:
    description: Greatest amount of memory, as Docker writes it. An engine without memory control groups warns and goes on.
    type: str
    default: 4g
  workloads:
    description:
      - Further runs of somebody's own, after those of the canary. Each has C(path), a name; C(request), the way in which it asks for a GPU; and C(argv),
        its command line, in which C({name}), C({image}) and C({nonce}) stand for those of this turn.
      - C(image) is the canary's unless it is given; C(devices) and C(payload) are taken over.
    type: list
    elements: dict
    default: []
    version_added: "0.2.0"
"""

EXAMPLES = r"""
- name: Check the node, GPU containers included
  goldnode.gpu.node_check:
    stack: "{{ goldnode_stack }}"
    nonce: "{{ nonce }}"
    runs: "{{ goldnode_stack | goldnode.gpu.declared_runs(nonce=nonce, slot='2026-11-30T21:00Z', paths=gpu_canary_paths) }}"
"""

RETURN = r"""
_value:
  description: The declared runs.
  type: list
  elements: dict
"""

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.canary import CanaryError, declared_runs


def filter_declared_runs(stack: Any, **options: Any) -> list[dict[str, Any]]:
    """The runs; a lock that declares none gets its sentence."""
    try:
        return declared_runs(stack, **options)
    except (CanaryError, TypeError) as error:
        raise AnsibleFilterError(f"declared_runs: {error}") from error


class FilterModule:
    """The collection's filter of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"declared_runs": filter_declared_runs}
