"""The whole loop on lab nodes, step by step: each step is one playbook, as a person would type it, and its result.json."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

CLONE = Path(__file__).resolve().parents[2]


class StepError(Exception):
    """A step did not end as the scene says; the sentence names the log."""


@dataclass(frozen=True)
class Step:
    """One finished step: what was done, how long it took (seconds), what its result said."""

    scene: str
    title: str
    seconds: float
    outcome: str


@dataclass
class Loop:
    """Runs playbooks against one lab and keeps the times."""

    state: Path
    report: Path
    pool: str = "lab_a10"
    steps: list[Step] = field(default_factory=list)
    scene: str = ""

    @property
    def inventory(self) -> Path:
        return self.state / "inventory" / "hosts.yml"

    def play(self, title: str, playbook: str, expect: str = "pass", **inputs: Any) -> dict[str, Any]:
        """Run a playbook of the collection; return its result.json; fail unless its outcome is the one expected."""
        folder = self.report / f"{len(self.steps) + 1:02}-{playbook}"
        folder.mkdir(parents=True)
        argv = ["ansible-playbook", f"goldnode.gpu.{playbook}"]
        if playbook not in ("create_lab", "destroy_lab"):
            argv += ["-i", str(self.inventory)]
        argv += ["-e", json.dumps({"goldnode_report_dir": str(folder), **inputs})]
        with progress(title) as line:
            started = time.monotonic()
            code = run(argv, folder / "log")
            seconds = time.monotonic() - started
            result = read_result(folder)
            outcome = str(result.get("outcome", "pass" if code == 0 else f"exit {code}"))
            self.steps.append(Step(self.scene, title, seconds, outcome))
            line.end(outcome if outcome != expect or expect == "pass" else f"{outcome}, as it should", seconds)
        if outcome != expect or (code == 0) != (expect == "pass"):
            raise StepError(f"{title}: expected {expect}, observed {outcome} (exit {code}). Read {folder / 'log'}.")
        return result

    def pin(self, key: str, value: str) -> None:
        """Edit one pin of the pool in the lab's inventory, as a person would in an editor: `kernel.version`."""
        path = self.state / "inventory" / "group_vars" / self.pool / "pins.yml"
        document = yaml.safe_load(path.read_text())
        *parents, last = key.split(".")
        mapping = document["goldnode_pins"]
        for name in parents:
            mapping = mapping[name]
        mapping[last] = value
        path.write_text(yaml.safe_dump(document, sort_keys=False))

    def nodes(self, *arms: str) -> list[str]:
        """Names of the pool's nodes in these children (canary, baseline, production); all of the pool without arms."""
        groups = yaml.safe_load(self.inventory.read_text())["all"]["children"]
        pool = groups[self.pool]["children"]
        chosen = arms or ("canary", "baseline", "production")
        return [node for arm in chosen for node in pool[f"{self.pool}_{arm}"].get("hosts", ())]

    def on_node(self, node: str, *command: str, check: bool = True) -> str:
        """Run a command on a node over SSH with the lab's own configuration; host keys are checked."""
        argv = ["ssh", "-F", str(self.state / "inventory" / "ssh_config"), node, "--", *command]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=300)
        if check and done.returncode != 0:
            raise StepError(f"{node}: {' '.join(command)} ended with {done.returncode}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def reboot(self, node: str) -> None:
        """Reboot a node and wait until another boot id answers (60 s at most)."""
        command = ("cat", "/proc/sys/kernel/random/boot_id")
        before = self.on_node(node, *command)
        self.on_node(node, "systemctl", "reboot", check=False)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            after = self.on_node(node, *command, check=False)
            if after and after != before:
                return
            time.sleep(0.5)
        raise StepError(f"{node} did not come back within 60 s of its reboot")

    @contextmanager
    def by_hand(self, title: str) -> Iterator[None]:
        """A step that no playbook of ours does: somebody's hand on a node."""
        with progress(title) as line:
            started = time.monotonic()
            yield
            seconds = time.monotonic() - started
            self.steps.append(Step(self.scene, title, seconds, "done"))
            line.end("done", seconds)


def run(argv: list[str], log: Path) -> int:
    """Run a command of this clone, all output into a log file; its exit code."""
    environment = {**os.environ, "ANSIBLE_NOCOLOR": "1", "ANSIBLE_FORCE_COLOR": "0"}
    with log.open("w") as stream:
        return subprocess.run(argv, cwd=CLONE, env=environment, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream).returncode


def read_result(folder: Path) -> dict[str, Any]:
    path = folder / "result.json"
    return dict(json.loads(path.read_text())) if path.exists() else {}


class Line:
    """One line of progress: the title while it runs, the outcome and the time when it ended."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.ended = False
        print(f"  {title:<66}", end="", flush=True)

    def end(self, outcome: str, seconds: float) -> None:
        self.ended = True
        print(f"{seconds:4.0f} s  {outcome}", flush=True)


@contextmanager
def progress(title: str) -> Iterator[Line]:
    line = Line(title)
    try:
        yield line
    finally:
        if not line.ended:
            print(flush=True)


def require_root() -> None:
    if os.geteuid() != 0:
        sys.exit(f"the lab makes namespaces, mounts and machines, and needs root; expected user 0, observed {os.geteuid()}: run it with sudo")
