# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The CUDA probe's line -> report. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Mapping

SCHEMA = "goldnode.cuda_probe/v1"


@dataclass(frozen=True)
class End:
    """How a run or a device ended: the step that failed with its CUresult, or ok."""

    ok: bool
    step: str | None
    result: int | None
    result_name: str | None
    detail: str

    def __str__(self) -> str:
        """`cuInit: 100 CUDA_ERROR_NO_DEVICE`, or the detail where there is no result."""
        if self.ok:
            return "ok"
        words = self.detail if self.detail or self.result is None else f"{self.result} {self.result_name or ''}".strip()
        return f"{self.step}: {words}"


@dataclass(frozen=True)
class Device:
    """A device that the probe saw; `uuid` and `pci` are None if it failed before."""

    uuid: str | None
    pci: str | None
    checksum: str | None
    managed: bool
    end: End


@dataclass(frozen=True)
class Report:
    """One run of the CUDA probe."""

    nonce: str
    simulated: bool
    library: str | None
    driver_version: int | None
    devices: tuple[Device, ...]
    end: End

    @property
    def uuids(self) -> frozenset[str]:
        """The devices by UUID."""
        return frozenset(device.uuid for device in self.devices if device.uuid)

    @property
    def library_release(self) -> str | None:
        """The driver's version in the name of the library's file, `550.163.01`; None where the name has none."""
        version = (self.library or "").rpartition("/libcuda.so.")[2]
        return version if "." in version else None


def report(text: str) -> Report | None:
    """The last line that is a report; None if there is none."""
    lines = [line for line in text.splitlines() if SCHEMA in line and line.startswith("{")]
    try:
        return _report(json.loads(lines[-1])) if lines else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def nonce(value: Any) -> str | None:
    """A nonce as it was issued; None for anything that is no hexadecimal number."""
    return value if isinstance(value, str) and re.fullmatch("[0-9a-fA-F]+", value) else None


def _report(value: Mapping[str, Any]) -> Report:
    answered = nonce(value["nonce"])
    if answered is None:
        raise ValueError("a report without a nonce")
    devices = tuple(
        Device(device.get("uuid"), pci(device.get("pci")), device.get("checksum"), bool(device.get("managed")), _end(device)) for device in value["devices"]
    )
    return Report(answered, bool(value["simulated"]), value["library"], value["driver_version"], devices, _end(value))


def _end(value: Mapping[str, Any]) -> End:
    return End(value["ok"] is True, value.get("step"), value.get("result"), value.get("result_name"), value.get("detail") or "")


def pci(address: str | None) -> str | None:
    """A PCI address as sysfs writes it: `0000:3a:00.0`. CUDA may print capitals, nvidia-smi an eight-digit domain."""
    if address is None:
        return None
    domain, _, rest = address.lower().partition(":")
    return f"{domain[-4:]}:{rest}"
