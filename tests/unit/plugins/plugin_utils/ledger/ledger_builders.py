"""A pool with a ledger of its own, and answers that carry their own judgement (judging is tested where the judge is)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_without
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger import promotions, releases, slots
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.rows import Key
from ansible_collections.goldnode.gpu.plugins.plugin_utils.ledger.store import Ledger
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import policy

START = datetime(2026, 11, 30, 12, tzinfo=timezone.utc)
HOSTS = {"canary": ["canary-1", "canary-2"], "baseline": ["baseline-1", "baseline-2"]}
POLICY = {"slot": "1m", "minimum_rung": "simulated", "streak": {"major": 2, "patch": 2}, "soak": {"major": "1m", "patch": "1m"}, "missed_percent": 100}
IMAGE = "sha256:" + "1" * 64
PASSED = {"rule": "cuda.exact_result", "layer": "cuda", "verdict": "pass", "expected": "", "observed": "", "cause": ""}
PASSING = {"verdict": "pass", "rung": "simulated", "layers": {}, "findings": [PASSED]}


def failing(rule: str) -> dict[str, Any]:
    finding = {"rule": rule, "layer": rule.split(".")[0], "verdict": "fail", "expected": "a", "observed": "b", "cause": "c"}
    return {"verdict": "fail", "rung": "simulated", "layers": {}, "findings": [finding]}


def judge(evidence: Any, _stack: Any) -> Any:
    return evidence["stated"]["judgement"]


def lock(driver: str = "550.163.01") -> dict[str, Any]:
    pins = {"gpus": [{"model": "A10", "count": 1}], "kernel": {"version": "6.12.107"}, "nvidia_driver": {"version": driver}}
    made = {"schema": "goldnode.lock/v1", "pool": "lab_a10", "pins": pins, "packages": [], "images": []}
    return {**made, "digest": digest_without(made)}


@dataclass
class Pool:
    """The pool lab_a10 of environment `lab` at a moment that only the test moves."""

    state_dir: Path
    now: datetime = START

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.state_dir)

    def lab(self) -> Pool:
        releases.register_environment(self.ledger, "lab", "lab", self.now)
        return self

    def register(self, driver: str = "550.163.01", **numbers: Any) -> tuple[Any, bool]:
        return releases.register(self.ledger, "lab", lock(driver), IMAGE, policy.complete({**POLICY, **numbers}, "a test"), self.now)

    def later(self, **passed: int) -> None:
        self.now += timedelta(**passed)

    def open(self, hosts: Any = HOSTS, alive: bool = False) -> dict[str, Any]:
        return slots.open_slot(self.ledger, "lab", "lab_a10", hosts, self.now, judge, "1:1", lambda holder: alive)

    def bundle(self, expected: dict[str, Any], judgement: dict[str, Any] = PASSING, **changes: Any) -> dict[str, Any]:
        times = {"captured_at": self.now.isoformat(), "clock": self.now.isoformat()}
        made = {"schema": "goldnode.evidence/v1", "nonce": expected["nonce"], "release": expected["release"], "boot_id": "b", **times}
        return {**made, "stated": {"judgement": judgement}, "runs": [], **changes}

    def answer(self, spool: str, expected: dict[str, Any], judgement: dict[str, Any] = PASSING, **changes: Any) -> None:
        (Path(spool) / f"{expected['node']}.evidence.json").write_text(json.dumps(self.bundle(expected, judgement, **changes)))

    def provision(self, *nodes: str, judgement: dict[str, Any] = PASSING, channel: str = "candidate") -> Any:
        release = self.channels()[channel].digest
        for node in nodes:
            bundle = self.bundle({"nonce": "p", "release": release}, judgement)
            slots.record_provisioned(self.ledger, "lab", "lab_a10", node, release, bundle, self.now, judge)

    def close(self, slot: str) -> dict[str, Any]:
        return slots.close_slot(self.ledger, Key("lab", "lab_a10", slot), self.now, judge)

    def run(self, judgements: dict[str, Any] | None = None, hosts: Any = HOSTS) -> dict[str, Any]:
        """One whole slot, a minute after the one before; a node whose judgement is None does not answer."""
        self.later(minutes=1)
        opened = self.open(hosts)
        for expected in opened["expected"]:
            judgement = (judgements or {}).get(expected["node"], PASSING)
            if judgement is not None:
                self.answer(opened["spool"], expected, judgement)
        return self.close(opened["slot"])

    def promote(self) -> promotions.Standing:
        return promotions.promote(self.ledger, "lab", "lab_a10", self.now, judge)

    def explain(self) -> promotions.Standing:
        return promotions.explain(self.ledger, "lab", "lab_a10", self.now)

    def channels(self) -> dict[str, Any]:
        return releases.channels_of(self.ledger, "lab", "lab_a10")

    def promoted(self, driver: str = "550.163.01") -> Pool:
        """With this release on stable, and its nodes provisioned."""
        self.lab().register(driver)
        self.provision("canary-1", "canary-2")
        self.run()
        self.run()
        assert self.promote().release.state == "PROMOTED"
        self.provision("baseline-1", channel="stable")
        return self
