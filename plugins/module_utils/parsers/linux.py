# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Texts of the kernel and of the distribution's tools -> facts. Pure; each accepts every wording that its tool has had."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timezone


@dataclass(frozen=True)
class PciDevice:
    """One line of `lspci -nnk`: address with domain, class and `vendor:device` in hex, the kernel driver bound to it, the name if given."""

    address: str
    kind: str
    identifier: str
    driver: str | None
    name: str


@dataclass(frozen=True)
class Package:
    """One row of dpkg's list. `status` is its two letters: wanted (h: held) and state (i: installed)."""

    name: str
    version: str
    architecture: str
    status: str

    @property
    def installed(self) -> bool:
        return self.status[1:2] == "i"

    @property
    def held(self) -> bool:
        return self.status[:1] == "h"


@dataclass(frozen=True)
class DkmsModule:
    """One line of `dkms status`: built for one kernel, or only `added` and then without kernel."""

    name: str
    version: str
    kernel: str | None
    state: str


@dataclass(frozen=True)
class DeviceNode:
    """One row of `ls -l` below /dev: file type letter, permission bits, major and minor (None: not a device)."""

    path: str
    kind: str
    mode: int
    major: int | None
    minor: int | None


_PCI = re.compile(r"^(?:([0-9a-f]{4}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) .*?\[([0-9a-f]{4})\]:\s*(.*?)\s*\[([0-9a-f]{4}:[0-9a-f]{4})\]", re.I)
_DPKG = re.compile(r"^([uihrp][nciurhWtT]) ?R?\s+(\S+)\s+(\S+)(?:\s+(\S+))?", re.M)
# dkms 2: "nvidia, 535.98, 6.1.0-9-amd64, x86_64: installed"; dkms 3: "nvidia/535.98, 6.1.0-9-amd64, x86_64: installed (notes)"; "nvidia/535.98: added"
_DKMS = re.compile(r"^([^\s,/]+)(?:/|, )([^\s,:]+)(?:, ([^\s,]+), ([^\s,:]+))?: (\w+)", re.M)
_LS = re.compile(r"^([bcdlps-])([rwxsStT-]{9})\S*\s+\d+\s+\S+\s+\S+\s+(?:(\d+),\s*(\d+)|\d+)\s.*?(/dev/\S+)", re.M)


def key_values(text: str) -> dict[str, str]:
    """`KEY=value` lines with optional quotes: os-release, systemctl show."""
    pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line)
    return {key.strip(): value.strip().strip('"') for key, value in pairs}


def colon_values(text: str) -> dict[str, str]:
    """`Key: value` lines: the driver's procfs files."""
    pairs = (line.split(":", 1) for line in text.splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, value in pairs}


def pci_devices(text: str) -> tuple[PciDevice, ...]:
    """`lspci -nnk`, with or without domain and names."""
    found: list[PciDevice] = []
    for line in text.splitlines():
        match = _PCI.match(line)
        if match:
            domain, slot, kind, name, identifier = match.groups()
            found.append(PciDevice(f"{domain or '0000'}:{slot}".lower(), kind.lower(), identifier.lower(), None, name))
        elif found and "Kernel driver in use:" in line:
            last = found.pop()
            found.append(PciDevice(last.address, last.kind, last.identifier, line.split(":", 1)[1].strip(), last.name))
    return tuple(found)


def modules(text: str) -> frozenset[str]:
    """/proc/modules or `lsmod`: the first word of each line."""
    return frozenset(line.split()[0] for line in text.splitlines() if line.strip() and not line.startswith("Module "))


def packages(text: str) -> dict[str, Package]:
    """`dpkg -l` or the same columns from dpkg-query, by name without architecture suffix."""
    found = {}
    for status, name, version, architecture in _DPKG.findall(text):
        plain = name.split(":")[0]
        found[plain] = Package(plain, version, architecture, status)
    return found


