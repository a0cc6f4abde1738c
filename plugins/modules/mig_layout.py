#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Partitions the GPUs of a node into the pinned MIG layout."""

from __future__ import annotations

DOCUMENTATION = r"""
module: mig_layout
short_description: Partition the GPUs into a MIG layout
version_added: "0.1.0"
description:
  - Compares each GPU's MIG mode and MIG devices with the layout, by nvidia-smi. Where they differ, destroys the GPU's instances, sets the
    mode, creates the instances and looks again. A GPU that is as the layout says is left alone.
  - On A100 and A30 a change of the mode needs a reset of the GPU, which the module does; since H100 it needs none.
  - Refuses while a process has a GPU open, and names it. The driver's own daemons and monitors (DCGM, NVSM) are stopped meanwhile.
  - Instances do not outlive a reboot. C(goldnode-mig.service) of role C(nvidia_driver) makes them again at boot.
options:
  layout:
    description:
      - V(all-disabled) for MIG off, V(all-enabled) for MIG on without instances, V(all-balanced), V(all-<profile>) for as many of one profile as
        fit (V(all-1g.10gb)), or the instances of each GPU (V(3g.40gb,2g.20gb,1g.10gb)). A lone profile means as many as fit.
    type: str
    required: true
  services:
    description: Units of the driver that hold the device open; they are stopped meanwhile, and started again.
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    support: full
    description: Says whether a GPU differs, changes nothing.
  diff_mode:
    support: full
    description: Shows mode and MIG devices of each GPU.
  platform:
    support: full
    description: Linux with a loaded NVIDIA driver.
    platforms: linux
author:
  - The goldnode founders (@goldnode)
"""

EXAMPLES = r"""
- name: Cut the GPUs in seven
  goldnode.gpu.mig_layout:
    layout: all-1g.10gb
"""

RETURN = r"""
gpus:
  description: Each GPU as it is in the end.
  returned: success
  type: list
  elements: dict
  sample: [{number: "0", mode: Enabled, pending: Enabled, profiles: [3g.40gb, 3g.40gb]}]
"""

from collections.abc import Sequence

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.goldnode.gpu.plugins.module_utils import mig_layout
from ansible_collections.goldnode.gpu.plugins.module_utils.driver_services import MONITORS, holders, holders_sentence, paused
from ansible_collections.goldnode.gpu.plugins.module_utils.mig_layout import Gpu, MigError, Smi


def shown(gpus: Sequence[Gpu]) -> str:
    """One line per GPU, for a diff."""
    return "".join(f"GPU {gpu.number}: MIG {gpu.mode} {' '.join(sorted(gpu.profiles))}".rstrip() + "\n" for gpu in gpus)


def smi_of(module: AnsibleModule) -> Smi:
    """nvidia-smi through the module."""

    def smi(*arguments: str) -> str:
        code, stdout, stderr = module.run_command(["nvidia-smi", *arguments])
        return mig_layout.said(arguments, code, stdout + stderr)

    return smi


def settle(module: AnsibleModule, smi: Smi, layout: str) -> dict:
    if not mig_layout.is_layout(layout):
        raise MigError(
            f"mig.profile is {layout!r}; accepted: all-disabled, all-enabled, all-balanced, all-<profile>, or profiles like 3g.40gb with commas between"
        )
    before = mig_layout.look(smi)
    changed = bool(mig_layout.differing(smi, layout))
    if changed and not module.check_mode:
        daemons = [*module.params["services"], *MONITORS]
        held = holders(but=daemons)
        if held:
            raise MigError(f"the GPUs are in use by {holders_sentence(held)}, and layout {layout} needs them idle; drain the node and run it again")
        with paused(module.run_command, daemons):
            mig_layout.bring(smi, layout)
    after = before if module.check_mode else mig_layout.look(smi)
    wish = f"MIG layout {layout}\n" if module.check_mode and changed else shown(after)
    return {"changed": changed, "gpus": [gpu._asdict() for gpu in after], "diff": {"before": shown(before), "after": wish}}


def main() -> None:
    module = AnsibleModule(
        argument_spec={"layout": {"type": "str", "required": True}, "services": {"type": "list", "elements": "str", "default": []}},
        supports_check_mode=True,
    )
    try:
        result = settle(module, smi_of(module), module.params["layout"])
    except MigError as reason:
        module.fail_json(msg=f"MIG layout: {reason}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
