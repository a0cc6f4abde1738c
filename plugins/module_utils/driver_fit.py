# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether the locked driver can come to this node: its GPUs, its switches, and what is there already. Pure; each answer is one sentence or None."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.kernel_module import FILE_NAMES
from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.driver_branches import branch, of_device
from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.gpus import NVSWITCHES, product
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.nvidia import driver_packages

NOTHING = "nothing was changed"
# The NVSwitches of HGX B200 and later are no PCI functions: there the bus does not tell (NVIDIA fabric manager user guide).
_HIDDEN_SWITCHES = ("Blackwell", "Rubin")
# How a package manager takes packages away.
REMOVERS = {"apt": "apt-get purge", "dnf": "dnf remove"}


def gpu_objection(devices: Mapping[str, str], version: str, modules: str) -> str | None:
    """Why a driver of this version and kind cannot drive these GPUs (PCI id `10de:2236` -> class `0302`); a GPU that the table lacks is no reason."""
    for identifier in sorted(one for one, kind in devices.items() if kind.startswith("03")):
        architecture = of_device(identifier)
        if architecture is None:
            continue
        name = f"{product(identifier, '')} ({architecture.name}, {identifier})"
        if modules not in architecture.modules:
            kind = " and ".join(architecture.modules)
            return f"the lock has {modules} kernel modules, {name} of this node runs with {kind} ones only; {NOTHING}: pin nvidia_driver.modules: {kind}"
        if branch(version) < architecture.first or (architecture.last is not None and branch(version) > architecture.last):
            until = f" to {architecture.last}" if architecture.last else " on"
            return f"the lock has driver {version}, {name} of this node is served by branches {architecture.first}{until}; {NOTHING}: pin one of these"
    return None


def switch_objection(devices: Mapping[str, str], has_fabric_manager: bool) -> str | None:
    """Why the pins' fabric manager does not fit the switches of this node.

    Both ways are refusals: with switches and without it CUDA fails with error 802; without switches it ends at each start and leaves a failed unit.
    """
    switches = sum(identifier in NVSWITCHES for identifier in devices)
    gpus = [of_device(identifier) for identifier, kind in devices.items() if kind.startswith("03") and identifier.startswith("10de:")]
    hidden = any(one is None or one.name in _HIDDEN_SWITCHES for one in gpus)
    if switches and not has_fabric_manager:
        return f"this node has NVSwitches and the lock no fabric manager, without which CUDA fails (802); {NOTHING}: pin fabric_manager at the driver's version"
    if has_fabric_manager and gpus and not switches and not hidden:
        return f"the lock has a fabric manager, and this node has no NVSwitch for it to manage; {NOTHING}: take fabric_manager out of the pins of this pool"
    return None


def in_use_objection(loaded: str | None, version: str, held: str, drained: bool) -> str | None:
    """Why another driver must not be installed now: programs that start between its user space and the reload of the module fail (CUDA 803)."""
    if loaded in (None, version) or not held or drained:
        return None
    return (
        f"the GPUs are in use by {held}, driver {loaded} is loaded and the lock has {version}, whose user space does not fit it; {NOTHING}: "
        "drain the node and run it again, or say nvidia_driver_drained=true"
    )


def installer_objection(unowned: Sequence[str], uninstaller: bool, container: bool) -> str | None:
    """Why a driver that no package brought is in the way: NVIDIA's .run installer, or the GPU operator's driver container."""
    if container:
        return (
            "this node's driver runs in a container (/run/nvidia/driver, the GPU operator's); "
            f"{NOTHING}: set driver.enabled=false in the operator, reboot, and run it again"
        )
    if uninstaller or unowned:
        seen = ", ".join([*(["/usr/bin/nvidia-uninstall"] if uninstaller else []), *unowned][:3])
        way = "nvidia-uninstall --silent" if uninstaller else "sh NVIDIA-Linux-<its version>.run --uninstall"
        return f"this node has a driver by NVIDIA's .run installer ({seen}: of no package); {NOTHING}: {way}, reboot, and run it again"
    return None


