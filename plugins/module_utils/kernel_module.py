# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""NVIDIA's kernel modules by name, what proves one of them, and what a failed build says. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from ansible_collections.goldnode.gpu.plugins.module_utils.secure_boot import is_distributions, is_signed_by

# NVIDIA's own file name first, then Debian's (nvidia-graphics-drivers of bookworm to sid).
FILE_NAMES = ("nvidia", "nvidia-current", "nvidia-current-open")
# What decides in a make.log and in what DKMS prints, the most telling first: the compiler, make, DKMS itself, why it did not sign.
_DECIDING = (r"\berror:", r"\*\*\*.*(?:Error|Stop)", r"^(?:Error!|ERROR)", r"won't be signed|Failed to sign")
# The licence that each kind of module declares (NVIDIA/open-gpu-kernel-modules, nvidia/nv.c; the proprietary module's modinfo).
_LICENSES = {"open": "Dual MIT/GPL", "proprietary": "NVIDIA"}


class Wanted(NamedTuple):
    """The module that must be there: `modules` is `open`, `proprietary` or None for either; `serial` that of the certificate that must have signed it."""

    version: str
    kernel: str
    modules: str | None = None
    serial: str | None = None


def loaded_names(modules: str) -> list[str]:
    """NVIDIA's modules in /proc/modules, in an order in which they can be removed: the newest, which needs the others, is first there."""
    names = [line.split()[0] for line in modules.splitlines() if line.strip()]
    return [name for name in names if name == "nvidia" or name.startswith("nvidia_")]


def deciding_line(log: str) -> str:
    """The line of a build log that says why there is no module: the first error of the most telling kind."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    for pattern in _DECIDING:
        found = next((line for line in lines if re.search(pattern, line)), None)
        if found:
            return found
    return lines[-1] if lines else "the build wrote no log"


def parameters(modinfo: str) -> list[str]:
    """The options that a module has, from all that `modinfo` prints (`parm:           NVreg_EnableMSI:int`)."""
    return re.findall(r"^parm:\s+(\w+):", modinfo, re.M)


def flaw(modinfo: Mapping[str, str], wanted: Wanted) -> str | None:
    """What the module on disk is that it should not be, in a few words; None where it is proven. An empty mapping is no module."""
    if not modinfo:
        return "there is none"
    if modinfo.get("version") != wanted.version:
        return f"it is version {modinfo.get('version', 'unknown')}"
    built_for = modinfo.get("vermagic", "").partition(" ")[0]
    if built_for != wanted.kernel:
        return f"it is built for kernel {built_for or 'unknown'}"
    if wanted.modules and modinfo.get("license", "") != _LICENSES[wanted.modules]:
        return f"its licence is {modinfo.get('license', 'unknown')}, that of the {wanted.modules} modules is {_LICENSES[wanted.modules]}"
    if wanted.serial and not is_signed_by(modinfo, wanted.serial):
        return f"it is signed by {modinfo.get('signer') or 'nobody'}, not by the given certificate (serial number {wanted.serial})"
    return None


def distrust(modinfo: Mapping[str, str], secure_boot: bool, serial: str | None, enrolled: bool, distribution: str, certificate: str) -> str | None:
    """Why the kernel would refuse a proven module under Secure Boot, with the next step; None where it takes it."""
    if not secure_boot:
        return None
    if serial and is_signed_by(modinfo, serial):
        step = f"mokutil --import {certificate}, reboot, confirm it in MokManager on the console, and run it again"
        return None if enrolled else f"Secure Boot is on and the certificate that signed the module is not enrolled: {step}"
    if is_distributions(modinfo, distribution):
        return None
    return (
        f"Secure Boot is on and the module is signed by {modinfo.get('signer') or 'nobody'}, whom {distribution} kernels do not trust: "
        "give nvidia_driver_signing_key and nvidia_driver_signing_certificate, or pin nvidia_driver.build: prebuilt"
    )


def dkms_name(status: str, version: str) -> str | None:
    """The name under which DKMS knows the driver (`nvidia`, `nvidia-current-open`, …), from `dkms status`."""
    found = re.search(rf"^(nvidia[\w-]*)(?:/|, ){re.escape(version)}\b", status, re.M)
    return found.group(1) if found else None
