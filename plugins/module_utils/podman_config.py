# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Podman's drop-in of containers.conf, and what `podman info` says. Pure. Source: containers.conf(5)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.daemon_config import deciding_line, merge
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.docker import upstream
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError
from ansible_collections.goldnode.gpu.plugins.module_utils.toml_text import toml_text

HEADER = "# Written by role goldnode.gpu.docker; changes are lost.\n"
# The tables of containers.conf(5), 4.3 to 5.4. A key inside one that Podman does not know is passed over without a word (seen with 5.4.2).
TABLES = ("configmaps", "containers", "engine", "farms", "machine", "manifests", "network", "podmansh", "secrets")
MANAGERS = {1: "cgroupfs", 2: "systemd"}


def drop_in(cgroup: int, options: Mapping[str, Any], environment: Mapping[str, Any]) -> str:
    """The drop-in: who manages control groups, the engine's environment, and `options` over both; RefusedError for a table that Podman would pass over."""
    unknown = sorted(options.keys() - set(TABLES))
    if unknown:
        raise RefusedError(f"containers.conf has no table {', '.join(unknown)}; expected {', '.join(TABLES)}: correct docker_podman_options")
    variables = {"env": [f"{name}={value}" for name, value in sorted(environment.items())]} if environment else {}
    return HEADER + toml_text(merge({"engine": {"cgroup_manager": MANAGERS[cgroup], **variables}}, options))


def complaint(rc: int, stderr: str) -> str | None:
    """Why Podman does not take its configuration."""
    errors = re.findall(r"^Error: .*$", stderr, re.M)
    return (errors[-1] if errors else deciding_line(stderr)) if rc != 0 else None


def answer(info: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """`podman info` in JSON -> versions and control groups, as the modules of the other engines return them."""
    host, version = info.get("host") or {}, (info.get("version") or {}).get("Version")
    return {
        "versions": {"podman": upstream(str(version))} if version else {},
        "cgroup": {"version": str(host.get("cgroupVersion") or "").lstrip("v"), "driver": str(host.get("cgroupManager") or "")},
    }
