"""Small builders of what the pure core takes: policies, releases, slots, answers."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_without
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import policy as policies
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.guards import release_digest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion.history import Node, Release, Slot, View

START = datetime(2026, 11, 30, 12, tzinfo=timezone.utc)
NUMBERS = policies.complete(
    {"slot": "1m", "minimum_rung": "simulated", "streak": {"patch": 3}, "soak": {"patch": "2m"}, "freshness_slots": 2, "gap_slots": 2}, "a test"
)
POLICY = policies.policy_for(NUMBERS, "patch")


def lock(**pins: Any) -> dict[str, Any]:
    made = {
        "schema": "goldnode.lock/v1",
        "pool": "lab_a10",
        "pins": {"gpus": [{"model": "A10", "count": 1}], "kernel": {"version": "6.12.107+deb13-amd64"}, "nvidia_driver": {"version": "550.163.01"}, **pins},
        "repositories": [],
        "packages": [],
        "images": [],
    }
    return {**made, "digest": digest_without(made)}


def release(state: str = "SOAKING", number: int = 2, **changes: Any) -> Release:
    content = lock()
    digest = policies.policy_digest(NUMBERS)
    whole = release_digest("lab_a10", "lab", content["digest"], "sha256:" + "1" * 64, digest)
    made = Release("lab_a10", "lab", content["digest"], "sha256:" + "1" * 64, digest, whole, number, state, "patch", content, NUMBERS)
    return replace(made, **changes)


def node(name: str = "canary-1", result: str = "PASS", arm: str = "canary", **changes: Any) -> Node:
    digest = release().digest
    return replace(Node(name, arm, result, digest, "n", "b", digest, "n", "b", "simulated"), **changes)


def slot(minute: int, result: str = "PASS", **changes: Any) -> Slot:
    nodes = tuple(node(f"canary-{n}", result, **changes) for n in (1, 2))
    return Slot(START + timedelta(minutes=minute), result, nodes)


def view(*slots: Slot, minute: int | None = None, **changes: Any) -> View:
    """The view right after the last slot, of a release whose pool has an older stable one."""
    after = minute if minute is not None else int((slots[-1].scheduled - START).total_seconds() // 60) if slots else 0
    stable = release("PROMOTED", number=1, digest="sha256:" + "5" * 64)
    return replace(View(release(), POLICY, tuple(slots), stable, START + timedelta(minutes=after, seconds=5)), **changes)
