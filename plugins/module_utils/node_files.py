# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What modules that change a node read from it, below the roots that `goldnode_probe_args` names, and how they write a file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.module_utils import secure_boot
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import linux, nvidia


def procfs_of(probe_args: Sequence[str]) -> Path:
    """The procfs root out of the probe's arguments, `/proc` without one."""
    return _root(probe_args, "--procfs", "/proc")


def sysfs_of(probe_args: Sequence[str]) -> Path:
    """The sysfs root out of the probe's arguments, `/sys` without one."""
    return _root(probe_args, "--sysfs", "/sys")


def _root(probe_args: Sequence[str], option: str, default: str) -> Path:
    return Path(dict(zip(probe_args, probe_args[1:])).get(option, default))


def pci_ids(sysfs: Path) -> dict[str, str]:
    """The PCI devices: `10de:2236` -> class `0302`."""
    found = {}
    for device in (sysfs / "bus/pci/devices").glob("*"):
        vendor, model, kind = (text_of(device / name).strip().replace("0x", "") for name in ("vendor", "device", "class"))
        found[f"{vendor}:{model}"] = kind[:4]
    return found


def efi_variables(sysfs: Path) -> dict[str, bytes]:
    """The variables of the firmware that say whether Secure Boot holds, by name; empty where the machine has no UEFI."""
    paths = {name: sysfs / f"firmware/efi/efivars/{name}-{guid}" for name, guid in secure_boot.VARIABLES.items()}
    return {name: path.read_bytes() for name, path in paths.items() if path.exists()}


def text_of(path: Path) -> str:
    """A file's text, empty where there is none."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def write(path: Path, text: str, mode: int = 0o644) -> None:
    """Writes by rename: a reader sees the former file or the new one. No text, no file."""
    if not text:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=str(path.parent), prefix=f".{path.name}.")
    with os.fdopen(descriptor, "w") as stream:
        stream.write(text)
        os.fchmod(stream.fileno(), mode)
        os.fsync(stream.fileno())
    Path(name).replace(path)


def running_release(procfs: Path) -> str:
    """The kernel that runs. Never uname: in a container it is the host's."""
    return text_of(procfs / "sys/kernel/osrelease").strip()


def loaded_driver(procfs: Path) -> str | None:
    """The version of the loaded NVIDIA module, None where none is."""
    return nvidia.module_version(text_of(procfs / "driver/nvidia/version"))


def loaded_flavour(procfs: Path) -> str | None:
    """Whether the loaded NVIDIA module is `open` or `proprietary`, None where none is."""
    return nvidia.module_flavour(text_of(procfs / "driver/nvidia/version"))


def boot_default(boot: Path = Path("/boot")) -> str | None:
    """The kernel that the next boot starts, from what update-grub wrote."""
    return linux.default_kernel(text_of(boot / "grub/grub.cfg"), text_of(boot / "grub/grubenv") or None)


def boot_choice(release: str, boot: Path = Path("/boot")) -> str | None:
    """What GRUB_DEFAULT must say for this kernel, from what update-grub wrote; None where the menu has no entry that is bound to it."""
    return linux.menu_choice(text_of(boot / "grub/grub.cfg"), release)


def boot_space(release: str, boot: Path = Path("/boot")) -> tuple[int, int]:
    """Bytes that this kernel's image and initial RAM disk will take, judged by the largest that is there, and bytes that are free.

    Nothing is needed where both are there, and nothing can be judged where no kernel is. A folder that is not there has no room.
    """
    sizes: dict[str, int] = {}
    for pattern, prefix in (("vmlinuz-*", "vmlinuz-"), ("initrd.img-*", "initrd.img-")):
        for path in boot.glob(pattern):
            kernel = path.name[len(prefix) :]
            sizes[kernel] = sizes.get(kernel, 0) + path.stat().st_size
    complete = all((boot / f"{name}-{release}").exists() for name in ("vmlinuz", "initrd.img"))
    needed = 0 if complete else max(max(sizes.values(), default=0) - sizes.get(release, 0), 0)
    if not boot.is_dir():
        return needed, 0
    system = os.statvfs(boot)
    return needed, system.f_bavail * system.f_frsize
