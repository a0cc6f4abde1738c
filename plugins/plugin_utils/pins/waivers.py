# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Waivers: what a pool accepts though a rule speaks against it, why, and until when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.shape import sentences
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.model import NOTE, WARNING, PinRule, Statement

KEY = "goldnode_waivers"
SOURCE = "docs/pins_and_locks.md"
# What is not waivable: nothing was judged behind it.
NEVER = frozenset({"pins.schema"})

EXPIRED = PinRule(
    "pins.waiver_expired",
    lambda _pins: iter(()),
    WARNING,
    "A waiver that is still needed has not expired",
    "A waiver accepts something for a time. After its last day it counts as none, so that what it accepted is said again.",
    "Make the change that was put off, or write a new day with a new reason.",
    SOURCE,
)
IDLE = PinRule(
    "pins.waiver_idle",
    lambda _pins: iter(()),
    NOTE,
    "Every waiver waives something",
    "A waiver that nothing needs any more would hide the next finding of its rule.",
    "Take it out of waivers.yml.",
    SOURCE,
)
WAIVER_RULES = (EXPIRED, IDLE)

_TEXT = {"type": "string", "minLength": 1, "description": "a text"}
WAIVERS_SCHEMA = {
    "type": "array",
    "description": "a list of {rule, reason, expires}",
    "items": {
        "type": "object",
        "description": "{rule, reason, expires}",
        "properties": {
            "rule": {"type": "string", "pattern": r"^pins\.[a-z0-9_]+$", "description": "the id of a rule of check_pins (docs/pins)"},
            "reason": _TEXT,
            "expires": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$", "description": "a day, YYYY-MM-DD"},
            "place": {**_TEXT, "description": "the pin that the report names, where only one of several is meant"},
        },
        "required": ["rule", "reason", "expires"],
        "additionalProperties": False,
    },
}


@dataclass(frozen=True)
class Waiver:
    """One accepted statement: every one of a rule, or that at one place. It holds on its last day."""

    rule: str
    reason: str
    expires: date
    place: str = ""

    def as_dict(self) -> dict[str, str]:
        """The report's form."""
        return {"rule": self.rule, "reason": self.reason, "expires": self.expires.isoformat(), **({"place": self.place} if self.place else {})}

    def covers(self, one: Statement) -> bool:
        """Whether it speaks of a statement."""
        return one.rule == self.rule and one.rule not in NEVER and self.place in ("", one.place)


def waivers(value: Any) -> tuple[list[Waiver], list[str]]:
    """The waivers of a pool's file, and one sentence for each thing in it that is not accepted."""
    written = [{**one, "expires": _day(one.get("expires"))} if isinstance(one, Mapping) else one for one in value] if isinstance(value, list) else value
    found = sentences(written, WAIVERS_SCHEMA)
    if found:
        return [], [f"{KEY}: {sentence}" for sentence in found]
    read, wrong = [], []
    for one in written:
        try:
            read.append(Waiver(**{**one, "expires": date.fromisoformat(one["expires"])}))
        except ValueError:
            wrong.append(f'{KEY}: expires is "{one["expires"]}", which is no day of the calendar')
    return read, wrong


def _day(value: Any) -> Any:
    """YAML reads an unquoted day as a date."""
    return value.isoformat() if isinstance(value, date) else value


def settled(statements: Sequence[Statement], today: date, given: Sequence[Waiver]) -> tuple[list[Statement], list[tuple[Statement, Waiver]]]:
    """What is left, expired and idle waivers said; and what is waived."""
    valid = [one for one in given if one.expires >= today]
    by = {place: waiver for place, one in enumerate(statements) if one.severity != NOTE for waiver in reversed(valid) if waiver.covers(one)}
    left = [one for place, one in enumerate(statements) if place not in by]
    return [*left, *_said(statements, valid, given)], [(statements[place], waiver) for place, waiver in by.items()]


def _said(statements: Sequence[Statement], valid: Sequence[Waiver], given: Sequence[Waiver]) -> list[Statement]:
    spoken = [one for one in statements if one.severity != NOTE]
    said = []
    for waiver in given:
        needed = any(waiver.covers(one) for one in spoken)
        if waiver not in valid:
            reason = f"the waiver of {waiver.rule} ({waiver.reason}) expired on {waiver.expires} and counts as none"
            said.append(Statement(EXPIRED.id, WARNING if needed else NOTE, reason, SOURCE, place=waiver.rule))
        elif not needed:
            said.append(Statement(IDLE.id, NOTE, f"the waiver of {waiver.rule} ({waiver.reason}) waives nothing here", SOURCE, place=waiver.rule))
    return said
