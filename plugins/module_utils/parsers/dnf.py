# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What dnf 4 prints, and its configuration's `excludepkgs` (dnf.conf(5)): what no ordinary transaction may take from any repository. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

# `exclude` is the older name of the same option; indented lines continue it.
_OPTION = re.compile(r"^(?:excludepkgs|exclude)[ \t]*=(?P<value>[^\n]*(?:\n[ \t]+[^\n]*)*)\n?", re.M)
_MAIN = re.compile(r"^\[main\][ \t]*\n", re.M)
_SECTION = re.compile(r"^\[", re.M)


def with_excludes(text: str, globs: Iterable[str]) -> str:
    """The configuration in which `[main]` excludes these globs too; the same text where it does already."""
    start = _MAIN.search(text)
    if start is None:
        return with_excludes(f"[main]\n{text}" if not text.startswith("[main]") else f"{text}\n", globs)
    end = _SECTION.search(text, start.end())
    main = text[start.end() : end.start() if end else len(text)]
    known = [name for match in _OPTION.finditer(main) for name in re.split(r"[,\s]+", match["value"]) if name]
    lacking = [glob for glob in globs if glob not in known]
    if not lacking:
        return text
    rest = _OPTION.sub("", main)
    rest = rest if not rest or rest.endswith("\n") else f"{rest}\n"
    return f"{text[: start.end()]}{rest}excludepkgs={' '.join([*known, *lacking])}\n{text[end.start() :] if end else ''}"


def parse_available(text: str) -> dict[str, list[str]]:
    """Versions by name from `dnf repoquery --queryformat '%{name} %{evr}'`, newest first as dnf sorts them, each once."""
    versions: dict[str, list[str]] = {}
    for line in reversed(text.splitlines()):
        name, space, version = line.partition(" ")
        if space and version.removeprefix("0:") not in versions.setdefault(name, []):
            versions[name].append(version.removeprefix("0:"))
    return versions


def error_text(text: str) -> str:
    """What stands behind `Error:` in dnf's or rpm's output; the last line where there is none."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    first = next((index for index, line in enumerate(lines) if line.lower().startswith("error:")), len(lines) - 1)
    return "; ".join(filter(None, (re.sub(r"^[Ee]rror:\s*", "", line) for line in lines[first:]))) or "no output"
