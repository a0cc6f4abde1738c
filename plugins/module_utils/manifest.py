# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The manifest of an image: what its lock asked for, and what was read back from its root file system. Pure."""

from __future__ import annotations

from typing import Any, Mapping

from ansible_collections.goldnode.gpu.plugins.module_utils.kernel_module import FILE_NAMES
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.dpkg import Installed

SCHEMA = "goldnode.manifest/v1"


def module_facts(modinfo: str) -> dict[str, str | None]:
    """Version, vermagic (its kernel release) and signer from the output of `modinfo FILE`; None for a field that is not there."""
    fields = dict(reversed([(key.strip(), value.strip()) for key, _, value in (line.partition(":") for line in modinfo.splitlines())]))
    vermagic = fields.get("vermagic") or ""
    return {"version": fields.get("version"), "kernel": vermagic.split(" ")[0] or None, "signer": fields.get("signer") or None}


def manifest(
    stack: Mapping[str, Any],
    installed: Mapping[str, Installed],
    kernels: list[str],
    modules: Mapping[str, Mapping[str, str | None]],
    configuration: Mapping[str, str],
    source: Mapping[str, Any],
) -> dict[str, Any]:
    """The manifest `goldnode.manifest/v1`.

    kernels: releases with both an image in /boot and modules; modules: name -> facts, of the locked kernel; configuration: path -> digest.
    """
    pins = stack["pins"]
    driver = (pins.get("nvidia_driver") or {}).get("version")
    return {
        "schema": SCHEMA,
        "pool": stack["pool"],
        "lock_digest": stack["digest"],
        "source": dict(source),
        "kernel": {"expected": pins["kernel"]["version"], "verified": kernels},
        "packages": [_package(package, installed) for package in stack["packages"]],
        "modules": [{"name": name, "expected": driver, "verified": facts["version"], **facts} for name, facts in sorted(modules.items())],
        "configuration": dict(sorted(configuration.items())),
    }


def stack_of(made: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the lock that a manifest holds: enough to make the manifest again from what is installed."""
    drivers = [module["expected"] for module in made["modules"]]
    return {
        "pool": made["pool"],
        "digest": made["lock_digest"],
        "pins": {"kernel": {"version": made["kernel"]["expected"]}, "nvidia_driver": {"version": drivers[0]} if drivers else None},
        "packages": [{**package, "version": package["expected"]} for package in made["packages"]],
    }


def differences(made: Mapping[str, Any]) -> list[str]:
    """What in a manifest is verified other than expected, a clause each; empty for an image that is its lock."""
    kernel = made["kernel"]
    clauses = [
        f"package {package['name']} expected {package['expected']} ({package['layer']}), verified {package['verified'] or 'not installed'}"
        for package in made["packages"]
        if package["verified"] != package["expected"]
    ]
    if kernel["expected"] not in kernel["verified"]:
        clauses.append(f"kernel expected {kernel['expected']}, verified {', '.join(kernel['verified']) or 'none'}")
    return clauses + [clause for module in made["modules"] for clause in _module_differences(module, kernel["expected"])] + _missing_module(made)


def _package(package: Mapping[str, Any], installed: Mapping[str, Installed]) -> dict[str, Any]:
    there = installed.get(f"{package['name']}:{package['architecture']}")
    return {
        "name": package["name"],
        "layer": package["layer"],
        "architecture": package["architecture"],
        "expected": package["version"],
        "verified": there.version if there and there.complete else None,
        "held": there is not None and there.held,
    }


def _module_differences(module: Mapping[str, Any], kernel: str) -> list[str]:
    clauses = []
    if module["expected"] and not same_upstream(module["verified"], module["expected"]):
        clauses.append(f"module {module['name']} expected {module['expected']}, verified {module['verified'] or 'no version'}")
    if module["kernel"] != kernel:
        clauses.append(f"module {module['name']} expected for kernel {kernel}, verified for {module['kernel'] or 'no kernel'}")
    return clauses


def _missing_module(made: Mapping[str, Any]) -> list[str]:
    wanted = any(package["layer"] == "driver" for package in made["packages"])
    there = any(module["name"] in FILE_NAMES for module in made["modules"])
    return ["module nvidia expected for the locked kernel, verified none"] if wanted and not there else []


def same_upstream(observed: str | None, wanted: str) -> bool:
    """Whether a module's version is the wanted upstream or package version: epoch and Debian revision do not count."""
    upstream = wanted.split(":", 1)[-1].split("-", 1)[0]
    return observed in (upstream, upstream.split("+", 1)[0])
