# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a container was asked to get: a command line, a Compose file, `docker inspect` -> requests. Pure."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import plain_yaml

# Options of `docker run` that take no value; every other one does. docker CLI 20.10 to 29, cli/command/container/opts.go.
SWITCHES = re.compile(
    "--(?:detach|disable-content-trust|help|init|interactive|no-healthcheck|oom-kill-disable|privileged|publish-all|quiet|read-only|rm|sig-proxy|tty"
    "|use-api-socket)|-[diqtP]+"
)
ENGINES = re.compile(r"(?:^|[\s;&|(])(?:docker|podman|nerdctl)\s+(?:container\s+)?(?:run|create)\s+(.*)", re.S)
SERVICE_KEYS = {
    "image",
    "build",
    "deploy",
    "environment",
    "runtime",
    "devices",
    "gpus",
    "shm_size",
    "ipc",
    "privileged",
    "command",
    "env_file",
    "container_name",
}


@dataclass(frozen=True)
class GpuRequest:
    """One container's request. `gpus` is what its --gpus or its reservations say, as text; empty where there are none."""

    source: str
    image: str = ""
    gpus: tuple[str, ...] = ()
    count: str | None = None
    ids: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    runtime: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    privileged: bool = False
    shared_memory: str = ""
    ipc: str = ""
    arguments: tuple[str, ...] = ()

    @property
    def cdi(self) -> tuple[str, ...]:
        """Devices that are asked for by their CDI name."""
        return tuple(device for device in (*self.devices, *self.ids) if re.match(r"[\w.-]+/[\w.-]+=", device))

    @property
    def bare_nodes(self) -> tuple[str, ...]:
        """Device nodes that are passed by path."""
        return tuple(device.split(":")[0] for device in self.devices if device.startswith("/dev/nvidia"))

    @property
    def asks(self) -> bool:
        """Whether it asks for a GPU in any of the ways that inject one."""
        return bool(self.gpus or self.cdi or self.runtime.startswith("nvidia"))

    @property
    def driver_capabilities(self) -> tuple[str, ...]:
        """The driver's parts that it names, by the request or by the environment; empty where it leaves the choice to the container image."""
        named = tuple(name for name in self.capabilities if name not in ("gpu", "nvidia", "tpu"))
        return named or capabilities(self.environment.get("NVIDIA_DRIVER_CAPABILITIES", ""))


def capabilities(text: str) -> tuple[str, ...]:
    """`compute,utility` -> its names."""
    return tuple(name for name in re.split(r"[,\s]+", text.strip().strip("\"'")) if name)


def environment(entries: Any) -> dict[str, str]:
    """A mapping, or a list of `NAME=value`."""
    if isinstance(entries, Mapping):
        return {str(name): "" if value is None else str(value) for name, value in entries.items()}
    pairs = (str(entry).partition("=") for entry in entries or () if isinstance(entry, str))
    return {name.strip(): value.strip().strip("\"'") for name, _equals, value in pairs}


# --- a command line


def of_command(command: str) -> GpuRequest | None:
    """The request of `docker run …` and its kin; None for any other command."""
    found = ENGINES.search(command.replace("\\\n", " "))
    if not found:
        return None
    line = found.group(1)
    words = shlex.split(line) if any(mark in line for mark in "'\"\\") else line.split()
    options, rest = _options(words)
    asked = [_gpus(value) for value in options.get("gpus", ())]
    return GpuRequest(
        source="command",
        image=rest[0] if rest else "",
        gpus=tuple(options.get("gpus", ())),
        count=next((count for count, _ids, _names in asked if count), None),
        ids=tuple(name for _count, ids, _names in asked for name in ids),
        capabilities=tuple(name for _count, _ids, names in asked for name in names),
        devices=tuple(options.get("device", ())),
        runtime=_last(options, "runtime"),
        environment=environment([*options.get("env", ()), *options.get("e", ())]),
        privileged="privileged" in options and _last(options, "privileged") != "false",
        shared_memory=_last(options, "shm-size"),
        ipc=_last(options, "ipc"),
        arguments=tuple(rest[1:]),
    )


