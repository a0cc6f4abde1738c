# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a release has been through, as the guards and the states read it. Rows of the ledger, oldest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.model import RUNGS
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.clock import slots_between
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.policy import Policy
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.results import CANARY, FAIL, FAIL_FAST, PASSING


@dataclass(frozen=True)
class Node:
    """One node of a closed slot: what was asked of it, what its bundle said about itself."""

    node: str
    arm: str
    result: str
    release: str
    nonce: str
    boot_id: str | None = None
    seen_release: str | None = None
    seen_nonce: str | None = None
    seen_boot_id: str | None = None
    rung: str | None = None


@dataclass(frozen=True)
class Slot:
    """A closed slot of one release."""

    scheduled: datetime
    result: str
    nodes: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Release:
    """A release's row. `number` counts the releases of a ledger up; `digest` is over the five fields before it."""

    pool: str
    environment: str
    lock_digest: str
    image_digest: str
    policy_digest: str
    digest: str
    number: int
    state: str
    risk: str
    lock: Mapping[str, Any] = field(default_factory=dict)
    policy: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class View:
    """All that decides about a release at one moment."""

    release: Release
    policy: Policy
    slots: tuple[Slot, ...]
    stable: Release | None
    now: datetime


def qualifies(slot: Slot, policy: Policy) -> bool:
    """It passed, and every canary that made it pass was at the minimum rung or above."""
    passing = [node for node in slot.nodes if node.arm == CANARY and node.result in PASSING]
    return slot.result in PASSING and bool(passing) and all(_real_enough(node, policy) for node in passing)


def unbroken(slots: Sequence[Slot], policy: Policy) -> list[Slot]:
    """The slots since the last gap that is longer than the policy allows."""
    kept: list[Slot] = []
    for slot in slots:
        if kept and slots_between(kept[-1].scheduled, slot.scheduled, policy.slot_s) - 1 > policy.gap:
            kept = []
        kept.append(slot)
    return kept


def streak(slots: Sequence[Slot], policy: Policy) -> list[Slot]:
    """The qualifying slots since the last failure or gap; inconclusive ones neither count nor reset."""
    counted: list[Slot] = []
    for slot in unbroken(slots, policy):
        if slot.result in (FAIL, FAIL_FAST):
            counted = []
        elif qualifies(slot, policy):
            counted.append(slot)
    return counted


def soak_start(slots: Sequence[Slot], policy: Policy) -> datetime | None:
    """The time of the first slot of the current streak: a failure or a gap begins streak and soak again."""
    return next((slot.scheduled for slot in streak(slots, policy)), None)


def clean_runs(slots: Sequence[Slot]) -> list[Node]:
    """The canaries' passing answers in some slots: the independent runs."""
    return [node for slot in slots for node in slot.nodes if node.arm == CANARY and node.result in PASSING]


def _real_enough(node: Node, policy: Policy) -> bool:
    return node.rung in RUNGS and RUNGS.index(str(node.rung)) >= RUNGS.index(policy.minimum_rung)