def dkms(text: str) -> tuple[DkmsModule, ...]:
    """`dkms status` of versions 2 and 3."""
    return tuple(DkmsModule(name, version, kernel or None, state) for name, version, kernel, _architecture, state in _DKMS.findall(text))


def device_nodes(text: str) -> dict[str, DeviceNode]:
    """`ls -l` of device nodes, by path."""
    found = {}
    for kind, bits, major, minor, path in _LS.findall(text):
        mode = sum(1 << (8 - place) for place, letter in enumerate(bits) if letter not in "-ST")
        found[path] = DeviceNode(path, kind, mode, int(major) if major else None, int(minor) if minor else None)
    return found


def character_majors(text: str) -> dict[str, int]:
    """/proc/devices: name -> major of the character devices."""
    characters = text.split("Block devices:")[0]
    return {name: int(major) for major, name in re.findall(r"^\s*(\d+) (\S+)", characters, re.M)}


def modinfo(text: str) -> dict[str, str]:
    """`modinfo`: field -> first value."""
    found: dict[str, str] = {}
    for name, value in re.findall(r"^(\w+):\s*(.*)$", text, re.M):
        found.setdefault(name, value.strip())
    return found


def default_kernel(grub: str, environment: str | None) -> str | None:
    """The kernel release that the boot loader starts next: the entry that grub.cfg's default names, or what `grubby --default-kernel` says.

    An entry chosen by number is found by counting; a named or nested one is not, and then the answer is not known.
    """
    if "\n" not in grub.strip():
        return _release_of(grub.strip())
    entries = re.findall(r"^menuentry .*?^\s*linux\S*\s+(\S+)", grub, re.M | re.S)
    default = _grub_default(grub, environment)
    return _release_of(entries[int(default)]) if default.isdigit() and int(default) < len(entries) else None


def _grub_default(grub: str, environment: str | None) -> str:
    """grub.cfg's first literal `set default`; `saved_entry` comes from grubenv."""
    chosen = [value for value in re.findall(r'^\s*set default="?([^"\n]*)"?', grub, re.M) if value != "${next_entry}"]
    if not chosen:
        return "0"
    saved = re.search(r"^saved_entry=(.*)$", environment or "", re.M)
    return (saved.group(1) if saved else "0") if chosen[0] == "${saved_entry}" else chosen[0]


def _release_of(image: str) -> str | None:
    match = re.search(r"vmlinuz-(\S+)$", image)
    return match.group(1) if match else None


def kernel_images(text: str) -> frozenset[str]:
    """Releases of the kernel images in a listing of /boot."""
    return frozenset(re.findall(r"vmlinuz-(\S+)", text))


def systemd_time(text: str) -> float | None:
    """`Mon 2026-11-30 21:00:00 UTC` (the probe sets TZ=UTC) -> seconds since the epoch; None for an empty one."""
    match = re.search(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC", text)
    return datetime.strptime(match.group(1), "%Y-%m-%d %H:%M:%S").replace(tzinfo=timezone.utc).timestamp() if match else None


def header_kernels(text: str) -> frozenset[str]:
    """Releases in a listing of /lib/modules/*/build."""
    return frozenset(re.findall(r"/lib/modules/([^/\s]+)/build", text))


def blocks(text: str, module: str) -> bool:
    """Whether modprobe configuration keeps a module out: `blacklist`, or `install … /bin/false`."""
    return bool(re.search(rf"^\s*(?:blacklist\s+{re.escape(module)}\s*$|install\s+{re.escape(module)}\s+/(?:usr/)?bin/(?:false|true))", text, re.M))


def blocked_on_command_line(text: str) -> frozenset[str]:
    """Modules that the kernel command line blacklists."""
    return frozenset(
        name for _key, names in re.findall(r"(modprobe\.blacklist|module_blacklist|rd\.driver\.blacklist)=(\S+)", text) for name in names.split(",")
    )
