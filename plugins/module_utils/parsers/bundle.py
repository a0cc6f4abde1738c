# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Reading an evidence bundle (docs/evidence.md): the forms in which a probe's value comes, and no judgement about them."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, Iterator, Mapping

# More of this than one letter in ten, and a text is no tool's words: control characters that no terminal gets, and what was no UTF-8.
UNREADABLE = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f\ud800-\udfff\ufffd]")
# No tool prints more than a few words without one small letter, but for the list of GPUs.
_SMALL = re.compile("[a-z]")
_CAPITALS = re.compile("[A-Z]")
_FEW_CAPITALS = 16
EVERYTHING = "*"
LONGEST_LINE = 2000
_LONG_LINE = re.compile(rf"[^\n]{{{LONGEST_LINE}}}")
# The smallest buffer that kernels keep their log in (CONFIG_LOG_BUF_SHIFT 17, 128 KiB with what belongs to each record), less those records.
SMALLEST_RING = 64 * 1024

# Of a text that was cut only these still say something true: logs and listings, in which each line stands for itself.
_BY_LINE = frozenset(
    [
        "dmesg",
        "kernel_log",
        "journal",
        "syslog",
        "audit_avc",
        "apt_history",
        "apt_list",
        "dpkg_l",
        "rpm_qa",
        "pacman_q",
        "lsmod",
        "lspci_nnk",
        "lspci_vv",
        "ls_dev_nvidia",
        "ls_driver_libs",
        "ldconfig_p",
        "pod_events",
        "recent_commands",
    ]
)

# What a text has in it if its tool wrote it. Any other one is garbled and counts as not collected: nothing that is missing in it proves anything.
# An empty listing says that there is nothing, if it claims to be whole.
_RELEASE = r"\A\s*(?:Linux \S+ )?\d+\.\d+\S*"
_SHAPES = {
    name: re.compile(pattern, re.M)
    for name, pattern in {
        "boot_kernels": r"vmlinu[xz]|^[-l][rwx-]{9}",
        "dmesg": r"\[ *\d+\.\d+\]|Linux version \d|\bkernel:|NVRM|nvidia|\bmodule\b|\bGPU\b|\bpcie?\b|\baudit\b",
        "dpkg_l": r"^[uihrp][ncHUFWti]R?\s+[a-z0-9][a-z0-9+.-]+(?::\w+)?\s+\d",
        "kernel_release": _RELEASE,
        "linux_headers": r"/build\b|^[-dl][rwx-]{9}",
        "ls_dev_nvidia": r"/dev/nvidia|^[-bcdl][rwxsStT-]{9}",
        "lsmod": r"\A\s*\Z|^\w+\s+\d+\s+\d+|^Module\s+Size",
        "lspci_nnk": r"\A\s*\Z|^(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]|Kernel driver in use:|\bNVIDIA\b|<unassigned>",
        "nvidia_smi_q": r"NVSMI LOG|^GPU [0-9A-Fa-f]{4,8}:|^ *[A-Z][\w ./()-]* : |<(?:nvidia_smi_log|gpu|product_name)\b",
        "os_release": r"^(?:ID|NAME|PRETTY_NAME|VERSION_ID)=",
        "proc_devices": r"^Character devices:",
        "uname_m": r"\A\s*(?:x86_64|amd64|aarch64|arm64|i[3-6]86|armv\d\w*|ppc64(?:le)?|riscv64|s390x)\s*\Z",
        "uname_r": _RELEASE,
    }.items()
}


