# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Container toolkit: its packages."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.gpu_requests import NO_GPU_DRIVER, NO_PROGRAM, NO_RUNTIME
from ansible_collections.goldnode.gpu.plugins.module_utils.model import CONTAINER_TOOLKIT, FAIL
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import nvidia
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.docker import upstream
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import packages
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.engine.runtimes import registered
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.quotes import quote
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, equals_pin, failed, not_applicable, passed, rule, unknown

INSTALL = (
    "Install nvidia-container-toolkit, nvidia-container-toolkit-base, libnvidia-container-tools and libnvidia-container1 at one version from "
    "NVIDIA's repository "
    "(https://nvidia.github.io/libnvidia-container), register it with the engine (nvidia-ctk runtime configure --runtime=docker) and restart that: "
    "systemctl restart docker"
)
FAMILY = ("nvidia-container-toolkit", "nvidia-container-toolkit-base", "libnvidia-container1", "libnvidia-container-tools")
# What a newer hook and an older nvidia-container-cli or library say to each other (NVIDIA/nvidia-container-toolkit #14, #59, #1093).
MIXED = (
    r"nvidia-container-cli[^\n]*(?:unrecognized|unknown|invalid) option[^\n]*|symbol lookup error[^\n]*nvidia-container[^\n]*|undefined symbol: nvc_\w+"
    r"|No help topic for 'prestart'|libnvidia-container[^\n]*version [`'\"]NVC[^\n]*"
)
MUSL_HOSTS = ("alpine", "postmarketos", "chimera")
NO_PROGRAM_LOADER = re.compile(r"nvidia-[\w-]{1,40}: (?:No such file or directory|not found)", re.I)
REINSTALL = "Install it again: apt-get install --reinstall nvidia-container-toolkit nvidia-container-toolkit-base (or dnf reinstall), and restart the engine."
NONE_HERE = "this pool has no container toolkit"


def without_toolkit(facts: Facts, wanted: Wanted) -> bool:
    """The pool says on purpose that it has none; without a lock: there is none."""
    return wanted.pin("container_toolkit") is None if wanted else facts.toolkit_absent is True


# apt of a package whose dependency is pinned to one version, of which the repositories or the node have another one.
UNMET = (
    r"(?P<package>(?:lib)?nvidia-(?:docker2|container[\w-]*)) : Depends: (?P<needs>[\w.+-]+) \(= (?P<version>[^)\s]{1,80})\) but "
    r"(?:(?P<other>\S{1,80}) is (?:to be )?installed|it is not)"
)


@rule(
    "container_toolkit.dependencies_met",
    layer=CONTAINER_TOOLKIT,
    probes=("dpkg_l",),
    symptom="apt: 'The following packages have unmet dependencies: nvidia-docker2 : Depends: docker-ce (= …) but … is to be installed'.",
    cause="A package of the container toolkit depends on one exact version of another, and the repositories mix versions or sources.",
    fix="Install both in versions that fit (apt-cache policy and apt-cache depends show them; apt-get install <package>=<version>, downgrade if needed) from "
    "one repository, and hold them (apt-mark hold); on a Jetson JetPack's own versions, without NVIDIA's repository for servers.",
    verify="apt-get check prints no unmet dependency.",
    source="apt-get(8); NVIDIA/nvidia-docker #902; dusty-nv/jetson-containers #146",
)
def dependencies_met(facts: Facts, wanted: Wanted) -> Outcome:
    """The toolkit's packages get the versions that they depend on"""
    if without_toolkit(facts, wanted):
        return not_applicable(NONE_HERE)
    text = "\n".join(str(value) for name, value in facts.bundle.stated.items() if name.startswith(("apt", "dpkg", "install")))
    unmet = re.search(UNMET, text)
    if unmet is None:
        return passed() if facts.packages and facts.bundle.complete("dpkg_l") else unknown()
    other = f"{unmet['other']} is there" if unmet["other"] else "it cannot be had"
    cause = (
        f"The package {unmet['package']} depends on {unmet['needs']} in exactly version {unmet['version']}, but {other}: versions of container toolkit, engine "
        "or JetPack from different repositories are mixed, so it cannot be installed or no longer works as a set."
    )
    return failed(f"{unmet['needs']} {unmet['version']}", unmet["other"] or "none", cause=cause)