def foreign_objection(listing: str, manager: str, ours: Iterable[str], version: str) -> str | None:
    """Why packages of another driver are in the way: those of the driver's family that neither this lock nor the former has, at another version."""
    known = set(ours)
    foreign = {name: other for name, other in driver_packages(listing).items() if name not in known and other != version}
    if not foreign:
        return None
    names = sorted(foreign)
    seen = ", ".join(f"{name} {foreign[name]}" for name in names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    return f"packages of another driver are installed, of which the lock has none ({seen}); {NOTHING}: {REMOVERS[manager]} {' '.join(names)}, then run it again"


def former_names(preferences: str) -> list[str]:
    """The packages that a former lock brought, as goldnode's apt preferences of the layer name them."""
    return re.findall(r"^Package: ([^\s*\[]+)$", preferences, re.M)


# -- options of the module -----------------------------------------------------------------------------------------


def options_objection(options: Mapping[str, Any]) -> str | None:
    """Why a mapping is no set of the nvidia module's options."""
    for name, value in options.items():
        if not re.fullmatch(r"NVreg_\w+", name):
            return f"nvidia_driver_module_options has {name!r}; accepted: options of the module nvidia, which begin with NVreg_ (modinfo --parameters nvidia)"
        if isinstance(value, (dict, list)) or re.search(r'["\n]', str(value)):
            return f"nvidia_driver_module_options.{name} is {value!r}; accepted: a number or a text of one line without quotes"
    return None


def option_text(value: Any) -> str:
    """A value as modprobe and the module take it: booleans are 0 and 1, text with spaces in quotes."""
    if isinstance(value, bool):
        return str(int(value))
    return f'"{value}"' if re.search(r"\s", str(value)) else str(value)


def modprobe_text(options: Mapping[str, Any]) -> str:
    """The file of modprobe.d that sets the options; empty where there are none."""
    if not options:
        return ""
    # Debian's archive loads the module under the name of its file, and modprobe takes options by that name
    lines = [f"options {module} {name}={option_text(value)}\n" for module in FILE_NAMES for name, value in sorted(options.items())]
    return "".join(["# Written by role goldnode.gpu.nvidia_driver; changes are lost.\n", *lines])


def duplicate_objection(files: Mapping[str, str], options: Mapping[str, Any]) -> str | None:
    """Which other file of modprobe.d gives one of the options another value; which one counts would depend on the names of the files."""
    for path, text in sorted(files.items()):
        for words in re.findall(rf"^[ \t]*options[ \t]+(?:{'|'.join(FILE_NAMES)})[ \t]+(.*)$", text, re.M):
            for name, value in re.findall(r"(NVreg_\w+)=(\"[^\"]*\"|\S+)", words):
                if name in options and value.strip('"') != option_text(options[name]).strip('"'):
                    return (
                        f"{path} sets {name}={value}, nvidia_driver_module_options {option_text(options[name])}; {NOTHING}: take the line out of {path}, "
                        "or the option out of nvidia_driver_module_options"
                    )
    return None


def unknown_options(parameters: Iterable[str], options: Mapping[str, Any]) -> list[str]:
    """The options that the built module does not have; none where modinfo lists no parameters."""
    there = set(parameters)
    return sorted(set(options) - there) if there else []


def ineffective_options(params: str, options: Mapping[str, Any]) -> dict[str, str]:
    """Option -> the value that the loaded module uses (/proc/driver/nvidia/params), where it is another one; what is not shown there is not judged."""
    shown = dict(re.findall(r"^(\w+): (.*)$", params, re.M))
    values = {name: shown.get(name[len("NVreg_") :]) for name in options}
    return {name: seen for name, seen in values.items() if seen is not None and _plain(seen) != _plain(option_text(options[name]))}


def _plain(text: str) -> str:
    """A number in the kernel's notations (0x hexadecimal, a leading 0 octal) as decimal; other text without quotes."""
    bare = text.strip().strip('"')
    if re.fullmatch(r"0x[0-9a-fA-F]+|-?\d+", bare):
        base = 16 if bare.startswith("0x") else 8 if re.fullmatch(r"0[0-7]+", bare) else 10
        return str(int(bare, base))
    return bare
