# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""An LXC container's configuration (lxc.conf or Proxmox) -> which devices it may open. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ALLOW = re.compile(r"^[ \t]*lxc\.(cgroup2?)\.devices\.allow\s*[:=]\s*(?:(a)\b|c\s+(\d+|\*):\S+)", re.M)
# Proxmox 8.1 and later passes a device by "dev0: /dev/nvidia0,gid=44" and allows it by itself; LXD and Incus by a device of type gpu.
_PASSED = re.compile(r"^[ \t]*dev\d+:\s*(?:path=)?(/dev/[\w/-]+)", re.M)
_MOUNTED = re.compile(r"^[ \t]*lxc\.mount\.entry\s*[:=]\s*(/dev/[\w/-]+)", re.M)


@dataclass(frozen=True)
class Devices:
    """What the configuration says: the cgroup keys that it uses, the majors that it allows (None: all), the nodes that it brings in."""

    keys: frozenset[str]
    majors: frozenset[int] | None
    passed: frozenset[str]
    mounted: frozenset[str]


def devices(text: str) -> Devices:
    """Device rules and device nodes of a configuration."""
    found = _ALLOW.findall(text)
    everything = any(every or major == "*" for _key, every, major in found)
    majors = frozenset(int(major) for _key, _every, major in found if major.isdigit())
    return Devices(
        keys=frozenset(key for key, _every, _major in found),
        majors=None if everything else majors,
        passed=frozenset(_PASSED.findall(text)),
        mounted=frozenset(_MOUNTED.findall(text)),
    )
