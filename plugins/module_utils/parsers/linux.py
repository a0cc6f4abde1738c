# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Texts of the kernel and of the distribution's tools -> facts. Pure; each accepts every wording that its tool has had."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Mapping, NamedTuple


@dataclass(frozen=True)
class PciDevice:
    """One device of `lspci -nnk`: address with domain, class and `vendor:device` in hex, the kernel driver bound to it, the name if given.

    A listing without numbers gives the class of display devices and the vendor NVIDIA by their names; an excerpt that shows only a driver gives a
    device with an empty address.
    """

    address: str
    kind: str
    identifier: str
    driver: str | None
    name: str


class Package(NamedTuple):
    """One row of dpkg's list. `status` is its letters: wanted (h: held), state (i: installed), and R where it must be installed again."""

    name: str
    version: str
    architecture: str
    status: str

    @property
    def installed(self) -> bool:
        return self.status[1:] == "i"

    def is_of(self, architecture: str) -> bool:
        """Whether it serves this architecture; a list that does not tell is taken at its word."""
        return self.architecture in ("", "all", architecture) or architecture == "all"

    @property
    def held(self) -> bool:
        return self.status[:1] == "h"


@dataclass(frozen=True)
class DkmsModule:
    """One line of `dkms status`: built for one kernel, or only `added` and then without kernel; `note` is what follows the state."""

    name: str
    version: str
    kernel: str | None
    state: str
    note: str = field(default="", compare=False)


@dataclass(frozen=True)
class DeviceNode:
    """A file below /dev: type letter, permission bits, major and minor (None: not a device), owner and group; a bare name has no type and no mode."""

    path: str
    kind: str
    mode: int | None
    major: int | None
    minor: int | None
    owner: str = field(default="", compare=False)
    group: str = field(default="", compare=False)


_PCI = re.compile(r"^(?:([0-9a-f]{4,5}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) .*?\[([0-9a-f]{4})\]:\s*(.*?)\s*\[([0-9a-f]{4}:[0-9a-f]{4})\]", re.I)
# `lspci -n`: "00:04.0 0302: 10de:20b0 (rev a1)"; `lspci -k`: "01:00.0 3D controller: NVIDIA Corporation GA102GL [A10] (rev a1)"
_PCI_NUMBERS = re.compile(r"^(?:([0-9a-f]{4,5}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) ([0-9a-f]{4}): ([0-9a-f]{4}:[0-9a-f]{4})", re.I)
_PCI_NAMES = re.compile(r"^(?:([0-9a-f]{4,5}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) ([A-Z0-9][^:\[]*): (.*?)(?: \(rev \w+\).*)?$", re.I)
_PCI_CLASSES = {"VGA compatible controller": "0300", "3D controller": "0302", "Display controller": "0380", "Audio device": "0403", "Bridge": "0680"}
_DPKG = re.compile(r"^([uihrp][nciUFHWt]R?)\s+(\S+)\s+(\S+)(?:\s+(\S+))?", re.M)
# dkms 2: "nvidia, 535.98, 6.1.0-9-amd64, x86_64: installed"; dkms 3: "nvidia/535.98, 6.1.0-9-amd64, x86_64: installed (notes)"; "nvidia/535.98: added"
_DKMS = re.compile(r"^([^\s,/]+)(?:/|, )([^\s,:]+)(?:, ([^\s,]+), ([^\s,:]+))?: ([\w-]+)([^\n]*)", re.M)
_LS = re.compile(r"^([bcdlps-])([rwxsStT-]{9})[.+@]?\s+\d+\s+(\S+)\s+(\S+)\s+(?:(?:\?|\w+:\S+)\s+)?(?:(\d+),\s*(\d+)|\d+)\s.*?(\S+?)(?: -> \S+)?$", re.M)
_STAT_FILE = re.compile(r"^[ \t]*File: [`'\u2018]?(/dev/nvidia[^\s'\u2019]*)", re.M)
_STAT_TYPE = re.compile(r"Device type: ([0-9a-f]+),([0-9a-f]+)")
_STAT_ACCESS = re.compile(r"Access: \((\d+)/([bcdlps-])\S+\)\s+Uid: \(\s*\d+/\s*(\S+)\)\s+Gid: \(\s*\d+/\s*(\S+)\)")
_HIGHEST_MAJOR = 511  # Linux CHRDEV_MAJOR_MAX; older coreutils print a device type in hex, newer ones in decimal
_GONE = re.compile(r"cannot (?:access|statx?|open) [`'\u2018\"]?(/dev/nvidia[^\s'\u2019`\":]*)['\u2019\"]?: No such file", re.I)


