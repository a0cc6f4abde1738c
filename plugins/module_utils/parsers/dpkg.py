# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What dpkg-query prints, as facts."""

from __future__ import annotations

from dataclasses import dataclass

# The format for `dpkg-query --show --showformat`.
FORMAT = r"${Package}:${Architecture}\t${Version}\t${db:Status-Want}\t${db:Status-Status}\n"


@dataclass(frozen=True)
class Installed:
    """A package that dpkg knows: its version, whether it is held, whether it is wholly installed."""

    version: str
    held: bool
    complete: bool


def parse_installed(text: str) -> dict[str, Installed]:
    """Packages by `name:architecture` from `dpkg-query` with FORMAT; removed ones (with or without configuration) are left out."""
    rows = [line.split("\t") for line in text.splitlines() if line.count("\t") == 3]
    return {
        name: Installed(version, want == "hold", status == "installed")
        for name, version, want, status in rows
        if status not in ("not-installed", "config-files")
    }
