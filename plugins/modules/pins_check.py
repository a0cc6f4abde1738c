# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: pins_check
short_description: Judge a pin set offline, before anything is built from it
version_added: "0.1.0"
author: The goldnode founders (@goldnode)
description:
  - Reads a C(pins.yml), and C(waivers.yml) beside it where there is one, on the controller.
  - Judges it by the rules C(pins.*), each of which refuses, warns or notes with a reason, a source and the nearest change that would make it valid.
  - Nothing of any node, repository or network is asked.
options:
  pins_file:
    description: A file with the mapping C(goldnode_pins).
    type: path
    required: true
  report:
    description: Where the report goes, a JSON file on the controller.
    type: path
    required: true
  today:
    description: The day on which ends of life and waivers are judged, C(YYYY-MM-DD).
    type: str
    required: true
attributes:
  check_mode:
    description: Writes its report in check mode too, since nothing but the report changes.
    support: full
  diff_mode:
    description: There is nothing to compare with.
    support: none
"""

EXAMPLES = r"""
- name: Judge the pins of a pool
  goldnode.gpu.pins_check:
    pins_file: inventories/example/group_vars/a10_serve/pins.yml
    report: /var/lib/goldnode/reports/check_pins/2026-11-30T21:04:10Z/result.json
    today: "2026-11-30"
  register: __check
"""

RETURN = r"""
outcome:
  description: C(pass), or C(fail) where something is refused.
  returned: success
  type: str
lines:
  description: The readable page.
  returned: success
  type: list
  elements: str
result:
  description: What the report holds, schema C(goldnode.check_pins/v1).
  returned: success
  type: dict
"""
