# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What Docker says about itself, JSON or text -> facts. Pure."""

from __future__ import annotations

import json
import re
from typing import Any

# A key of `docker info` in JSON -> its heading in text.
HEADINGS = {
    "DefaultRuntime": "Default Runtime",
    "CgroupVersion": "Cgroup Version",
    "CgroupDriver": "Cgroup Driver",
    "ServerVersion": "Server Version",
    "OperatingSystem": "Operating System",
    "DockerRootDir": "Docker Root Dir",
    "Name": "Name",
}


# What people write into daemon.json and no JSON parser takes.
JSON_FAULTS = (
    (r"[\u201c\u201d\u2018\u2019]", "typographic quotes"),
    (r",\s*[}\]]", "a comma before a closing bracket"),
    (r"[}\]\"\w]\s*\n\s*\"[\w-]+\"\s*:", "a missing comma before the next key"),
    (r"^[ \t]*(?://|#)", "a comment"),
)


def as_json(text: str) -> dict[str, Any] | None:
    """The mapping that a JSON text holds, or None."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
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
    for key, heading in HEADINGS.items():
        match = re.search(rf"^[ \t]*{heading}:[ \t]*(\S.*)$", text, re.M)
        if match:
            found[key] = match.group(1).strip()
    runtimes = re.search(r"^[ \t]*Runtimes:[ \t]*(.*)$", text, re.M)
    if runtimes:
        found["Runtimes"] = {name: {} for name in runtimes.group(1).split()}
    if re.search(r"^[ \t]*rootless\s*$|name=rootless", text, re.M):
        found["SecurityOptions"] = ["name=rootless"]
    directories = re.search(r"^[ \t]*CDI spec directories:\s*\n((?:\s+/\S+\n?)+)", text, re.M)
    if directories:
        found["CDISpecDirs"] = directories.group(1).split()
    return found or None


def daemon_json_fault(text: str, complete: bool) -> str | None:
    """What makes daemon.json unreadable for the daemon, with its line. A cut excerpt is blamed only for what no continuation can heal."""
    try:
        found = json.loads(text)
    except ValueError as error:
        return _json_fault(text, complete, error)
    except RecursionError:
        return "its brackets are nested too deeply to be one configuration"
    return None if isinstance(found, dict) else "it is not one JSON object"


def _json_fault(text: str, complete: bool, error: ValueError) -> str | None:
    for pattern, what in JSON_FAULTS:
        match = re.search(pattern, text)
        if match:
            return f"{what} on line {text.count(chr(10), 0, match.start()) + 1}"
    return str(error) if complete or str(error).startswith("Extra data") else None


def upstream(version: str) -> str:
    """The upstream part of what Docker prints: `26.1.5+dfsg1` -> `26.1.5`, `v1.7.24~ds1-6` -> `1.7.24`."""
    match = re.match(r"v?(\d+(?:\.\d+)*)", version)
    return match.group(1) if match else version
