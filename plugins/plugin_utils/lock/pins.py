# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""pins.yml: its schema, and one sentence for each thing in it that is not accepted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.shape import read_mapping, sentences
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.versions import is_range

ENGINES = ("docker", "containerd", "podman")
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}

_VERSION = {
    "type": "string",
    "pattern": r"^[0-9][A-Za-z0-9._+:~*-]*$",
    "maxLength": 128,
    "description": 'one version as text in quotes ("580.178.04"), or for lock_stack a range ("580.*")',
}
_WORD = {"type": "string", "minLength": 1, "maxLength": 256, "description": "a text"}


def _mapping(description: str, properties: Mapping[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": [key for key in properties if key not in optional],
        "additionalProperties": False,
    }


def _choice(*values: Any) -> dict[str, Any]:
    return {"enum": list(values), "description": " or ".join(str(value) for value in values)}


def _versioned(name: str, *others: str) -> dict[str, Any]:
    keys = ("version", *others)
    return _mapping(f"{name}: {{{', '.join(keys)}}}", dict.fromkeys(keys, _VERSION))


_REFERENCE = {
    "type": "string",
    "pattern": r"^[^@\s]+@sha256:[0-9a-f]{64}$",
    "description": "a container image by digest, name[:tag]@sha256:<64 hex>; a tag alone can move",
}
_CUDA = {"type": "string", "pattern": r"^[0-9]{1,3}\.[0-9]{1,3}$", "description": 'the CUDA version in the image as text in quotes ("12.8")'}
_GPU = _mapping(
    "{model, count}",
    {
        "model": {**_WORD, "description": "a family, product name or PCI device id (10de:26b9)"},
        "count": {"type": "integer", "minimum": 0, "maximum": 1024, "description": "how many the node must have, a whole number"},
    },
)
_MODULE_NAME = {"type": "string", "pattern": r"^[a-z0-9][a-z0-9+._-]*-dkms$", "description": "the name of a DKMS package (mlnx-ofed-kernel-dkms)"}
_MODULES = _mapping("{name, version}", {"name": _MODULE_NAME, "version": _VERSION})
_WORKLOAD = _mapping("{reference, cuda, framework}", {"reference": _REFERENCE, "cuda": _CUDA, "framework": _WORD}, optional=("framework",))
_TOOLKIT = {**_versioned("container_toolkit"), "type": ["object", "null"]}
_TOOLKIT["description"] += ", or null where the pool has none on purpose"

SCHEMA = _mapping(
    "the mapping goldnode_pins",
    {
        "os": _mapping(
            "os: {distribution, release, arch, cgroup}",
            {
                "distribution": _choice("debian", "ubuntu", "rhel", "rocky", "almalinux", "sles", "amazon"),
                "release": {
                    "type": "string",
                    "pattern": r"^[0-9]+(\.[0-9]+)*$",
                    "maxLength": 32,
                    "description": 'the release as text in quotes ("13", "24.04")',
                },
                "arch": _choice(*ARCHITECTURES),
                "cgroup": _choice(1, 2),
            },
        ),
        "gpus": {"type": "array", "items": _GPU, "description": "a list of {model, count}; [] for a pool without GPUs"},
        "kernel": _versioned("kernel"),
        "nvidia_driver": _mapping(
            "nvidia_driver: {version, modules, build}",
            {"version": _VERSION, "modules": _choice("open", "proprietary"), "build": _choice("dkms", "prebuilt")},
        ),
        "container_toolkit": _TOOLKIT,
        "container_engine": _choice(*ENGINES),
        "docker": _versioned("docker", "containerd", "runc"),
        "containerd": _versioned("containerd", "runc"),
        "podman": _versioned("podman"),
        "canary_image": _mapping("canary_image: {reference, cuda}", {"reference": _REFERENCE, "cuda": _CUDA}),
        "fabric_manager": _versioned("fabric_manager"),
        "nvlsm": _versioned("nvlsm"),
        "imex": _versioned("imex"),
        "mig": _mapping("mig: {profile}", {"profile": {**_WORD, "description": 'a MIG layout ("all-1g.10gb")'}}),
        "workload_images": {"type": "array", "items": _WORKLOAD, "description": "a list of {reference, cuda, framework}"},
        "extra_modules": {"type": "array", "items": _MODULES, "description": "a list of {name, version}; [] for none"},
    },
    optional=(*ENGINES, "fabric_manager", "nvlsm", "imex", "mig", "workload_images", "extra_modules"),
)


def problems(pins: Any, ranges: bool = False) -> list[str]:
    """What is not accepted, one sentence (without its place) each. `ranges`: whether `580.*` may stand, as it may for lock_stack."""
    found = sentences(pins, SCHEMA)
    if found:
        return found
    return [*engine_problems(pins), *_floating(pins, ranges), *_fabric_manager_problems(pins)]


def engine_problems(pins: Mapping[str, Any]) -> Iterator[str]:
    engine = pins["container_engine"]
    if engine not in pins:
        yield f"{engine} is missing, but container_engine is {engine}; accepted: {SCHEMA['properties'][engine]['description']}"
    for other in ENGINES:
        if other != engine and other in pins:
            yield f"{other} is pinned, but container_engine is {engine}; accepted: the mapping {engine} alone"


def _floating(pins: Mapping[str, Any], ranges: bool) -> Iterator[str]:
    for place, version in versions(pins):
        if is_range(version) and not ranges:
            yield f'{place} is "{version}"; a node needs one exact version. Write it, or let lock_stack choose'


def _fabric_manager_problems(pins: Mapping[str, Any]) -> Iterator[str]:
    driver, manager = pins["nvidia_driver"]["version"], pins.get("fabric_manager", {}).get("version")
    if manager not in (None, driver):
        yield f'fabric_manager.version is "{manager}"; accepted: that of the driver, "{driver}", for CUDA fails (802) when they differ'


def versions(pins: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each pinned version with its dotted place: (`docker.containerd`, `2.4.1`)."""
    for subject in ("kernel", "nvidia_driver", "container_toolkit", *ENGINES, "fabric_manager", "nvlsm", "imex"):
        for key in ("version", "containerd", "runc"):
            if key in (pins.get(subject) or {}):
                yield f"{subject}.{key}", pins[subject][key]
    for index, module in enumerate(pins.get("extra_modules", [])):
        yield f"extra_modules[{index}].version", module["version"]


def read_pins(path: Path, pool: str, ranges: bool = False) -> dict[str, Any]:
    """The checked pins of a pool; `LockError` names file, key, what is there and what is accepted."""
    pins = read_mapping(path, "goldnode_pins")
    found = problems(pins, ranges)
    if found:
        raise LockError(f"pins.yml of pool {pool} ({path}): " + "; ".join(found) + _advice(pins, pool))
    return dict(pins)


def _advice(pins: Any, pool: str) -> str:
    floats = isinstance(pins, Mapping) and not sentences(pins, SCHEMA) and any(is_range(version) for _, version in versions(pins))
    return f": ansible-playbook goldnode.gpu.lock_stack -e pool={pool}" if floats else "."