def key_values(text: str) -> dict[str, str]:
    """`KEY=value` lines with optional quotes: os-release, systemctl show."""
    pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line)
    return {key.strip(): value.strip().strip('"') for key, value in pairs}


def colon_values(text: str) -> dict[str, str]:
    """`Key: value` lines: the driver's procfs files."""
    pairs = (line.split(":", 1) for line in text.splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, value in pairs}


def pci_devices(text: str) -> tuple[PciDevice, ...]:
    """`lspci -nnk`, `-nk` and `-k`, with or without domain and names."""
    found: list[PciDevice] = []
    for line in text.splitlines():
        device = _pci_device(line)
        if device:
            found.append(device)
        elif "Kernel driver in use:" in line:
            last = found.pop() if found and found[-1].driver is None else PciDevice("", "", "", None, "")
            found.append(replace(last, driver=line.split(":", 1)[1].strip()))
    return tuple(found)


def _pci_device(line: str) -> PciDevice | None:
    match = _PCI.match(line)
    if match:
        domain, slot, kind, name, identifier = match.groups()
    elif match := _PCI_NUMBERS.match(line):
        (domain, slot, kind, identifier), name = match.groups(), ""
    elif match := _PCI_NAMES.match(line):
        domain, slot, title, name = match.groups()
        kind, identifier = _PCI_CLASSES.get(title, ""), "10de:" if name.upper().startswith("NVIDIA") else ""
    else:
        return None
    return PciDevice(f"{domain or '0000'}:{slot}".lower(), kind.lower(), identifier.lower(), None, name)


def modules(text: str) -> frozenset[str]:
    """/proc/modules or `lsmod`: the first word of each line."""
    return frozenset(line.split()[0] for line in text.splitlines() if line.strip() and not line.startswith("Module "))


def packages(text: str) -> dict[str, Package]:
    """`dpkg -l` or the same columns from dpkg-query, by name without architecture suffix.

    Of a name that is there for several architectures, the row of the machine's own, which is that of dpkg itself.
    """
    rows = [Package(name.split(":")[0], version, architecture, status) for status, name, version, architecture in _DPKG.findall(text)]
    own = next((row.architecture for row in rows if row.name == "dpkg"), "amd64")
    return {row.name: row for row in sorted(rows, key=lambda row: row.is_of(own))}


def dkms(text: str) -> tuple[DkmsModule, ...]:
    """`dkms status` of versions 2 and 3."""
    return tuple(DkmsModule(name, version, kernel or None, state, note.strip()) for name, version, kernel, _architecture, state, note in _DKMS.findall(text))


def device_nodes(text: str) -> dict[str, DeviceNode]:
    """NVIDIA's files below /dev, by path: `ls -l`, with paths or names, `stat`, and bare names."""
    found: dict[str, DeviceNode] = {}
    folder = "/dev/"
    for line in text.splitlines():
        if line.startswith("/dev/") and line.endswith(":"):
            folder = line[:-1] + "/"
        match = _LS.match(line)
        names = [match.group(7)] if match else [] if ":" in line else line.split()
        for path in (path for name in names if (path := _dev_path(folder, name))):
            found[path] = _listed(path, match) if match else DeviceNode(path, "", None, None, None)
    found.update(_stat_nodes(text))
    return {path: node for path, node in found.items() if not (node.kind == "d" and path.startswith("/dev/nvidia-caps"))}


def _dev_path(folder: str, name: str) -> str | None:
    """The path of a name in a listing; None for what is not NVIDIA's."""
    if name.startswith("/dev/nvidia"):
        return name
    if not re.match(r"nvidia(?:\d|ctl|-)", name):
        return None
    return ("/dev/nvidia-caps/" if re.match(r"nvidia-cap\d", name) else folder) + name


def _listed(path: str, match: re.Match[str]) -> DeviceNode:
    kind, bits, owner, group, major, minor, _name = match.groups()
    mode = sum(1 << (8 - place) for place, letter in enumerate(bits) if letter not in "-ST")
    return DeviceNode(path, kind, mode, int(major) if major else None, int(minor) if minor else None, owner, group)


