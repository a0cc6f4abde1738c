# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Xid and SXid lines of the kernel log, and Xids as monitors repeat them -> facts. Pure.

Forms: `NVRM: Xid (PCI:0000:01:00): 79, pid=…`, the older `Xid (0000:01:00): 79,`, with a MIG instance `Xid (PCI:0000:01:00 GPU-I:05): 94,`, without
text; `nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28002, Non-fatal, Link 46`; NVIDIA's device plugin `XidCriticalError: Xid=48 on Device=GPU-…`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# The patterns begin with letters, so that a search leaps from one such word to the next.
_XID = re.compile(r"Xid(?<!\wXid) \((?:PCI:)?([0-9a-fA-F:.]+)[^)]*\): (\d{1,3})\b(?:,\s*([^\n]*))?")
_SXID = re.compile(r"SXid \((?:PCI:)?([0-9a-fA-F:.]+)\): (\d{5}),?\s*([^\n]*)")
_MONITOR = re.compile(r"Xid(?<!\wXid)=(\d{1,3}) on (?:Device|GPU)[= ](\S+?)[,;.]?(?:\s|$)")
_CONSEQUENCE = re.compile(r"caused by previous Xid (\d+)")


@dataclass(frozen=True)
class Event:
    """One line. `cause` is the Xid of which it says to be a consequence."""

    device: str
    code: int
    text: str
    cause: int | None = None


def xids(text: str) -> tuple[Event, ...]:
    """Each Xid, in the order in which the log has them."""
    found = [(match.start(), _event(match.group(1), match.group(2), match.group(3))) for match in _XID.finditer(text)]
    found += [(match.start(), _event(match.group(2), match.group(1), "")) for match in _MONITOR.finditer(text)]
    return tuple(event for _start, event in sorted(found, key=lambda pair: pair[0]))


def _event(device: str, code: str, words: str | None) -> Event:
    consequence = _CONSEQUENCE.search(words or "")
    return Event(device.lower(), int(code), (words or "").strip(), int(consequence.group(1)) if consequence else None)


def sxids(text: str) -> tuple[Event, ...]:
    """Each SXid of an NVSwitch."""
    return tuple(_event(device, code, words) for device, code, words in _SXID.findall(text))


def roots(events: tuple[Event, ...]) -> tuple[Event, ...]:
    """What came first: a consequence stands for the Xid that caused it on the same device."""
    return tuple(Event(event.device, event.cause, event.text, event.cause) if event.cause is not None else event for event in events)
