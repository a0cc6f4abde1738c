# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What Docker says about itself, JSON or text -> facts. Pure."""

from __future__ import annotations

import json
import re
from typing import Any


def as_json(text: str) -> dict[str, Any] | None:
    """The mapping that a JSON text holds, or None."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def server_versions(text: str) -> dict[str, str]:
    """`docker version` -> component of the *server* -> version: Engine, containerd, runc. Empty when no daemon answered."""
    value = as_json(text)
    if value is not None:
        components = (value.get("Server") or {}).get("Components") or []
        return {item["Name"]: item["Version"] for item in components}
    server = text.partition("Server:")[2]
    return dict(re.findall(r"^ (\w+)(?: Community)?:?[^\n]*\n\s+Version:\s+(\S+)", server, re.M))


def info(text: str) -> dict[str, Any] | None:
    """`docker info` as JSON, or its text reduced to the same keys as far as rules read them."""
    value = as_json(text)
    return value if value is not None else _info_of_text(text)


def _info_of_text(text: str) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    for key, heading in (
        ("DefaultRuntime", "Default Runtime"),
        ("CgroupVersion", "Cgroup Version"),
        ("CgroupDriver", "Cgroup Driver"),
        ("ServerVersion", "Server Version"),
    ):
        match = re.search(rf"^\s*{heading}:\s*(\S+)", text, re.M)
        if match:
            found[key] = match.group(1)
    runtimes = re.search(r"^\s*Runtimes:\s*(.*)$", text, re.M)
    if runtimes:
        found["Runtimes"] = {name: {} for name in runtimes.group(1).split()}
    directories = re.search(r"^\s*CDI spec directories:\s*\n((?:\s+/\S+\n?)+)", text, re.M)
    if directories:
        found["CDISpecDirs"] = directories.group(1).split()
    return found or None


def upstream(version: str) -> str:
    """The upstream part of what Docker prints: `26.1.5+dfsg1` -> `26.1.5`, `v1.7.24~ds1-6` -> `1.7.24`."""
    match = re.match(r"v?(\d+(?:\.\d+)*)", version)
    return match.group(1) if match else version