@rule(
    "container_toolkit.host_c_library",
    layer=CONTAINER_TOOLKIT,
    probes=("os_release",),
    symptom="On Alpine or Void musl: '/usr/bin/nvidia-docker: No such file or directory', though the file is there.",
    cause="The host's C library is musl; NVIDIA's driver and container toolkit are built for glibc, whose loader is not there.",
    fix="Use a distribution with glibc on the host (Debian, Ubuntu, RHEL); NVIDIA supports no musl host, gcompat does not carry the driver.",
    verify="ldd --version names glibc.",
    source="NVIDIA/nvidia-docker #509",
)
def host_c_library(facts: Facts, wanted: Wanted) -> Outcome:
    """The host has the C library that NVIDIA's programs are built for"""
    if without_toolkit(facts, wanted):
        return not_applicable(NONE_HERE)
    system = (facts.os or {}).get("ID", "").strip('"')
    if system not in MUSL_HOSTS:
        return passed(system) if system else unknown()
    stated = (str(value) for value in facts.bundle.stated.values())
    said = next((match.group() for value in stated if (match := NO_PROGRAM_LOADER.search(value))), "")
    if not said:
        return unknown(f"{system}: a musl host, and nobody says what its programs say")
    cause = f"The host runs {system}, whose C library is musl: the programs of the NVIDIA Container Toolkit and of the driver need glibc's loader ({said})."
    return failed("a host with glibc", said, cause=cause)


@rule(
    "container_toolkit.installed",
    layer=CONTAINER_TOOLKIT,
    probes=("nvidia_ctk_version", "nvidia_container_cli_version", "dpkg_l", "rpm_qa"),
    symptom=(
        "docker: 'could not select device driver \"\" with capabilities: [[gpu]]', 'unknown or invalid runtime name: nvidia', "
        "'exec: \"nvidia-container-runtime\": executable file not found in $PATH', or 'nvidia-container-cli: command not found'."
    ),
    cause="The NVIDIA Container Toolkit is not installed.",
    fix=INSTALL,
    verify="nvidia-ctk --version and nvidia-container-cli --version print the same version; docker run --rm --gpus all <image> nvidia-smi",
    source="NVIDIA Container Toolkit install guide; moby daemon/devices_nvidia_linux.go; OpenBMB/XAgent #273; NVIDIA/nvidia-docker #686, #1034, #1190",
)
def installed(facts: Facts, wanted: Wanted) -> Outcome:
    """The container toolkit is installed where containers ask for GPUs"""
    if wanted and wanted.pin("container_toolkit") is None:
        return not_applicable(NONE_HERE)
    program, driver, runtime = (facts.engine_said(pattern) for pattern in (NO_PROGRAM, NO_GPU_DRIVER, NO_RUNTIME))
    said = program or driver or runtime
    if facts.toolkit_absent:
        return _absent(quote(said) if said else "") if wanted or said or facts.runs else not_applicable("no container toolkit, and nothing asks for it")
    if facts.toolkit_absent is False or registered(facts):
        return _incomplete(facts) if driver or program else passed(f"NVIDIA Container Toolkit {facts.toolkit_version or 'registered as a runtime'}")
    if program:
        return _absent(quote(program))
    return _absent_or_not_taken_up(quote(driver)) if driver else unknown()


def _absent(said: str) -> Outcome:
    observed = "not installed" + (f"; {said}" if said else "")
    cause = "The NVIDIA Container Toolkit (package nvidia-container-toolkit) is not installed on the host" + (f", hence: {said}" if said else "") + "."
    return failed("an installed container toolkit", observed, cause=cause)


