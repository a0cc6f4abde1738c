# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What modules that change a node read from it, below the roots that `goldnode_probe_args` names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.module_utils import secure_boot
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import linux, nvidia


def procfs_of(probe_args: Sequence[str]) -> Path:
    """The procfs root out of the probe's arguments, `/proc` without one."""
    pairs = dict(zip(probe_args, probe_args[1:]))
    return Path(pairs.get("--procfs", "/proc"))


def sysfs_of(probe_args: Sequence[str]) -> Path:
    """The sysfs root out of the probe's arguments, `/sys` without one."""
    pairs = dict(zip(probe_args, probe_args[1:]))
    return Path(pairs.get("--sysfs", "/sys"))


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
