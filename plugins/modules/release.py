#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action release."""

from __future__ import annotations

DOCUMENTATION = r"""
module: release
short_description: Register releases in the ledger and read the channels of a pool
version_added: "0.1.0"
description:
  - A release is a lock, the image that was built from it, and the promotion policy. They move through the channels together or not at all.
  - O(state=registered) recomputes the lock's digest, checks that the image is whole in the store and was built from this lock, checks the policy, and
    takes the release to VERIFIED. Only then the channel C(candidate) points to it, and the candidate before it is SUPERSEDED.
    The same three parts are the same release, so a second time changes nothing.
  - O(state=read) returns what the channels of a pool point to. Plays over nodes take C(goldnode_stack) from here.
  - O(state=environment) records that an environment is a lab. Only there a policy may accept a rung below C(hardware). C(create_lab) does it.
options:
  state:
    description: What to do.
    type: str
    choices: [environment, registered, read]
    required: true
  kind:
    description: What kind of environment it is, with O(state=environment).
    type: str
    choices: [lab]
    default: lab
  lock_file:
    description: The lock of the pool. Needed with O(state=registered).
    type: path
  waivers_file:
    description: The waivers of the pool (C(waivers.yml)), which need not be there. Pins that C(check_pins) refuses are not registered.
    type: path
  image_digest:
    description: The image. By default the newest in the store that was built from this lock.
    type: str
  policy:
    description: The pool's C(goldnode_promotion), see C(docs/promotion.md). Needed with O(state=registered); what it does not name has its default.
    type: dict
  emergency:
    description: Use the shorter streak and soak of an emergency. Nothing else is left out.
    type: bool
    default: false
extends_documentation_fragment:
  - goldnode.gpu.ledger
seealso:
  - module: goldnode.gpu.slot
  - module: goldnode.gpu.promotion
  - module: goldnode.gpu.image_store
"""

EXAMPLES = r"""
- name: Register the release of a pool
  goldnode.gpu.release:
    state: registered
    pool: a10_serve
    lock_file: inventories/prod/locks/a10_serve.lock.yml
    policy: "{{ hostvars[groups['a10_serve'] | first].goldnode_promotion }}"

- name: Read the channels of a pool
  goldnode.gpu.release:
    state: read
    pool: a10_serve
  register: release
"""

RETURN = r"""
release:
  description: The digest that identifies the release.
  returned: with O(state=registered)
  type: str
release_state:
  description: Its state.
  returned: with O(state=registered)
  type: str
  sample: VERIFIED
risk:
  description: Its risk class, by the difference of its lock to the stable one.
  returned: with O(state=registered)
  type: str
  sample: patch
lock_digest:
  description: The digest of its lock.
  returned: with O(state=registered)
  type: str
image_digest:
  description: The digest of its image.
  returned: with O(state=registered)
  type: str
policy_digest:
  description: The digest of its policy, defaults filled in.
  returned: with O(state=registered)
  type: str
policy:
  description: Its policy, defaults filled in.
  returned: with O(state=registered)
  type: dict
outcome:
  description: V(pass), as in C(result.json).
  returned: with O(state=registered)
  type: str
screen:
  description: What was shown, line by line.
  returned: with O(state=registered)
  type: list
  elements: str
channels:
  description: For V(candidate) and V(stable) null, or the release with the fields above and with its lock as C(stack).
  returned: with O(state=read)
  type: dict
"""