def _stat_nodes(text: str) -> dict[str, DeviceNode]:
    """The blocks of `stat`, each from its `File:` on."""
    starts = list(_STAT_FILE.finditer(text))
    ends = [match.start() for match in starts[1:]] + [len(text)]
    nodes = (_stat_node(match.group(1), text[match.end() : end]) for match, end in zip(starts, ends))
    return {node.path: node for node in nodes if node}


def _stat_node(path: str, block: str) -> DeviceNode | None:
    access, numbers = _STAT_ACCESS.search(block), _STAT_TYPE.search(block)
    if not access:
        return None
    mode, kind, owner, group = access.groups()
    major, minor = _device_type(*numbers.groups()) if numbers else (None, None)
    return DeviceNode(path, kind, int(mode, 8), major, minor, owner, group)


def _device_type(major: str, minor: str) -> tuple[int, int]:
    """`c3,0` or, since coreutils 9, `195,0`."""
    base = 10 if major.isdigit() and int(major, 16) > _HIGHEST_MAJOR else 16
    return int(major, base), int(minor, base)


def mig_capabilities(files: Mapping[str, str]) -> dict[str, int]:
    """The driver's capability files of MIG instances, by path -> `gpu0/gi1`, `gpu0/gi1/ci0` -> the minor of the node that opens it."""
    found = {}
    for path, text in files.items():
        instance = re.search(r"/capabilities/(gpu\d+)/mig/(gi\d+(?:/ci\d+)?)/access$", path)
        minor = re.search(r"^DeviceFileMinor:\s*(\d+)", text, re.M)
        if instance and minor:
            found["/".join(instance.groups())] = int(minor.group(1))
    return found


def missing_device_nodes(text: str) -> frozenset[str]:
    """The paths of which ls or stat say that they are not there; `/dev/nvidia*` stands for all."""
    return frozenset(_GONE.findall(text))


def character_majors(text: str) -> dict[str, int]:
    """/proc/devices: name -> major of the character devices."""
    characters = text.split("Block devices:")[0]
    return {name: int(major) for major, name in re.findall(r"^[ \t]*(\d+) (\S+)", characters, re.M)}


def modinfo(text: str) -> dict[str, str]:
    """`modinfo`: field -> first value."""
    found: dict[str, str] = {}
    for name, value in re.findall(r"^(\w+):\s*(.*)$", text, re.M):
        found.setdefault(name, value.strip())
    return found


def default_kernel(grub: str, environment: str | None) -> str | None:
    """The kernel release that the boot loader starts next: the entry that grub.cfg's default names, or what `grubby --default-kernel` says.

    `next_entry` of grubenv goes before the default where grub.cfg asks for it: it holds for one boot. An entry that is not in the menu starts
    the first one, as GRUB does (GNU GRUB manual, `default`, `fallback`); a first entry that starts no Linux gives None.
    """
    if "\n" not in grub.strip():
        return _release_of(grub.strip())
    menu = grub_menu(grub)
    wanted = _grub_default(grub, environment)
    return next((entry.release for entry in menu if entry.answers_to(wanted)), menu[0].release if menu else None)


@dataclass(frozen=True)
class MenuEntry:
    """One entry of grub.cfg: for each level of the menu its position, title and id ("" without one); the release and arguments of its kernel.

    `release` is None for what starts no kernel named `vmlinuz-RELEASE`: firmware setup, another system.
    """

    levels: tuple[tuple[int, str, str], ...]
    release: str | None
    arguments: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """What GRUB_DEFAULT calls the entry: ids, titles where there is no id, joined by `>`; a `>` within a title is doubled."""
        return ">".join((identity or title).replace(">", ">>") for _position, title, identity in self.levels)

    @property
    def recovery(self) -> bool:
        """Whether it starts a shell for repairs, as Debian (`single`) and Ubuntu (`recovery`) write such entries."""
        return not {"single", "recovery"}.isdisjoint(self.arguments)

    def answers_to(self, wanted: str) -> bool:
        """Whether `default` names this entry: position, title or id at each level. A submenu alone names its first entry."""
        parts = [part.replace("\0", ">") for part in wanted.replace(">>", "\0").split(">")]
        parts += ["0"] * (len(self.levels) - len(parts))
        return len(parts) == len(self.levels) and all(part in (str(position), title, identity) for part, (position, title, identity) in zip(parts, self.levels))