class Bundle:
    """Read access to one bundle. None always means: not known."""

    def __init__(self, evidence: Mapping[str, Any]) -> None:
        self.probes = _mapping(evidence.get("probes"))
        self.stated = _mapping(evidence.get("stated"))
        self._runs = evidence.get("runs")
        self._texts: dict[str, str | None] = {}

    @cached_property
    def runs(self) -> tuple[Mapping[str, Any], ...]:
        """The GPU container runs that were tried."""
        return tuple(run for run in self._runs if isinstance(run, dict)) if isinstance(self._runs, (list, tuple)) else ()

    @cached_property
    def holds(self) -> frozenset[str]:
        """The names of all that is there; EVERYTHING is what somebody asks for who looks at all names."""
        return frozenset([*self.probes, *self.stated, EVERYTHING, *(["runs"] if self.runs else [])])

    def looked(self, name: str) -> bool:
        """Whether the probe looked and has an answer, be it that the thing is not there."""
        return name in self.probes and not self.error(name)

    def text(self, name: str) -> str | None:
        """What a command printed on stdout or what a file holds; None when it is absent, garbled, failed to run or nobody looked."""
        if name not in self.probes:
            return None
        if name not in self._texts:
            self._texts[name] = self._whole_text(name)
        return self._texts[name]

    def _claims_all(self, name: str) -> bool:
        return self._key(name, "complete") is True and self._key(name, "truncated") is not True

    def output(self, name: str) -> str | None:
        """stdout and stderr together, for tools that say the important thing on either."""
        spoken = self._key(name, "stderr")
        parts = [part for part in (self.text(name), spoken) if part and _readable(part)]
        return "\n".join(parts) if parts or self.text(name) is not None else None

    def rc(self, name: str) -> int | None:
        """A command's exit status; a plain string stands for a command that ended with 0."""
        code = 0 if isinstance(self.probes.get(name), str) else self._key(name, "rc")
        return code if isinstance(code, int) else None

    def absent(self, name: str) -> bool:
        """It was looked for and is not there."""
        return self._key(name, "absent") is True

    def complete(self, name: str) -> bool:
        """Nothing was left out: only then does a missing line prove anything."""
        return self._claims_all(name) and (name not in _SHAPES or self.text(name) is not None)

    def wrapped(self, name: str) -> bool:
        """A log as long as the kernel keeps one, of which nothing was cut: its beginning was overwritten."""
        return self._key(name, "complete") is False and self._key(name, "truncated") is False and len(self.text(name) or "") >= SMALLEST_RING

    def error(self, name: str) -> str | None:
        """Why the probe itself failed."""
        return _string(self._key(name, "error"))

    def mtime(self, name: str) -> float | None:
        """When a file was last changed, seconds since the epoch."""
        value = self._key(name, "mtime")
        return float(value) if isinstance(value, (int, float)) else None

    def files(self, name: str) -> dict[str, str] | None:
        """A probe that reads several files: path -> text; {} when it looked and found none."""
        value = self.probes.get(name)
        if self.absent(name):
            return {}
        if not isinstance(value, dict) or self.error(name):
            return None
        named = {path: text for path, text in value.items() if str(path).startswith("/")}
        read = {path: text for path, text in named.items() if _readable(text)}
        return read if read or not named else None

    def _key(self, name: str, key: str) -> Any:
        value = self.probes.get(name)
        return value.get(key) if isinstance(value, dict) else None

    def _whole_text(self, name: str) -> str | None:
        """The text if a person could read it and its tool wrote it; of one that was cut its whole lines, where those say something."""
        value = self.probes[name]
        found = next((text for text in (value, self._key(name, "stdout"), self._key(name, "content")) if _readable(text)), None)
        if found is None or (name != "nvidia_smi_list" and _shouts(found)):
            return None
        by_line = name in _BY_LINE or name.endswith("_log")
        if self._key(name, "truncated") is True:
            found = found[: found.rfind("\n") + 1] if by_line else ""
        if (not found.strip() and not self._claims_all(name)) or (name in _SHAPES and not _SHAPES[name].search(found)):
            return None
        return folded(found) if by_line else found


class Unseen(Bundle):
    """A bundle that holds nothing and remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__({})
        self.asked: set[str] = set()
        self.probes = self.stated = _Asked(self.asked)

    @property
    def runs(self) -> tuple[Mapping[str, Any], ...]:
        """None, and somebody asked."""
        self.asked.add("runs")
        return ()


class _Asked(Mapping[str, Any]):
    """An empty mapping that notes each key that somebody looks for."""

    def __init__(self, asked: set[str]) -> None:
        self._asked = asked

    def __getitem__(self, key: str) -> Any:
        self._asked.add(key)
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        self._asked.add(EVERYTHING)
        return iter(())

    def __len__(self) -> int:
        self._asked.add(EVERYTHING)
        return 0


def _readable(value: Any) -> bool:
    """Whether it is a text, and not mostly what no tool prints."""
    return isinstance(value, str) and not (UNREADABLE.search(value) and len(UNREADABLE.findall(value)) * 10 > len(value))


def folded(text: str) -> str:
    """A text in which no line is longer than tools write them: what searches one line for two words takes the square of its length."""
    return _LONG_LINE.sub(r"\g<0>\n", text) if len(text) > LONGEST_LINE else text


def _shouts(text: str) -> bool:
    """Whether it is all in capitals."""
    return not _SMALL.search(text) and len(_CAPITALS.findall(text)) > _FEW_CAPITALS


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None
