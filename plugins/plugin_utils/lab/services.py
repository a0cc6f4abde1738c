# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The lab's servers: apt repositories over HTTP and the container registry over TLS, both on the hub address only."""

from __future__ import annotations

import json
import socket
import sys
import time
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import cgroups, keys, processes
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.commands import LabError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.identity import REGISTRY_PORT, Lab

HTTP_PORT = 80
PORTS = {"http": HTTP_PORT, "registry": REGISTRY_PORT}


def registry_config(lab: Lab) -> dict[str, object]:
    """Of docker-registry (distribution), https://distribution.github.io/distribution/about/configuration/."""
    tls = {"certificate": str(keys.keys_dir(lab) / "registry.crt"), "key": str(keys.keys_dir(lab) / "registry.key")}
    storage = {"filesystem": {"rootdirectory": str(lab.state / "registry/data")}, "delete": {"enabled": True}}
    return {"version": 0.1, "log": {"level": "warn"}, "storage": storage, "http": {"addr": lab.registry, "tls": tls}}


def argv(lab: Lab, service: str) -> list[str]:
    inside = ["nsenter", f"--net=/run/netns/{lab.prefix}", "--"]
    if service == "http":
        folder = str(lab.state / "repository")
        return [*inside, sys.executable, "-m", "http.server", "--bind", lab.hub, "--directory", folder, str(HTTP_PORT)]
    return [*inside, "docker-registry", "serve", str(_config_path(lab))]


def _config_path(lab: Lab) -> Path:
    return lab.state / "registry/config.json"


def group(lab: Lab, service: str) -> str:
    return f"{lab.prefix}/service-{service}"


def answers(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), timeout=1).close()
    except OSError:
        return False
    return True


def ensure(lab: Lab) -> list[str]:
    """Start those that do not answer; returns their names."""
    (lab.state / "repository").mkdir(parents=True, exist_ok=True)
    write_text(_config_path(lab), json.dumps(registry_config(lab), indent=2) + "\n")
    dead = [service for service, port in PORTS.items() if not answers(lab.hub, port)]
    for service in dead:
        cgroups.clear(group(lab, service))
        processes.start(group(lab, service), argv(lab, service), _log(lab, service))
    for service in dead:
        _wait(lab, service)
    return dead


def _log(lab: Lab, service: str) -> Path:
    return lab.state / "logs" / f"{service}.log"


def _wait(lab: Lab, service: str, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not answers(lab.hub, PORTS[service]):
        if time.monotonic() > end or not cgroups.populated(group(lab, service)):
            raise LabError(f"the lab's {service} server does not answer at {lab.hub}:{PORTS[service]}; its log is {_log(lab, service)}.")
        time.sleep(0.05)
