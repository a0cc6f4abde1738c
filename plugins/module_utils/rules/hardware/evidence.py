# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the hardware rules share: which Xids speak of what, and what silence means."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.xid import XIDS
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import xid
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, not_applicable, passed, unknown

BEYOND = "the kernel log no longer reaches back to boot, and what is left of it shows none"


def silence(facts: Facts) -> Outcome:
    """Nothing was found in the kernel log: a pass only if the log is whole, and unknown where somebody collected only a part of it."""
    if facts.bundle.complete("dmesg") and facts.kernel_log is not None:
        return passed()
    return not_applicable(BEYOND) if facts.bundle.wrapped("dmesg") else unknown()


def untold(facts: Facts) -> Outcome:
    """nvidia-smi's log does not say it: since the GPUs have no such thing, since no driver answers (its own rules say why), or since nobody looked."""
    bundle = facts.bundle
    if facts.smi_logs and bundle.complete("nvidia_smi_q"):
        return not_applicable("nvidia-smi does not tell this about these GPUs")
    if bundle.absent("nvidia_smi_q") or bundle.rc("nvidia_smi_q"):
        return not_applicable("nvidia-smi reads no GPU here: the driver's rules say why")
    return unknown()


def of_kind(facts: Facts, kind: str) -> tuple[xid.Event, ...]:
    """The Xids of one kind, those that others name as their cause included."""
    return tuple(event for event in xid.roots(facts.xids or ()) if event.code in XIDS and XIDS[event.code].kind == kind)


def named(events: tuple[xid.Event, ...]) -> str:
    """`Xid 94 (Contained memory error) on 0000:3b:00`, each code and device once."""
    seen = dict.fromkeys((event.code, event.device) for event in events)
    return ", ".join(f"Xid {code} ({XIDS[code].meaning if code in XIDS else 'not in the catalogue'}) on {device}" for code, device in seen)


def quoted(events: tuple[xid.Event, ...]) -> tuple[str, ...]:
    """The first lines, as evidence."""
    return tuple(f"Xid ({event.device}): {event.code}, {event.text}" for event in events[:3])
