# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What all check modules do: probe this machine for one layer and judge it here."""

from __future__ import annotations

import inspect
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.goldnode.gpu.plugins.module_utils import cuda_probe, probe
from ansible_collections.goldnode.gpu.plugins.module_utils.judge import judge

ARGUMENT_SPEC: dict[str, dict[str, Any]] = {
    "stack": {"type": "dict"},
    "nonce": {"type": "str"},
    "probe_args": {"type": "list", "elements": "str", "default": []},
}
RUNS_SPEC: dict[str, dict[str, Any]] = {"runs": {"type": "list", "elements": "dict", "default": []}}


def check(module: AnsibleModule, layer: str) -> None:
    """End the module with the layer's judgement and its evidence; the verdict never makes it fail."""
    given = module.params
    arguments = [*given["probe_args"], "--layers", layer, *(["--nonce", given["nonce"]] if given["nonce"] else [])]
    try:
        options = probe.options_of(arguments)
    except SystemExit:
        module.fail_json(msg=f"probe_args are {given['probe_args']}; expected options of the probe (--procfs, --sysfs, --kernel-log). Correct the list.")
    options.runs = given.get("runs") or []
    evidence = probe.collect(options, inspect.getsource(cuda_probe))
    judgement = judge(evidence, given["stack"], layers=(layer,))
    module.exit_json(changed=False, evidence=evidence, **judgement.as_dict())
