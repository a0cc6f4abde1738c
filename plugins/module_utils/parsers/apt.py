# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What apt-get and apt-cache print, as facts. Seen with apt 2.6 and 3.0; `LC_ALL=C` is the caller's duty."""

from __future__ import annotations

import re
from dataclasses import dataclass

# `Inst name [old] (new Label:Archive [arch]) []`, `Remv name [old] [..]`; the tail that names broken siblings is noise here.
_STEP = re.compile(r"^(?P<action>Inst|Remv|Purg) (?P<name>\S+)(?: \[(?P<old>[^\]]+)\])?(?: \((?P<new>\S+)[^)]*\))?")


@dataclass(frozen=True)
class Step:
    """One package that a transaction changes: `old` is None for a new one, `new` is None for a removal."""

    name: str
    old: str | None
    new: str | None


def parse_simulation(text: str) -> tuple[Step, ...]:
    """The steps of `apt-get --simulate`, in order; `Conf` lines repeat an `Inst` or finish an unpacked package."""
    matches = filter(None, map(_STEP.match, text.splitlines()))
    return tuple(Step(m["name"], m["old"], m["new"] if m["action"] == "Inst" else None) for m in matches)


def parse_madison(text: str) -> dict[str, list[str]]:
    """Versions by package name from `apt-cache madison`, newest first, each once; sources are left out."""
    versions: dict[str, list[str]] = {}
    for line in text.splitlines():
        name, version, origin = ([part.strip() for part in line.split("|")] + ["", "", ""])[:3]
        known = versions.setdefault(name, []) if version and not origin.endswith(" Sources") else []
        if version not in known:
            known.append(version)
    return versions


def consulted_log(text: str) -> str | None:
    """The path of the build log that DKMS, run by a package's own script, sends its reader to."""
    found = re.search(r"^Consult (\S+) for more information", text, re.M)
    return found.group(1) if found else None


def error_text(text: str) -> str:
    """The sentences behind `E:` in apt's or dpkg's output, joined; the last line where there is none."""
    errors = [line[3:].strip() for line in text.splitlines() if line.startswith("E: ")]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "; ".join(dict.fromkeys(errors)) or (lines[-1] if lines else "no output")
