# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""containerd's config.toml -> what its CRI plugin was told. Pure; templates of k3s and RKE2 and excerpts are read as far as they go."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Mapping

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import toml

# The CRI plugin's name in config version 1, 2 and 3.
CRI_PLUGINS = {"cri": 1, "io.containerd.grpc.v1.cri": 2, "io.containerd.cri.v1.runtime": 3}


@dataclass(frozen=True)
class ContainerdConfig:
    """`runtimes`: name -> its settings, those of `options` included; `plugin_versions`: config versions under whose name of the CRI plugin they stand."""

    version: int | None
    default_runtime: str | None
    runtimes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    plugin_versions: frozenset[int] = frozenset()
    imports: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()


def config(text: str) -> ContainerdConfig:
    """The file, or an excerpt of it."""
    found = toml.settings(text)
    version = found.get(("version",))
    return ContainerdConfig(
        version=version if isinstance(version, int) else None,
        default_runtime=next((str(value) for path, value in found.items() if path[-1] == "default_runtime_name"), None),
        runtimes=_runtimes(found),
        plugin_versions=frozenset(
            CRI_PLUGINS[path[1]] for path in found if path[:1] == ("plugins",) and path[1:2] and path[1] in CRI_PLUGINS and "containerd" in path[2:]
        ),
        imports=tuple(found.get(("imports",)) or ()),
        disabled=tuple(found.get(("disabled_plugins",)) or ()),
    )


def _runtimes(found: toml.Settings) -> dict[str, dict[str, Any]]:
    runtimes: dict[str, dict[str, Any]] = {}
    for path, value in found.items():
        if "runtimes" in path[:-2]:
            name = path[path.index("runtimes") + 1]
            runtimes.setdefault(name, {})[path[-1]] = value
    return runtimes


def server_version(text: str) -> str | None:
    """`ctr version` -> upstream version of the daemon that answered, None where none did: the client prints its own all the same."""
    match = re.search(r"^Server:\s*\n\s*Version:\s*v?(\d+(?:\.\d+)*)", text, re.M)
    return match.group(1) if match else None
