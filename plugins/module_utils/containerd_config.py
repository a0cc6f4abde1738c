# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""containerd's own configuration for a pool whose engine it is. Pure.

Sources: containerd RELEASES.md (config versions) and docs/cri/config.md, docs/hosts.md; NVIDIA/nvidia-container-toolkit releases 1.17.4 (version 3), 1.18.0
(drop-in) and 1.18.1 (conf.d), #1956 (a drop-in takes its runtime_type from runc's table); NVIDIA/aicr#1688 (a drop-in newer than the root stops containerd).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.daemon_config import merge
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import containerd, toml
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.versions import at_least
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError
from ansible_collections.goldnode.gpu.plugins.module_utils.toml_text import toml_text

HEADER = "# Written by role goldnode.gpu.docker; changes are lost: what a site adds goes into conf.d or docker_containerd_options.\n"
DROP_INS = "/etc/containerd/conf.d"
HOSTS = "/etc/containerd/certs.d"
CDI_FOLDERS = ["/etc/cdi", "/var/run/cdi"]
# The tables of the CRI plugin, by config version: where runtimes are, and where registries are.
TABLES = {
    2: ("io.containerd.grpc.v1.cri", "io.containerd.grpc.v1.cri"),
    3: ("io.containerd.cri.v1.runtime", "io.containerd.cri.v1.images"),
}
VERSION_3_SINCE, TOOLKIT_VERSION_3_SINCE, DROP_IN_SINCE, CDI_SINCE = (2,), (1, 17, 4), (1, 18), (1, 7)


def config_version(engine: str, toolkit: str | None) -> int:
    """The newest that both containerd and the toolkit's nvidia-ctk understand; containerd 2 reads version 2 too."""
    return 3 if at_least(engine, VERSION_3_SINCE) and (toolkit is None or at_least(toolkit, TOOLKIT_VERSION_3_SINCE)) else 2


def root_text(engine: str, toolkit: str | None, systemd_cgroup: bool, options: Mapping[str, Any]) -> str:
    """config.toml: `runc` the default with the node's cgroup driver, CDI on, drop-ins imported; `options` over it, table by table."""
    version = config_version(engine, toolkit)
    if options.get("version", version) != version:
        raise RefusedError(
            f"docker_containerd_options asks for config version {options['version']}, expected {version}: the one that containerd {engine} "
            f"and the container toolkit {toolkit or '(none)'} both read; leave it out"
        )
    runtimes, images = TABLES[version]
    runc = {"runtime_type": "io.containerd.runc.v2", "options": {"SystemdCgroup": systemd_cgroup}}
    cdi = {"enable_cdi": True, "cdi_spec_dirs": CDI_FOLDERS} if at_least(engine, CDI_SINCE) else {}
    plugins = merge(
        {runtimes: {**cdi, "containerd": {"default_runtime_name": "runc", "runtimes": {"runc": runc}}}},
        {images: {"registry": {"config_path": HOSTS}}},
    )
    tree = {"version": version, "imports": [f"{DROP_INS}/*.toml"], "plugins": plugins}
    return HEADER + toml_text(merge(tree, options))


def newer_drop_ins(version: int, drop_ins: Mapping[str, str]) -> str | None:
    """The drop-ins (path -> text) of a config version above the root's: containerd 2 does not start with one, containerd 1 leaves its tables out."""
    found = {path: containerd.config(text).version for path, text in sorted(drop_ins.items())}
    newer = [f"{path} is of config version {its}" for path, its in found.items() if its is not None and its > version]
    return f"{' and '.join(newer)}, newer than the root's {version}: write it in version {version} or remove it" if newer else None


def objection(dump: str, root: str, wants_nvidia: bool) -> str | None:
    """What is wrong with the configuration as containerd itself sums it up (`containerd config dump`); None where nothing is."""
    found = containerd.config(dump)
    nvidia = found.runtimes.get("nvidia", {})
    reasons = (
        (any(name.endswith("cri") for name in found.disabled), "a file in conf.d disables the CRI plugin, so that no runtime is there"),
        (wants_nvidia and not nvidia, "no runtime nvidia is in it"),
        (
            wants_nvidia and not nvidia.get("runtime_type"),
            "runtime nvidia has no runtime_type, with which containers fail with 'container.Runtime.Name must be set'",
        ),
        (
            bool(_lost(dump, root)),
            f"a file in conf.d takes away {', '.join(_lost(dump, root))}: containerd 1 replaces a plugin's settings by those of the last file that has some "
            "(containerd#5837); put them into docker_containerd_options and remove the file",
        ),
    )
    return next((reason for is_so, reason in reasons if is_so), None)


def _lost(dump: str, root: str) -> list[str]:
    """Settings of the root that are not so in the sum; a sum of another version has other names for them."""
    asked, summed = toml.settings(root), toml.settings(dump)
    same = asked.get(("version",)) == summed.get(("version",))
    return sorted(".".join(path) for path, value in asked.items() if same and path != ("imports",) and summed.get(path) != value)
