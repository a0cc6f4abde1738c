# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""apt's own log of its transactions, /var/log/apt/history.log."""

from __future__ import annotations

import re
from typing import Iterator, NamedTuple

_ACTIONS = ("Install", "Reinstall", "Upgrade", "Downgrade", "Remove", "Purge")
_PACKAGE = re.compile(r"([a-z0-9][a-z0-9+.-]+)(?::\w+)? \(")


class Transaction(NamedTuple):
    """One run of apt: when it began (the node's UTC clock, as apt writes it), its command, who asked for it, name -> what was done."""

    began: str
    command: str
    user: str
    packages: dict[str, str]

    def __str__(self) -> str:
        return f"{self.command or 'apt'}{f' by {self.user}' if self.user else ''}, {self.began}"


def transactions(text: str) -> tuple[Transaction, ...]:
    """All whole paragraphs of the log, the oldest first."""
    return tuple(_transactions(text))


def last_move(history: tuple[Transaction, ...], name: str) -> Transaction | None:
    """The latest transaction that touched a package."""
    return next((one for one in reversed(history) if name in one.packages), None)


def _transactions(text: str) -> Iterator[Transaction]:
    for paragraph in re.split(r"\n\s*\n", text):
        fields = dict(line.split(": ", 1) for line in paragraph.splitlines() if ": " in line)
        if "Start-Date" in fields:
            packages = {name: action.lower() for action in _ACTIONS for name in _PACKAGE.findall(fields.get(action, ""))}
            command = fields.get("Commandline", "").strip()
            yield Transaction(" ".join(fields["Start-Date"].split()), command, fields.get("Requested-By", "").strip(), packages)