_QUOTED = r"""'[^']*'|"[^"]*"|[^\s{'"]+"""
_MENU_LINE = re.compile(rf"^[ \t]*(submenu|menuentry)[ \t]+({_QUOTED})(.*)\{{[ \t]*$")
_MENU_ID = re.compile(rf"(?:\$\{{?menuentry_id_option\}}?|--id)[ \t=]+({_QUOTED})")
_LINUX_LINE = re.compile(r"^[ \t]*linux(?:16|efi)?[ \t]+(\S+)(.*)$")


def grub_menu(grub: str) -> tuple[MenuEntry, ...]:
    """The entries of a grub.cfg in their order, those of submenus at their submenu's place.

    A text that ends within an entry (a write that was broken off) gives the entries before it.
    """
    entries: list[MenuEntry] = []
    open_blocks: list[tuple[str, tuple[int, str, str]]] = []
    counts = [0]
    image: tuple[str | None, tuple[str, ...]] = (None, ())
    for line in grub.splitlines():
        if start := _MENU_LINE.match(line):
            kind, title, options = start.groups()
            identity = _MENU_ID.search(options)
            open_blocks.append((kind, (counts[-1], _unquoted(title), _unquoted(identity.group(1)) if identity else "")))
            counts[-1] += 1
            counts.append(0)
            image = (None, ())
        elif open_blocks and line.strip() == "}":
            kind, level = open_blocks.pop()
            counts.pop()
            if kind == "menuentry":
                entries.append(MenuEntry((*(above for _kind, above in open_blocks), level), *image))
        elif open_blocks and (kernel := _LINUX_LINE.match(line)):
            image = (_release_of(kernel.group(1)), tuple(kernel.group(2).split()))
    return tuple(entries)


def lacks_mount(fstab: str, mounts: str, folder: str) -> bool:
    """Whether fstab(5) wants a file system at this folder at boot (not `noauto`) and /proc/mounts has none there."""
    rows = [line.split() for line in fstab.splitlines() if not line.lstrip().startswith("#")]
    wanted = any(len(row) > 3 and row[1].rstrip("/") == folder and "noauto" not in row[3].split(",") for row in rows)
    return wanted and all(row.split()[1:2] != [folder] for row in mounts.splitlines())


def menu_choice(grub: str, release: str) -> str | None:
    """What GRUB_DEFAULT must say so that this release starts whatever else is installed later; None where no entry of the menu is bound to it.

    The entry at the top (`gnulinux-simple-...`) belongs to whichever kernel is the newest, so only one with the release in its id or title will do
    (10_linux of GRUB: `gnulinux-RELEASE-advanced-DEVICE`).
    """
    bound = (entry for entry in grub_menu(grub) if entry.release == release and not entry.recovery)
    return next((entry.path for entry in bound if any(release in word for word in entry.levels[-1][1:])), None)


def _unquoted(word: str) -> str:
    return word[1:-1] if word[:1] in ("'", '"') else word


def _grub_default(grub: str, environment: str | None) -> str:
    """The entry that grub.cfg chooses: `next_entry` where grubenv has one and grub.cfg reads it, else the first other `set default`."""
    saved = key_values(environment or "")
    choices = re.findall(r'^[ \t]*set default="?([^"\n]*)"?', grub, re.M)
    if "${next_entry}" in choices and saved.get("next_entry"):
        return saved["next_entry"]
    default = next((choice for choice in choices if choice != "${next_entry}"), "0")
    return (saved.get("saved_entry") or "0") if default == "${saved_entry}" else default


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
    return bool(re.search(rf"^[ \t]*(?:blacklist\s+{re.escape(module)}\s*$|install\s+{re.escape(module)}\s+/(?:usr/)?bin/(?:false|true))", text, re.M))


def blocked_on_command_line(text: str) -> frozenset[str]:
    """Modules that the kernel command line blacklists."""
    return frozenset(
        name for _key, names in re.findall(r"(modprobe\.blacklist|module_blacklist|rd\.driver\.blacklist)=(\S+)", text) for name in names.split(",")
    )
