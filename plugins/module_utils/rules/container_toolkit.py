# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Container toolkit: its packages, and the CDI spec that it made of the driver."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.model import CONTAINER_TOOLKIT, DEVICE_NODES, DRIVER
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.docker import upstream
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import packages
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, equals_pin, failed, not_applicable, passed, rule, unknown

REFRESH = "Write it again: systemctl restart nvidia-cdi-refresh, or nvidia-ctk cdi generate --output=/var/run/cdi/nvidia.yaml; remove a stale copy in /etc/cdi."
FAMILY = ("nvidia-container-toolkit", "nvidia-container-toolkit-base", "libnvidia-container1", "libnvidia-container-tools")
NONE_HERE = "this pool has no container toolkit"


def without_toolkit(facts: Facts, wanted: Wanted) -> bool:
    """The pool says on purpose that it has none; without a lock: there is none."""
    return wanted.pin("container_toolkit") is None if wanted else facts.bundle.absent("nvidia_ctk_version")


@rule(
    "container_toolkit.version_is_pinned",
    layer=CONTAINER_TOOLKIT,
    probes=("nvidia_ctk_version",),
    symptom="docker: 'could not select device driver \"\" with capabilities: [[gpu]]', or devices are injected differently than on other nodes.",
    cause="The container toolkit is missing or not of the pinned version.",
    fix=packages.PROVISION,
    verify="nvidia-ctk --version prints the pinned version.",
    source="NVIDIA Container Toolkit release notes",
)
def version_is_pinned(facts: Facts, wanted: Wanted) -> Outcome:
    """nvidia-ctk has the pinned version"""
    if wanted.pin("container_toolkit") is None:
        return not_applicable(NONE_HERE if wanted else "nothing is pinned")
    if facts.bundle.absent("nvidia_ctk_version"):
        return failed(wanted.pin("container_toolkit", "version"), "nvidia-ctk is not installed")
    return equals_pin(facts.toolkit_version, upstream(wanted.pin("container_toolkit", "version")))


@rule(
    "container_toolkit.one_version",
    layer=CONTAINER_TOOLKIT,
    probes=("dpkg_l",),
    symptom="The hook or the runtime ends with an unknown option or a missing symbol after an upgrade.",
    cause="The toolkit's packages are not all of one version: the upgrade was partial.",
    fix="Install all four at the same version (apt-get needs each one named), and hold them; provision_pool does.",
    verify="dpkg -l '*nvidia-container*' shows one version.",
    source="NVIDIA Container Toolkit install guide (installs all four at one version)",
)
def one_version(facts: Facts, wanted: Wanted) -> Outcome:
    """The toolkit's packages are of one version"""
    if without_toolkit(facts, wanted):
        return not_applicable(NONE_HERE)
    if facts.packages is None:
        return unknown()
    found = {name: facts.packages[name].version for name in FAMILY if name in facts.packages and facts.packages[name].installed}
    if not found:
        return unknown("none of the toolkit's packages is in the package list")
    observed = ", ".join(f"{name} {version}" for name, version in found.items())
    return passed(observed) if len(set(found.values())) == 1 else failed("one version", observed)


@rule(
    "container_toolkit.cdi_spec_present",
    layer=CONTAINER_TOOLKIT,
    needs=(DRIVER,),
    probes=("cdi_specs",),
    symptom="docker: 'CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=all'.",
    cause="There is no CDI spec for the GPUs: it was not generated, or the refresh at boot ran before the driver was loaded.",
    fix=REFRESH,
    verify="nvidia-ctk cdi list names nvidia.com/gpu=all.",
    source="NVIDIA Container Toolkit, CDI support; seen with 1.20.0",
)
def cdi_spec_present(facts: Facts, wanted: Wanted) -> Outcome:
    """A CDI spec offers the GPUs"""
    if without_toolkit(facts, wanted):
        return not_applicable(NONE_HERE)
    if facts.cdi_specs is None:
        return unknown()
    offered = [f"{spec.path}: {', '.join(spec.devices)}" for spec in facts.cdi_specs if spec.kind == "nvidia.com/gpu" and spec.devices]
    return passed("; ".join(offered)) if offered else failed("a spec of kind nvidia.com/gpu", "none in /etc/cdi or /var/run/cdi")