def _absent_or_not_taken_up(said: str) -> Outcome:
    return failed(
        "a GPU device driver in the daemon",
        said,
        cause=(
            "The Docker daemon has no GPU device driver: the NVIDIA Container Toolkit (nvidia-container-toolkit, whose "
            "nvidia-container-runtime-hook dockerd looks for "
            "on its PATH when it starts) is not installed, or dockerd was not restarted since it was, or is a snap that cannot see it."
        ),
        confidence="medium",
        decided_by="dpkg -l 'nvidia-container-toolkit*' (or rpm -qa 'nvidia-container*'); docker info --format '{{.Runtimes}}'; snap list docker",
    )


def _incomplete(facts: Facts) -> Outcome:
    """Base and library alone serve CDI; --gpus needs the package with the hook, enroot and LXC need nvidia-container-cli."""
    packages_here, needed = facts.toolkit_packages or {}, ("nvidia-container-toolkit", "libnvidia-container-tools")
    missing = [name for name in needed if name not in packages_here]
    looked = any(facts.bundle.complete(listing) and facts.bundle.text(listing) for listing in ("dpkg_l", "rpm_qa"))
    program = facts.engine_said(NO_PROGRAM)
    if program and not missing:
        cause = f"The package of the NVIDIA Container Toolkit is installed, and a program of it is gone: {quote(program)}."
        return failed("the hook's program", quote(program), cause=cause, remedy=REINSTALL)
    if not packages_here or not missing or not looked:
        return passed(f"NVIDIA Container Toolkit {facts.toolkit_version}")
    return failed(
        "all four packages",
        ", ".join(f"{name} {version}" for name, version in packages_here.items()),
        cause=f"The NVIDIA Container Toolkit is installed in part: {' and '.join(missing)} missing, so that only CDI works.",
    )


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
    installed = nvidia.tool_version(facts.bundle.text("nvidia_ctk_version") or "")
    return equals_pin(installed, upstream(wanted.pin("container_toolkit", "version")))


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
    found = {name: version for name, version in (facts.toolkit_packages or {}).items() if name in FAMILY}
    observed = ", ".join(f"{name} {version}" for name, version in found.items())
    said = facts.engine_said(MIXED)
    if len({re.sub(r"\.(?:x86_64|aarch64)$", "", version) for version in found.values()}) > 1:
        return failed("one version", observed, cause=f"The toolkit's packages are of different versions, the upgrade was partial: {observed}.")
    if said:
        cause = f"The toolkit's hook and its library or nvidia-container-cli are of different versions: {quote(said)}."
        return failed("one version", quote(said), cause=cause)
    return passed(observed) if found else unknown("none of the toolkit's packages is in the package list")


@packages.versions_rule("container_toolkit.package_versions", layer=CONTAINER_TOOLKIT, verify="dpkg -l '*nvidia-container*' shows the locked versions.")
def toolkit_packages(facts: Facts, wanted: Wanted) -> Outcome:
    """Toolkit packages are installed at their locked versions"""
    return packages.packages_are_locked_ones(facts, wanted, CONTAINER_TOOLKIT)


@packages.holds_rule("container_toolkit.packages_held", layer=CONTAINER_TOOLKIT)
def toolkit_holds(facts: Facts, wanted: Wanted) -> Outcome:
    """The locked toolkit packages are held"""
    return packages.packages_are_held(facts, wanted, CONTAINER_TOOLKIT)


@packages.configuration_rule("container_toolkit.configuration_is_provisioned", layer=CONTAINER_TOOLKIT)
def toolkit_configuration(facts: Facts, wanted: Wanted) -> Outcome:
    """config.toml is as provisioning left it"""
    if without_toolkit(facts, wanted):
        return not_applicable(NONE_HERE)
    said = packages.configuration_is_provisioned(facts, wanted, "/etc/nvidia-container-runtime/config.toml")
    if said.verdict == FAIL and facts.no_cgroups:
        return unknown("config.toml was edited and says no-cgroups: see policy.no_cgroups_with_rootful_engine")
    return said
