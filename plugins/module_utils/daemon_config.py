# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Docker's daemon.json: merge, what a change needs of the daemon, and what the daemon says about it. Pure."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.docker import upstream
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError

# dockerd's own last word, in the order of how much it says; seen with Docker 26.1.5.
_DECIDING = (r"unable to configure the Docker daemon", r"failed to start daemon", r"level=(?:fatal|error)", r"\S")
# `dockerd --validate` came with 23.0 (moby release notes).
VALIDATES_SINCE = (23,)
# What the daemon takes without a restart; docs.docker.com, dockerd, "Configuration reload behavior"; moby daemon/reload.go.
RELOADED = frozenset(
    {
        *("debug", "default-runtime", "insecure-registries", "labels", "live-restore", "max-concurrent-downloads", "max-concurrent-uploads"),
        *("max-download-attempts", "registry-mirrors", "runtimes", "shutdown-timeout"),
    }
)
# A flag of dockerd whose key in daemon.json has another name; moby cmd/dockerd/config.go. Any other flag is called as its key is.
_KEYS = {
    "-H": "hosts",
    "--host": "hosts",
    "-D": "debug",
    "-G": "group",
    "-b": "bridge",
    "-g": "data-root",
    "--graph": "data-root",
    "-l": "log-level",
    "-p": "pidfile",
    "-s": "storage-driver",
    "--cdi-spec-dir": "cdi-spec-dirs",
    "--insecure-registry": "insecure-registries",
    "--authorization-plugin": "authorization-plugins",
    "--default-address-pool": "default-address-pools",
    "--default-ulimit": "default-ulimits",
    "--dns-opt": "dns-opts",
    "--exec-opt": "exec-opts",
    "--label": "labels",
    "--log-opt": "log-opts",
    "--registry-mirror": "registry-mirrors",
    "--storage-opt": "storage-opts",
    "--node-generic-resource": "node-generic-resources",
    "--add-runtime": "runtimes",
    "--feature": "features",
}
# The daemon merges flag and file for these, and refuses to start for every other key that stands in both (moby daemon/config, skipDuplicates).
_MERGED = frozenset({"runtimes"})


def merge(present: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """`wanted` over `present`, mapping by mapping; whatever else `present` has stays, but for a key that is wanted to be None."""
    kept = {key: value for key, value in present.items() if key not in wanted}
    both = {key: merge(_mapping(present.get(key)), value) if isinstance(value, Mapping) else value for key, value in wanted.items() if value is not None}
    return {**kept, **both}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def parsed(text: str, path: str) -> dict[str, Any]:
    """The file's mapping. A text that is none is refused: what its author meant cannot be kept."""
    try:
        present = json.loads(text) if text.strip() else {}
    except ValueError as problem:
        raise RefusedError(f"{path} is not JSON ({problem}); nothing was changed: repair it or remove it") from problem
    if not isinstance(present, dict):
        raise RefusedError(f"{path} holds {type(present).__name__}, not a JSON mapping; nothing was changed: repair it or remove it")
    return present


def merged_text(former: str, wanted: Mapping[str, Any], path: str) -> str:
    """The file with the wanted options in it; the former text, byte for byte, where it says them already."""
    present = parsed(former, path)
    merged = merge(present, wanted)
    return former if former and merged == present else json.dumps(merged, indent=4, sort_keys=True) + "\n"


def reload_is_enough(proven: str, text: str, path: str) -> bool:
    """Whether the daemon that runs with `proven` takes `text` by a reload."""
    before, after = parsed(proven, path), parsed(text, path)
    return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)} <= RELOADED


def flags(exec_start: str, environment: Mapping[str, str]) -> list[str]:
    """The words of a unit's ExecStart, as `systemctl show` prints it, with the unit's variables filled in as systemd does."""
    command = re.search(r"argv\[\]=(.*?) ;", exec_start)
    words = shlex.split(command.group(1)) if command else []
    bare = (re.fullmatch(r"\$(\w+)", word) for word in words)
    return [part for word, name in zip(words, bare) for part in (shlex.split(environment.get(name.group(1), "")) if name else [word])]


def environment(text: str) -> dict[str, str]:
    """The variables of an environment file (systemd.exec(5)), without their quotes."""
    pairs = re.findall(r"^\s*(\w+)=(.*?)\s*$", text, re.M)
    return {name: value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value for name, value in pairs}


def flag_conflicts(words: Iterable[str], keys: Iterable[str]) -> list[str]:
    """`flag (key)` of each flag whose key stands in daemon.json too: dockerd refuses to start with both."""
    given = {word.split("=", 1)[0] for word in words if word.startswith("-")}
    named = {flag: _KEYS.get(flag, flag.lstrip("-")) for flag in given}
    return sorted(f"{flag} ({key})" for flag, key in named.items() if key in set(keys) - _MERGED)


def gpu_containers(inspected: Iterable[Mapping[str, Any]]) -> list[str]:
    """Names of those containers in `docker inspect` that were given GPUs: by --gpus, by CDI, by device node or by NVIDIA's runtime."""
    return sorted(str(one.get("Name", "")).lstrip("/") or str(one.get("Id", ""))[:12] for one in inspected if _has_gpu(one.get("HostConfig") or {}))


def _has_gpu(host: Mapping[str, Any]) -> bool:
    devices = [str(device.get("PathOnHost", "")) for device in host.get("Devices") or ()]
    return bool(host.get("DeviceRequests")) or str(host.get("Runtime", "")).startswith("nvidia") or any("/dev/nvidia" in path for path in devices)


def other_versions(wanted: Mapping[str, Any], answered: Mapping[str, str]) -> list[str]:
    """What answers at another upstream version than the pins', as `runc 1.1.15, expected 1.3.6`. A pin that is null asks nothing."""
    expected = {name: upstream(str(version).rpartition(":")[2]) for name, version in wanted.items() if version}
    observed = {name: upstream(version) for name, version in answered.items()}
    return [f"{name} {observed.get(name, 'does not answer')}, expected {version}" for name, version in expected.items() if observed.get(name) != version]


def other_cgroup(wanted: int | None, version: str) -> list[str]:
    """The same of the version of control groups that an engine found; None asks nothing."""
    return [f"control groups of version {version or 'unknown'}, expected {wanted}"] if wanted and version != str(wanted) else []


def deciding_line(text: str) -> str:
    """The line of dockerd's output or journal that says why it does not run."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = (line for pattern in _DECIDING for line in reversed(lines) if re.search(pattern, line))
    return next(found, "it said nothing")


def reload_error(text: str) -> str | None:
    """What dockerd's journal says of a reload that it did not take."""
    found = re.findall(r"^.*level=error.*(?:[Cc]onfig|reload).*$", text, re.M)
    return found[-1].strip() if found else None
