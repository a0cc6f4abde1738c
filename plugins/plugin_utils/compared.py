# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What of each layer two nodes may have in common, and how it is read from the facts of one.

What differs between any two nodes, or between two looks at one, is not here: addresses, UUIDs, times, counters, process ids, and the majors that
the kernel gives out at boot.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.package_families import layer_of
from ansible_collections.goldnode.gpu.plugins.module_utils.model import CONTAINER_TOOLKIT, DEVICE_NODES, DRIVER, ENGINE, HARDWARE, KERNEL, POLICY
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.linux import DeviceNode, DkmsModule
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.nvidia import tool_version

Values = Mapping[str, str] | None
GPU_MODULE = re.compile("nvidia|nouveau|vfio")


class Subject(NamedTuple):
    """Something of a layer: a name for each of its parts, and its value; None where nobody looked.

    `listing` is the probe whose excerpts prove nothing about a part that is not in them.
    """

    layer: str
    versions: bool
    read: Callable[[Facts], Values]
    listing: str = ""

    def whole(self, facts: Facts) -> bool:
        """Whether a part that is not there is known to be missing."""
        return not self.listing or facts.bundle.complete(self.listing) or facts.bundle.absent(self.listing)


def _one(name: str, read: Callable[[Facts], Any]) -> Callable[[Facts], Values]:
    """A subject that is one value."""

    def values(facts: Facts) -> Values:
        value = read(facts)
        return None if value is None else {name: str(value).strip()}

    return values


def _tool(name: str, probe: str) -> Callable[[Facts], Values]:
    """A tool by the version that it prints; `absent` when it is not installed."""
    return _one(name, lambda facts: "absent" if facts.bundle.absent(probe) else tool_version(facts.bundle.text(probe) or ""))


def _listed(name: str, read: Callable[[Facts], Any]) -> Callable[[Facts], Values]:
    """A set of names, each there or not; equal ones are counted."""

    def values(facts: Facts) -> Values:
        found = read(facts)
        return None if found is None else {f"{name} {item}": f"{count} times" if count > 1 else "yes" for item, count in Counter(map(str, found)).items()}

    return values


def _packages(layer: str) -> Callable[[Facts], Values]:
    """The installed packages of a pinned layer."""

    def values(facts: Facts) -> Values:
        packages = None if facts.packages is None else facts.packages.values()
        return None if packages is None else {package.name: package.version for package in packages if package.installed and layer_of(package.name) == layer}

    return values


def _settings(name: str, read: Callable[[Facts], Any]) -> Callable[[Facts], Values]:
    """Every leaf of a configuration by its path."""

    def values(facts: Facts) -> Values:
        found = read(facts)
        return None if found is None else {f"{name} {path}".strip(): value for path, value in _leaves(found)}

    return values


def _each(values: Iterable[Any] | None, name: Callable[[Any], Any]) -> list[Any] | None:
    """What each of several values is called; those that are called nothing are left out."""
    return None if values is None else [found for value in values if (found := name(value))]


def _dkms(module: DkmsModule) -> str:
    """As `dkms status` says it."""
    return f"{module.name}/{module.version} for {module.kernel or 'no kernel'}: {module.state}"


def _modes(nodes: Mapping[str, DeviceNode]) -> dict[str, str]:
    """Device nodes by path, with who may open them."""
    return {path: f"mode {node.mode:04o}" for path, node in nodes.items()}


def _service(name: str, probe: str) -> Callable[[Facts], Values]:
    """Whether a service is active."""
    return _one(name, lambda facts: (facts.service(probe) or {}).get("ActiveState"))


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else str(key))
    else:
        yield path, value if isinstance(value, str) else json.dumps(value, default=str)


def _lines(name: str, probe: str) -> Callable[[Facts], Values]:
    """A configuration file by its lines, comments and spaces aside."""

    def read(facts: Facts) -> Any:
        text = "" if facts.bundle.absent(probe) else facts.bundle.text(probe)
        return None if text is None else {" ".join(line.split()) for line in text.splitlines() if line.strip() and not line.strip().startswith("#")}

    return _listed(name, read)


