# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Texts of the NVIDIA driver, its tools and the container toolkit -> facts. Pure; each accepts every wording that its tool has had."""

from __future__ import annotations

import re
from dataclasses import dataclass

VERSION = r"(\d{3,}(?:\.\d+){1,2})"


@dataclass(frozen=True)
class Gpu:
    """One row of `nvidia-smi --query-gpu=… --format=csv`; memory in MiB; a field that the tool did not print is None."""

    index: int
    name: str
    uuid: str
    pci: str
    driver_version: str | None
    memory_mib: int | None
    persistence: str | None
    mig: str | None


def module_version(text: str) -> str | None:
    """/proc/driver/nvidia/version -> version of the loaded module."""
    match = re.search(r"Kernel Module(?: for \S+)?\s+" + VERSION, text)
    return match.group(1) if match else None


def module_flavour(text: str) -> str | None:
    """/proc/driver/nvidia/version -> `open` or `proprietary`."""
    if "Kernel Module" not in text:
        return None
    return "open" if "Open Kernel Module" in text else "proprietary"


def library_version(text: str) -> str | None:
    """nvidia-smi's own version, that of the user space that it links: `NVIDIA-SMI 550.163.01`, or of NVML where it refuses to go on."""
    match = re.search(r"NVML library version:\s*" + VERSION, text) or re.search(r"NVIDIA-SMI(?: version\s*:)?\s+" + VERSION, text)
    return match.group(1) if match else None


# Packages that hold the module (any of dkms, kernel, kmod) or the user space; not the toolkit, nor those with versions of their own.
_PACKAGE = (
    r"(?:kmod-|lib|linux-modules-|xorg-x11-drv-)?nvidia(?!-container|-docker|-settings|-prime|-modprobe|-support|-kernel-common)[\w+-]*?"
    r"|cuda-drivers[\w-]*?|libcuda1"
)
_PACKAGES = (
    rf"^[ih][i]\s+({_PACKAGE})(?::\w+)?\s+(?:\d+:)?(\d{{3}}\.\d+(?:\.\d+)?)",  # dpkg -l
    rf"^({_PACKAGE})/\S+ (?:\d+:)?(\d{{3}}\.\d+(?:\.\d+)?)\S* .*installed",  # apt list
    rf"^({_PACKAGE})-(?:\d+:)?(\d{{3}}\.\d+(?:\.\d+)?)-\S+$",  # rpm -qa
)


def driver_packages(text: str) -> dict[str, str]:
    """`dpkg -l`, `apt list` or `rpm -qa` -> the driver's installed packages with their upstream version."""
    return dict(pair for pattern in _PACKAGES for pair in re.findall(pattern, text, re.M))


def gpus(text: str) -> tuple[Gpu, ...]:
    """The CSV of nvidia-smi's query, columns by their headings."""
    lines = [[cell.strip() for cell in line.split(",")] for line in text.splitlines() if line.strip()]
    headings = [heading.partition("[")[0].rstrip() for heading in lines[0]]
    if not {"index", "name", "uuid", "pci.bus_id"} <= set(headings):
        raise ValueError("not the query's headings")
    return tuple(_gpu(dict(zip(headings, cells))) for cells in lines[1:])


def _gpu(row: dict[str, str]) -> Gpu:
    memory = re.match(r"\d+", row.get("memory.total", ""))
    return Gpu(
        index=int(row["index"]),
        name=row["name"],
        uuid=row["uuid"],
        pci=pci_address(row["pci.bus_id"]),
        driver_version=row.get("driver_version"),
        memory_mib=int(memory.group()) if memory else None,
        persistence=row.get("persistence_mode"),
        mig=row.get("mig.mode.current"),
    )


def pci_address(text: str) -> str:
    """`00000000:01:00.0` (NVML, eight digits of domain) and `0000:01:00.0` (kernel) -> the kernel's form in lower case."""
    domain, _, slot = text.strip().lower().partition(":")
    return f"{domain[-4:]:0>4}:{slot}"


def mig_profiles(text: str) -> tuple[tuple[str, ...], ...]:
    """`nvidia-smi -L` -> for each GPU, the profiles of its MIG devices (`1g.10gb`)."""
    found: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("GPU "):
            found.append([])
        match = re.match(r"MIG (\S+)\s+Device", line.lstrip())
        if match and found:
            found[-1].append(match.group(1))
    return tuple(tuple(profiles) for profiles in found)


def tool_version(text: str) -> str | None:
    """The first `1.2.3` after the word version: nvidia-ctk, podman, containerd, runc."""
    match = re.search(r"\b[vV]?(\d+\.\d+\.\d+)", text)
    return match.group(1) if match else None