def _options(words: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    """The options before the container image, each with its values, and the image with its arguments."""
    found: dict[str, list[str]] = {}
    at = 0
    while at < len(words) and words[at].startswith("-"):
        name, equals, value = words[at].partition("=")
        at += 1
        if not equals and not SWITCHES.fullmatch(name):
            value, at = (words[at] if at < len(words) else ""), at + 1
        found.setdefault(name.lstrip("-"), []).append(value)
    return found, words[at:]


def _last(options: Mapping[str, list[str]], name: str) -> str:
    return options[name][-1] if name in options else ""


def _gpus(value: str) -> tuple[str | None, tuple[str, ...], tuple[str, ...]]:
    """The value of --gpus -> count, ids, capabilities. It is read as CSV: `"device=0,2"` needs quotes of its own."""
    fields = [part.strip("\"'") for part in re.findall(r'"[^"]*"|[^,]+', value)]
    count: str | None = None
    ids: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    for part in fields:
        key, equals, right = part.partition("=")
        if key == "device":
            ids = tuple(right.split(","))
        elif key == "capabilities":
            names = capabilities(right)
        elif key == "count" or (not equals and count is None):
            count = right if equals else key
    return count, ids, names


# --- a Compose file


def of_compose(text: str) -> tuple[GpuRequest, ...]:
    """The request of each service; a file that is only an excerpt of one service is one."""
    document = plain_yaml.load(text)
    services = document.get("services")
    if not isinstance(services, Mapping):
        inner = {name: value for name, value in document.items() if isinstance(value, Mapping) and SERVICE_KEYS & set(value)}
        services = {"": document} if SERVICE_KEYS & set(document) or not inner else inner
    return tuple(_service(str(name), value) for name, value in services.items() if isinstance(value, Mapping))


def _service(name: str, service: Mapping[str, Any]) -> GpuRequest:
    asked = [*_device_requests(service.get("gpus")), *_reservations(service)]
    return GpuRequest(
        source=f"service {name}" if name else "Compose file",
        image=str(service.get("image") or ""),
        gpus=tuple(json.dumps(request, sort_keys=True) for request in asked),
        count=next((str(request["count"]) for request in asked if request.get("count") is not None), None),
        ids=_strings(request.get("device_ids") for request in asked),
        capabilities=_strings(request.get("capabilities") for request in asked),
        devices=tuple(device for device in _items(service.get("devices")) if isinstance(device, str)),
        runtime=str(service.get("runtime") or ""),
        environment=environment(service.get("environment")),
        privileged=str(service.get("privileged")).lower() == "true",
        shared_memory=str(service.get("shm_size") or ""),
        ipc=str(service.get("ipc") or ""),
    )


def _device_requests(value: Any) -> list[Mapping[str, Any]]:
    """`gpus: all` or its list of requests."""
    if isinstance(value, str):
        return [{"count": value}]
    return [request for request in _items(value) if isinstance(request, Mapping)]


def _reservations(value: Any) -> list[Mapping[str, Any]]:
    """The device requests below `devices`, wherever an excerpt begins: those of NVIDIA, of CDI, or with the capability gpu."""
    if not isinstance(value, Mapping):
        return []
    own = [item for item in _items(value.get("devices")) if isinstance(item, Mapping)]
    gpus = [item for item in own if item.get("driver") in ("nvidia", "cdi") or {"gpu", "nvidia"} & set(_items(item.get("capabilities")))]
    return gpus + [request for key, item in value.items() if key != "devices" for request in _reservations(item)]


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _strings(lists: Iterable[Any]) -> tuple[str, ...]:
    return tuple(str(item) for one in lists for item in _items(one))


# --- docker inspect


def of_inspect(text: str) -> tuple[GpuRequest, ...]:
    """Each container of `docker inspect`."""
    value = json.loads(text)
    return tuple(_container(item) for item in (value if isinstance(value, list) else [value]) if "HostConfig" in item)


def _container(item: Mapping[str, Any]) -> GpuRequest:
    host, config = item["HostConfig"], item.get("Config") or {}
    asked = host.get("DeviceRequests") or []
    nodes = [str(device.get("PathOnHost")) for device in host.get("Devices") or []]
    return GpuRequest(
        source=f"container {str(item.get('Name') or item.get('Id') or '').lstrip('/')[:40]}".strip(),
        image=str(config.get("Image") or ""),
        gpus=tuple(json.dumps(request, sort_keys=True) for request in asked),
        count=next(("all" if request["Count"] == -1 else str(request["Count"]) for request in asked if request.get("Count")), None),
        ids=_strings(request.get("DeviceIDs") for request in asked),
        capabilities=_strings(one for request in asked for one in request.get("Capabilities") or []),
        devices=tuple(nodes),
        runtime=str(host.get("Runtime") or ""),
        environment=environment(config.get("Env")),
        privileged=host.get("Privileged") is True,
        shared_memory=str(host.get("ShmSize") or ""),
        ipc=str(host.get("IpcMode") or ""),
    )
