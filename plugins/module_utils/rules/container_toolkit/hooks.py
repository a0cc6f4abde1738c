# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Container toolkit: the hooks that a CDI spec or an engine's hook directory starts."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.model import CONTAINER_TOOLKIT, DRIVER
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.container_toolkit.cdi import REFRESH
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.container_toolkit.packages import NONE_HERE, without_toolkit
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.quotes import quote
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown

GONE = r"(?:fork/exec |exec:? \\?\"|stat |executable file `?)(?P<what>[\w./-]*nvidia-(?:ctk|cdi-hook))\\?[\"`]?[^\n]*(?:no such file|not found)"
OTHER = (
    r"nvidia-(?:ctk|cdi-hook)[^\n]*(?:flag provided but not defined|unknown command|incorrect usage)[^\n]*"
    r"|No help topic for '(?:hook|update-ldcache|[\w-]*(?:compat|symlinks|cudacompat|chmod)[\w-]*)'"
)
LEGACY = r"Auto-detected mode as 'legacy'|nvidia-container-cli: "
HOOK_FILE = "/usr/share/containers/oci/hooks.d/oci-nvidia-hook.json"


@rule(
    "container_toolkit.cdi_hooks_run",
    layer=CONTAINER_TOOLKIT,
    needs=(DRIVER,),
    probes=("cdi_specs",),
    symptom=(
        "'error running createContainer hook #0: fork/exec /usr/bin/nvidia-cdi-hook: no such file or directory', or a hook that does not know its own option."
    ),
    cause=(
        "The CDI specification was written by another release of the toolkit than the one installed: 1.16.0 moved the hooks from nvidia-ctk to nvidia-cdi-hook."
    ),
    fix="Install all the toolkit's packages at one version. " + REFRESH,
    verify="The hook's path in the spec exists and prints the version of nvidia-ctk: nvidia-cdi-hook --version",
    source="NVIDIA Container Toolkit 1.16.0 release notes; seen with Docker 26.1.5 on lab nodes, 2026-11-30",
)
def cdi_hooks_run(facts: Facts, wanted: Wanted) -> Outcome:
    """The hooks that the CDI spec names are there and know what they are asked"""
    if without_toolkit(facts, wanted):
        return not_applicable(NONE_HERE)
    gone, other = facts.engine_said(GONE), facts.engine_said(OTHER)
    if gone:
        cause = (
            f"The CDI spec names the hook program {gone[1]['what']}, which is not on the host: toolkit and spec are of different releases, or the "
            "toolkit was removed."
        )
        return failed("the hook's program", quote(gone), cause=cause)
    if other:
        cause = f"The toolkit's hook does not know what the CDI spec asks of it: {quote(other)}."
        return failed("a hook of the spec's release", quote(other), cause=cause)
    return passed() if facts.cdi_files else unknown()


@rule(
    "container_toolkit.no_legacy_hook_beside_cdi",
    layer=CONTAINER_TOOLKIT,
    probes=(),
    symptom="podman run --device nvidia.com/gpu=all fails in a hook ('Auto-detected mode as legacy', nvidia-container-cli: …), though CDI needs none.",
    cause=f"Podman or CRI-O still starts the legacy OCI hook {HOOK_FILE} beside CDI: devices are injected twice, by a way that needs privileges.",
    fix=f"Remove {HOOK_FILE} (and /etc/containers/oci/hooks.d/*nvidia*), and ask by CDI alone.",
    verify="podman run --device nvidia.com/gpu=all … starts and says nothing of nvidia-container-cli.",
    source="NVIDIA Container Toolkit, CDI support: 'Using CDI with Podman'",
)
def no_legacy_hook_beside_cdi(facts: Facts, wanted: Wanted) -> Outcome:
    """No legacy hook runs in containers that ask by CDI"""
    runs = [run for run in facts.runs if run.get("engine") in ("podman", "cri-o", "crio") and run.get("request") == "cdi"]
    if not runs:
        return not_applicable("no container of Podman or CRI-O asked by CDI")
    said = next((match for run in runs if run.get("rc") != 0 and (match := re.search(LEGACY, f"{run.get('stderr')}\n{run.get('error')}"))), None)
    return failed("no hook of the legacy way", said.group(0)) if said else passed(f"{len(runs)} runs by CDI")
