# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Filter goldnode.gpu.slot_timer."""

from __future__ import annotations

DOCUMENTATION = r"""
name: slot_timer
short_description: The timer that belongs to a slot length
version_added: "0.1.0"
author: The goldnode founders (@goldnode)
description:
  - Turns the slot length of a promotion policy into what a systemd timer needs, so that it fires at the begin of each slot, in UTC.
options:
  _input:
    description: A slot length that divides a day, V(10s), V(15m) or V(1h) for example.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Show when the canary turns of a pool begin
  ansible.builtin.debug:
    msg: "{{ (goldnode_promotion.slot | goldnode.gpu.slot_timer).calendar }}"
"""

RETURN = r"""
_value:
  description:
    - C(calendar), an C(OnCalendar=) expression; C(length_s), the slot's length in seconds; C(jitter_s), a twelfth of it, by which runs may be delayed.
  type: dict
"""

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.clock import calendar_of, seconds_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.policy import SLOTS


def slot_timer(slot: str) -> dict[str, Any]:
    """Calendar, length and jitter of a slot length."""
    if slot not in SLOTS:
        raise AnsibleFilterError(f"slot_timer: {slot!r} is no slot length; write one of {', '.join(SLOTS)}")
    length = seconds_of(slot)
    return {"calendar": calendar_of(slot), "length_s": length, "jitter_s": length // 12}


class FilterModule:
    """The collection's filter of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"slot_timer": slot_timer}
