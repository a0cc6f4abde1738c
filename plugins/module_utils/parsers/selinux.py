# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""SELinux denials in an audit or kernel log, and the mode -> facts. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.linux import key_values

# audit: avc:  denied  { read write } for pid=1 comm="x" path="/dev/nvidia0" … scontext=u:r:container_t:s0 tcontext=… tclass=chr_file permissive=0
_DENIED = re.compile(r"avc:\s+denied\s+\{ ([^}]*) \}([^\n]*)")
# setroubleshoot's form of the same
_SEALERT = re.compile(r"^Source Context\s+(\S+)[\s\S]*?^Target Context\s+(\S+)[\s\S]*?^Target Objects\s+(\S+)(?: \[ (\w+) \])?", re.M)


@dataclass(frozen=True)
class Denial:
    """One denial. `source` and `target` are types, `path` what was touched as far as the line says."""

    permissions: tuple[str, ...]
    command: str
    path: str
    source: str
    target: str
    kind: str
    permissive: bool

    @property
    def on_gpu_device(self) -> bool:
        """Whether a container touched a GPU's device node; selinux-policy's type for these is xserver_misc_device_t."""
        by_container = any(word in self.source for word in ("container", "svirt", "spc_t"))
        return by_container and ("/dev/nvidia" in self.path or (self.kind == "chr_file" and ("nvidia" in self.path or self.target == "xserver_misc_device_t")))

    def __str__(self) -> str:
        return f"{self.source} denied {{ {' '.join(self.permissions)} }} on {self.path or self.kind} ({self.target})"


def denials(text: str) -> tuple[Denial, ...]:
    """Every denial of a text, in both forms."""
    lines = tuple(_of_line(words, rest) for words, rest in _DENIED.findall(text))
    if lines:
        return lines
    return tuple(Denial((), "", path, _type(source), _type(target), kind, False) for source, target, path, kind in _SEALERT.findall(text))


def _of_line(words: str, rest: str) -> Denial:
    fields = key_values("\n".join(re.findall(r'\b\w+=(?:"[^"]*"|\S+)', rest)))
    path = fields.get("path") or fields.get("name") or ""
    return Denial(
        permissions=tuple(words.split()),
        command=fields.get("comm", ""),
        path=path,
        source=_type(fields.get("scontext", "")),
        target=_type(fields.get("tcontext", "")),
        kind=fields.get("tclass", ""),
        permissive=fields.get("permissive") == "1",
    )


def _type(context: str) -> str:
    """`system_u:system_r:container_t:s0:c1,c2` -> `container_t`."""
    parts = context.split(":")
    return parts[2] if len(parts) > 2 else context


def mode(text: str) -> str | None:
    """getenforce's word, or that of sestatus; lower case."""
    found = re.search(r"^(?:Current mode:\s*)?(enforcing|permissive|disabled)\s*$", text, re.M | re.I)
    return found.group(1).lower() if found else None


def booleans(text: str) -> dict[str, bool]:
    """`getsebool -a`."""
    return {name: state == "on" for name, state in re.findall(r"^(\S+) --> (on|off)", text, re.M)}