SUBJECTS = (
    Subject(HARDWARE, False, _listed("GPU", lambda facts: _each(facts.pci_gpus, lambda gpu: gpu.identifier)), "lspci_nnk"),
    Subject(HARDWARE, False, _listed("memory in MiB", lambda facts: _each(facts.gpus, lambda gpu: f"{gpu.name} {gpu.memory_mib}")), "nvidia_smi_query"),
    Subject(KERNEL, True, _one("operating system", lambda facts: (facts.os or {}).get("PRETTY_NAME"))),
    Subject(KERNEL, True, _one("running kernel", lambda facts: facts.kernel_release)),
    Subject(KERNEL, True, _one("next boot", lambda facts: facts.default_boot_kernel)),
    Subject(KERNEL, True, _packages(KERNEL), "dpkg_l"),
    Subject(KERNEL, False, _listed("headers for", lambda facts: facts.header_kernels), "linux_headers"),
    Subject(KERNEL, False, _listed("DKMS", lambda facts: _each(facts.dkms_modules, _dkms)), "dkms_status"),
    Subject(KERNEL, False, _listed("module", lambda facts: _each(facts.modules, lambda name: GPU_MODULE.match(name) and name)), "lsmod"),
    Subject(KERNEL, False, _listed("option", lambda facts: (facts.bundle.text("kernel_cmdline") or "").split() or None), "kernel_cmdline"),
    Subject(KERNEL, False, _one("nouveau blocked", lambda facts: facts.nouveau_blocked)),
    Subject(DRIVER, True, _one("loaded module", lambda facts: facts.loaded_module_version)),
    Subject(DRIVER, True, _one("user space", lambda facts: facts.library_version)),
    Subject(DRIVER, True, _one("kind of module", lambda facts: facts.loaded_module_flavour)),
    Subject(DRIVER, True, _packages(DRIVER), "dpkg_l"),
    Subject(DRIVER, False, _one("GPUs served", lambda facts: None if facts.gpus is None else len(facts.gpus))),
    Subject(DRIVER, False, _listed("MIG", lambda facts: _each(facts.mig_profiles, " ".join)), "nvidia_smi_list"),
    Subject(DRIVER, False, _listed("persistence", lambda facts: _each(facts.gpus, lambda gpu: gpu.persistence)), "nvidia_smi_query"),
    Subject(DRIVER, False, _service("persistence daemon", "persistenced_service")),
    Subject(DRIVER, False, _service("fabric manager", "fabricmanager_service")),
    Subject(
        DEVICE_NODES, False, _settings("", lambda facts: facts.device_nodes and {path: node.mode for path, node in facts.device_nodes.items()}), "ls_dev_nvidia"
    ),
    Subject(ENGINE, True, _settings("Docker", lambda facts: facts.docker_versions), "docker_version"),
    Subject(ENGINE, True, _tool("Podman", "podman_version")),
    Subject(ENGINE, True, _tool("containerd", "containerd_version")),
    Subject(ENGINE, True, _tool("runc", "runc_version")),
    Subject(ENGINE, True, _packages(ENGINE), "dpkg_l"),
    Subject(ENGINE, False, _settings("daemon.json", lambda facts: facts.docker_config), "docker_daemon_json"),
    Subject(ENGINE, False, _listed("runtime", lambda facts: facts.docker_info and facts.docker_info.get("Runtimes")), "docker_info"),
    Subject(ENGINE, False, _one("default runtime", lambda facts: facts.docker_info and facts.docker_info.get("DefaultRuntime"))),
    Subject(CONTAINER_TOOLKIT, True, _tool("nvidia-ctk", "nvidia_ctk_version")),
    Subject(CONTAINER_TOOLKIT, True, _packages(CONTAINER_TOOLKIT), "dpkg_l"),
    Subject(CONTAINER_TOOLKIT, False, _lines("config.toml:", "toolkit_config"), "toolkit_config"),
    Subject(CONTAINER_TOOLKIT, False, _listed("CDI spec", lambda facts: facts.bundle.files("cdi_specs"))),
    Subject(POLICY, False, _one("control groups", lambda facts: facts.cgroup_version)),
    Subject(POLICY, False, _listed("security option", lambda facts: facts.docker_security_options), "docker_info"),
    Subject(POLICY, False, _one("SELinux", lambda facts: "absent" if facts.bundle.absent("getenforce") else facts.bundle.text("getenforce"))),
)
