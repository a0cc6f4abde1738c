# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Reading an evidence bundle (docs/evidence.md): the forms in which a probe's value comes, and no judgement about them."""

from __future__ import annotations

from typing import Any, Mapping


class Bundle:
    """Read access to one bundle. None always means: not known."""

    def __init__(self, evidence: Mapping[str, Any]) -> None:
        self.raw = evidence
        self.probes = _mapping(evidence.get("probes"))
        self.stated = _mapping(evidence.get("stated"))
        self.runs = tuple(run for run in evidence.get("runs") or () if isinstance(run, Mapping))

    def looked(self, name: str) -> bool:
        """Whether the probe looked and has an answer, be it that the thing is not there."""
        return name in self.probes and not self.error(name)

    def text(self, name: str) -> str | None:
        """What a command printed on stdout or what a file holds; None when it is absent, failed to run or nobody looked."""
        value = self.probes.get(name)
        if isinstance(value, str):
            return value
        found = self._key(name, "stdout")
        return _string(self._key(name, "content") if found is None else found)

    def output(self, name: str) -> str | None:
        """stdout and stderr together, for tools that say the important thing on either."""
        parts = [part for part in (self.text(name), _string(self._key(name, "stderr"))) if part]
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
        return self._key(name, "complete") is True and self._key(name, "truncated") is not True

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
        if not isinstance(value, Mapping) or self.error(name):
            return None
        return {path: text for path, text in value.items() if path.startswith("/") and isinstance(text, str)}

    def _key(self, name: str, key: str) -> Any:
        value = self.probes.get(name)
        return value.get(key) if isinstance(value, Mapping) else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None
