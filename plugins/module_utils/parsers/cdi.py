# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""CDI specifications, YAML or JSON -> what they name. Pure; Python on a node has no YAML, and only names are asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Iterator, Tuple

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.docker import as_json
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.nvidia import VERSION

# A device node that a spec describes in full: path, major, minor.
Numbered = Tuple[str, int, int]


@dataclass(frozen=True)
class CdiSpec:
    """What a CDI spec file names: its kind, its devices, the device nodes to inject, and the driver versions and the names in its library paths."""

    path: str
    kind: str
    devices: tuple[str, ...]
    nodes: frozenset[str]
    driver_versions: frozenset[str]
    version: str | None = None
    numbered: frozenset[Numbered] = frozenset()
    libraries: frozenset[str] = frozenset()

    @property
    def directory(self) -> str:
        """Where it lies; /run and /var/run are one."""
        return re.sub(r"^/var/run/", "/run/", self.path.rpartition("/")[0])

    @property
    def names_nothing(self) -> bool:
        """Whether no word of it is one of a CDI spec."""
        return not (self.kind or self.devices or self.nodes or self.driver_versions or self.version)


def cdi_spec(path: str, text: str) -> CdiSpec:
    """One file; an excerpt has an empty kind where it does not show one."""
    tree = as_json(text)
    return _of_tree(path, tree) if tree is not None else _of_text(path, text)


def _of_tree(path: str, tree: dict[str, Any]) -> CdiSpec:
    nodes = [node for node in _mappings(tree, "deviceNodes") if str(node.get("hostPath") or node.get("path")).startswith("/dev/nvidia")]
    texts = " ".join(str(mount.get("hostPath")) for mount in _mappings(tree, "mounts"))
    return CdiSpec(
        path=path,
        kind=str(tree.get("kind") or ""),
        devices=tuple(str(device["name"]) for device in tree.get("devices") or () if isinstance(device, dict) and "name" in device),
        nodes=frozenset(str(node.get("hostPath") or node.get("path")) for node in nodes),
        driver_versions=_driver_versions(texts),
        version=str(tree["cdiVersion"]) if tree.get("cdiVersion") else None,
        libraries=_libraries(texts),
        numbered=frozenset(
            (str(node.get("hostPath") or node.get("path")), node["major"], node.get("minor", 0)) for node in nodes if isinstance(node.get("major"), int)
        ),
    )


def _mappings(value: Any, key: str) -> Iterator[dict[str, Any]]:
    """Every mapping in a list under this key, at any depth."""
    if isinstance(value, dict):
        items = value.get(key)
        yield from (item for item in (items if isinstance(items, list) else ()) if isinstance(item, dict))
        for item in value.values():
            yield from _mappings(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from _mappings(item, key)


def _of_text(path: str, text: str) -> CdiSpec:
    kind = re.search(r"\bkind[\"']?:\s*[\"']?([\w./-]+)", text)
    version = re.search(r"\bcdiVersion[\"']?:\s*[\"']?([\d.]+)", text)
    return CdiSpec(
        path=path,
        kind=kind.group(1) if kind else "",
        devices=tuple(re.findall(r"\bname[\"']?:\s*[\"']?([\w.:-]+)[\"']?\s*(?:,|\n|\}|\Z)", _devices_part(text))),
        nodes=frozenset(re.findall(r"\b(?:hostPath|path)[\"']?:\s*[\"']?(/dev/nvidia[\w/-]*)", text)),
        driver_versions=_driver_versions(text),
        version=version.group(1).rstrip(".") if version else None,
        numbered=frozenset(_numbered(text)),
        libraries=_libraries(text),
    )


def _driver_versions(text: str) -> frozenset[str]:
    """The driver's own libraries carry its version, three digits first; others (egl-gbm, wayland) have small ones."""
    return frozenset(re.findall(r"/lib[\w+-]*\.so\." + VERSION + r"(?![\d.])", text))


def _libraries(text: str) -> frozenset[str]:
    """Of CUDA's and NVML's libraries those that are mounted."""
    return frozenset(name for name in ("libcuda", "libnvidia-ml") if f"/{name}.so." in text)


def library_paths(text: str) -> tuple[str, ...]:
    """The files of the driver's version that the spec mounts, by their paths on the host."""
    found = re.finditer(r"hostPath[\"']?:\s*[\"']?(/[^\s\"',]*\.so\." + VERSION + r")(?![\w.])", text)
    return tuple(sorted({match.group(1) for match in found}))


def _numbered(text: str) -> Iterator[Numbered]:
    """Each item of a list that names a node of NVIDIA's and its major; an absent minor is 0."""
    for item in re.split(r"^[ \t]*-\s", text, flags=re.M):
        if "/dev/nvidia" not in item:
            continue
        node = re.search(r"\bhostPath:\s*[\"']?(/dev/nvidia\S*?)[\"']?\s*$", item, re.M) or re.search(
            r"\bpath:\s*[\"']?(/dev/nvidia\S*?)[\"']?\s*$", item, re.M
        )
        major, minor = re.search(r"\bmajor:\s*(\d+)", item), re.search(r"\bminor:\s*(\d+)", item)
        if node and major:
            yield node.group(1), int(major.group(1)), int(minor.group(1)) if minor else 0


def _devices_part(text: str) -> str:
    """From the devices on, up to the edits that all share: names of hooks and environments stand elsewhere."""
    start = re.search(r"^[ \t]*devices:", text, re.M)
    end = re.search(r"^containerEdits:", text, re.M)
    return text[start.start() if start else 0 : end.start() if end and start and end.start() > start.start() else len(text)]


def effective(specs: tuple[CdiSpec, ...]) -> tuple[CdiSpec, ...]:
    """Those that count: a spec in /etc/cdi whose every device is also in /run/cdi is not used, since the later directory wins."""
    late = {(spec.kind, device) for spec in specs if spec.directory == "/run/cdi" for device in spec.devices}
    return tuple(spec for spec in specs if spec.directory != "/etc/cdi" or not spec.devices or any((spec.kind, device) not in late for device in spec.devices))