@rule(
    "container_toolkit.cdi_spec_is_of_driver",
    layer=CONTAINER_TOOLKIT,
    needs=(DRIVER,),
    probes=("cdi_specs", "proc_driver_nvidia_version"),
    symptom="Containers fail with 'no such file or directory' on a library of another driver version, after a driver upgrade.",
    cause="The CDI spec was generated for another driver version than the loaded one.",
    fix=REFRESH,
    verify="The library names in the spec end in the version of /proc/driver/nvidia/version.",
    source="NVIDIA/nvidia-container-toolkit #450",
)
def cdi_spec_is_of_driver(facts: Facts, wanted: Wanted) -> Outcome:
    """The CDI spec names the libraries of the loaded driver"""
    if without_toolkit(facts, wanted):
        return not_applicable(NONE_HERE)
    if not facts.cdi_specs or facts.loaded_module_version is None:
        return unknown()
    stale = [f"{spec.path}: {', '.join(sorted(spec.driver_versions))}" for spec in facts.cdi_specs if spec.driver_versions - {facts.loaded_module_version}]
    if stale:
        return failed(f"libraries of {facts.loaded_module_version}", "; ".join(stale))
    named = any(spec.driver_versions for spec in facts.cdi_specs)
    return passed(facts.loaded_module_version) if named else unknown("no spec names a library with its version")


@rule(
    "container_toolkit.cdi_spec_devices",
    layer=CONTAINER_TOOLKIT,
    needs=(DEVICE_NODES,),
    probes=("cdi_specs", "ls_dev_nvidia"),
    symptom="docker: 'failed to stat CDI host device', or a container misses a GPU that the host has.",
    cause="The device nodes that the CDI spec names are not those of the host.",
    fix=REFRESH,
    verify="Each /dev/nvidia* path in the spec exists, and each GPU's node is in the spec.",
    source="Seen with Docker 26.1.5 on lab nodes, 2026-11-30",
)
def cdi_spec_devices(facts: Facts, wanted: Wanted) -> Outcome:
    """The CDI spec names the GPU nodes that the host has"""
    if without_toolkit(facts, wanted):
        return not_applicable(NONE_HERE)
    if not facts.cdi_specs or facts.device_nodes is None:
        return unknown()
    named = frozenset().union(*(spec.nodes for spec in facts.cdi_specs))
    missing = sorted(path for path in named if path not in facts.device_nodes and not path.startswith("/dev/nvidia-caps/"))
    unnamed = sorted(path for path in facts.device_nodes if path.startswith("/dev/nvidia") and path[11:].isdigit() and path not in named)
    if missing or unnamed:
        return failed(
            "the host's nodes",
            "; ".join(filter(None, (f"not on the host: {', '.join(missing)}" if missing else "", f"not in the spec: {', '.join(unnamed)}" if unnamed else ""))),
        )
    return passed(", ".join(sorted(named)))


@packages.versions_rule("container_toolkit.package_versions", layer=CONTAINER_TOOLKIT, verify="dpkg -l '*nvidia-container*' shows the locked versions.")
def toolkit_packages(facts: Facts, wanted: Wanted) -> Outcome:
    """Toolkit packages are installed at their locked versions"""
    return packages.packages_are_locked_ones(facts, wanted, CONTAINER_TOOLKIT)


@packages.holds_rule("container_toolkit.packages_held", layer=CONTAINER_TOOLKIT)
def toolkit_holds(facts: Facts, wanted: Wanted) -> Outcome:
    """The locked toolkit packages are held"""
    return packages.packages_are_held(facts, wanted, CONTAINER_TOOLKIT)
