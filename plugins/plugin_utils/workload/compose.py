# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A Compose file's services -> workloads (Compose specification; docs/workloads.md has the forms)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.workload.model import COMPOSE, DEFAULT_SHM, SHM, Mistake, Request, Workload, interpolated, size_of

DRIVERS = ("nvidia", "cdi", "")


def is_compose(content: Mapping[str, Any]) -> bool:
    """Whether a document is a Compose file: services, and no Kubernetes kind."""
    return isinstance(content.get("services"), dict) and "kind" not in content


def workloads(file: str, content: Mapping[str, Any]) -> Iterator[Workload]:
    """Each service of a file."""
    for name, service in content["services"].items():
        if isinstance(service, dict):
            yield workload(file, str(name), service)


def workload(file: str, name: str, service: Mapping[str, Any]) -> Workload:
    """One service."""
    devices = texts(service.get("devices"))
    volumes = [target for volume in items(service.get("volumes")) if (target := mounted(volume))]
    return Workload(
        file=file,
        name=name,
        engine=COMPOSE,
        image=interpolated(str(service.get("image") or "")),
        command=" ".join([*texts(service.get("entrypoint")), *texts(service.get("command"))]),
        environment=environment(service.get("environment")),
        request=request(service, devices),
        nvidia_runtime=service.get("runtime") == "nvidia",
        device_nodes=tuple(device for device in devices if device.startswith("/dev/nvidia")),
        privileged=service.get("privileged") is True,
        shared_memory=shared_memory(service, volumes),
        durable=tuple(target for target in volumes if target != SHM),
    )


def items(value: Any) -> list[Any]:
    """A list, or nothing."""
    return value if isinstance(value, list) else []


def texts(value: Any) -> list[str]:
    """A list of strings in the two forms that Compose takes: a list, or one string."""
    return [value] if isinstance(value, str) else [str(item) for item in items(value) if isinstance(item, (str, int, float))]


def environment(value: Any) -> dict[str, str]:
    """A mapping, or a list of NAME=value."""
    if isinstance(value, dict):
        return {str(key): interpolated("" if item is None else str(item)) for key, item in value.items() if not isinstance(item, (dict, list))}
    pairs = (text.partition("=") for text in texts(value))
    return {key: interpolated(item) for key, _equals, item in pairs}


def mounted(volume: Any) -> str:
    """Where a volume is mounted; a tmpfs keeps nothing."""
    if isinstance(volume, dict):
        return "" if volume.get("type") == "tmpfs" else str(volume.get("target") or "")
    parts = str(volume).split(":")
    return parts[1] if len(parts) > 1 else parts[0]


def shared_memory(service: Mapping[str, Any], volumes: list[str]) -> int | None:
    """Shared memory: the host's (ipc: host, or mounted) or a size; Docker's default is 64 MB."""
    if str(service.get("ipc") or "").startswith("host") or SHM in volumes or any(SHM in text for text in texts(service.get("tmpfs"))):
        return None
    return size_of(interpolated(str(service.get("shm_size")))) or DEFAULT_SHM


def request(service: Mapping[str, Any], devices: list[str]) -> Request:
    """All ways in which a service asks, as one request."""
    reserved = reservations(service)
    short = service.get("gpus")
    asked = [(f"deploy.resources.reservations.devices[{number}]", entry) for number, entry in enumerate(reserved) if is_gpu(entry)]
    asked += [("gpus", {"count": "all", "capabilities": ["gpu"]})] if short == "all" else []
    asked += [("gpus", {"capabilities": ["gpu"], **entry}) for entry in items(short) if isinstance(entry, dict)]
    cdi = [device for device in devices if device.startswith("nvidia.com/")]
    return Request(
        forms=tuple(sorted({form for form, _entry in asked} | ({"devices"} if cdi else set()))),
        count=next((entry["count"] for _form, entry in asked if isinstance(entry.get("count"), int)), len(cdi) or None),
        all_gpus=next(
            filter(None, [*(all_by(form, entry) for form, entry in asked), *(f"devices: {device}" for device in cdi if device.endswith("=all"))]), ""
        ),
        capabilities=tuple(word for _form, entry in asked for word in texts(entry.get("capabilities"))),
        mistakes=tuple(mistake for form, entry in asked for mistake in mistakes(form, entry)),
    )


def reservations(service: Mapping[str, Any]) -> list[dict[str, Any]]:
    """deploy.resources.reservations.devices."""
    value: Any = service
    for key in ("deploy", "resources", "reservations", "devices"):
        value = value.get(key) if isinstance(value, dict) else None
    return [entry for entry in items(value) if isinstance(entry, dict)]


def is_gpu(entry: Mapping[str, Any]) -> bool:
    """Whether a reserved device is one of NVIDIA's GPUs, also if it is asked for wrongly."""
    driver = str(entry.get("driver") or "")
    return driver.startswith("nvidia") or (
        driver in DRIVERS and ("gpu" in texts(entry.get("capabilities")) or "nvidia.com" in " ".join(texts(entry.get("device_ids"))))
    )


def all_by(form: str, entry: Mapping[str, Any]) -> str:
    """How an entry takes all GPUs; empty where it does not."""
    if entry.get("device_ids"):
        return next((f"{form}: device_ids {text}" for text in texts(entry["device_ids"]) if text.endswith("=all")), "")
    if entry.get("count") in (-1, "all"):
        return f"{form}: count: {entry['count']}"
    return "" if "count" in entry else f"{form}: neither count nor device_ids, which means all"


def mistakes(form: str, entry: Mapping[str, Any]) -> Iterator[Mistake]:
    """What Compose or Docker refuses about an entry."""
    driver, capabilities = str(entry.get("driver") or ""), texts(entry.get("capabilities"))
    if "count" in entry and "device_ids" in entry:
        yield Mistake(
            f"{form}: count and device_ids", "count and device_ids exclude each other: Docker refuses to set both Count and DeviceIDs on a device request."
        )
    if not capabilities:
        yield Mistake(
            f"{form}: no capabilities", "capabilities is mandatory in a device reservation: Compose refuses the file, or the request matches no driver."
        )
    if driver not in DRIVERS:
        yield Mistake(f"{form}: driver: {driver}", f"There is no device driver {driver}: the driver is nvidia, or cdi with device_ids.")
    if driver == "cdi" and "count" in entry:
        yield Mistake(f"{form}: driver: cdi with count", "A CDI request names its devices: Docker says unexpected count in CDI device request.")
    if not isinstance(entry.get("count", 1), int) and entry.get("count") != "all" and not str(entry.get("count")).startswith("$"):
        yield Mistake(f"{form}: count: {entry['count']}", "count is a whole number or the word all.")
