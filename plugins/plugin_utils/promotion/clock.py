# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Durations, UTC times as text, and the slots into which a day is cut."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

DURATION = re.compile(r"(0|[1-9][0-9]{0,9})([smhd])")
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_TEXT = "%Y-%m-%dT%H:%M:%SZ"


def seconds_of(duration: str) -> int:
    """The seconds of `30s`, `15m`, `24h` or `2d`."""
    match = DURATION.fullmatch(duration)
    if match is None:
        raise ValueError(f"{duration!r} is no duration")
    return int(match[1]) * UNITS[match[2]]


def text_of(moment: datetime) -> str:
    """A UTC time as the ledger holds it; texts sort as the times do."""
    return moment.astimezone(timezone.utc).strftime(_TEXT)


def time_of(text: str) -> datetime:
    """The UTC time of a ledger's or a probe's text; fractions of a second are allowed. A text without a zone is UTC, whatever the controller's is."""
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).astimezone(timezone.utc)


def slot_start(now: datetime, slot_s: int) -> datetime:
    """The scheduled time of the slot that holds `now`: days are cut from 00:00 UTC."""
    midnight = now.astimezone(timezone.utc).replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + timedelta(seconds=(now - midnight).total_seconds() // slot_s * slot_s)


def slots_between(earlier: datetime, later: datetime, slot_s: int) -> int:
    """How many slots later the second time is: 1 for the next slot."""
    return round((later - earlier).total_seconds() / slot_s)


def calendar_of(slot: str) -> str:
    """The systemd OnCalendar expression of a slot length, always in UTC."""
    length = seconds_of(slot)
    if length < 60:
        return f"*-*-* *:*:00/{length} UTC"
    if length < 3600:
        return f"*-*-* *:00/{length // 60}:00 UTC"
    return f"*-*-* 00/{length // 3600}:00:00 UTC"


def plain(seconds: float) -> str:
    """A length of time as a person says it: the largest unit that is not 0, rounded down."""
    for unit, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * unit:
            return f"{int(seconds // unit)} {name}"
    return f"{int(seconds)} s"
