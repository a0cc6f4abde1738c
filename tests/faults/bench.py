"""The fault bench: each fault is made on a lab node, found, undone, and the node passes again; several nodes at once.

`python -m tests.faults.bench` makes a lab, runs every fault of role lab_fault (or those that are named), prints one line as each ends and a table,
and writes results.json and docs/faults.md. What a node shows is probed and judged as node_check does it.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import secrets
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.goldnode.gpu.plugins.module_utils.judge import Judgement, judge
from ansible_collections.goldnode.gpu.plugins.module_utils.model import FAIL, PASS
from ansible_collections.goldnode.gpu.plugins.plugin_utils.canary import declared_runs
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.identity import STATE_HOME, lab_id
from ansible_collections.goldnode.gpu.plugins.plugin_utils.payload import payload

from tests.end_to_end.loop import CLONE, Loop, StepError, require_root, run

from .catalogue import Fault, faults
from .page import page

POOLS = ("lab_a10", "lab_a100", "lab_h100x8", "lab_p4")
KERNELS = ["6.12.107+deb13-amd64", "6.12.117+deb13-amd64"]
BY_PLAYBOOKS = "capabilities_without_compute"  # has a container run of its own, so that all inputs are used
LIMIT_S = 180


@dataclass(frozen=True)
class Result:
    """What came of one fault on one node. `seconds` from the first change to the last validation."""

    fault: str
    layer: str
    rule: str
    node: str
    seconds: float = 0.0
    found_layer: str | None = None
    found_rules: tuple[str, ...] = ()
    cause: str = ""
    remedy: str = ""
    rung: str = ""
    undone: bool = False
    error: str = ""

    @property
    def found(self) -> bool:
        """The right layer is the first broken one, and the right rule says so."""
        return self.found_layer == self.layer and self.rule in self.found_rules

    @property
    def verdict(self) -> str:
        if self.error:
            return "ERROR"
        if not self.found:
            return "MISSED"
        return "found" if self.undone else "STUCK"


@dataclass
class Bench:
    """One lab, its nodes and locks."""

    loop: Loop
    results: list[Result] = field(default_factory=list)

    def make(self) -> None:
        """A lab whose nodes all pass."""
        self.loop.play("Remove left-overs", "destroy_lab")
        self.loop.play("Create the lab", "create_lab", lab_pools="h100x8,p4", offered_kernels=KERNELS)
        for pool in POOLS:
            self.loop.play(f"Lock {pool}", "lock_stack", pool=pool)
        self.loop.play("Build the image", "build_image", pool="lab_a10")
        self.loop.play("Offer a later revision of Docker", "offer_packages", offered_kernels=KERNELS, offered_revisions=["docker.io"])
        self.create([node for pool in POOLS for node in self.nodes(pool)])

    def nodes(self, pool: str) -> list[str]:
        return replace(self.loop, pool=pool).nodes()

    def image(self) -> str:
        """The digest of the image that was built last."""
        newest = max((self.loop.state / "store/builds").glob("*.json"), key=lambda path: path.stat().st_mtime)
        return str(json.loads(newest.read_text())["image_digest"])

    def create(self, nodes: Sequence[str]) -> None:
        """Create nodes anew from the image."""
        argv = ["ansible-playbook", "-i", str(self.loop.inventory), "tests/faults/create.yml"]
        log = self.loop.report / f"create-{nodes[0]}.log"
        if run([*argv, "-e", json.dumps({"nodes": list(nodes), "image_digest": self.image()})], log):
            raise StepError(f"{', '.join(nodes)} could not be created. Read {log}.")

    def by_playbooks(self, fault: Fault) -> None:
        """One fault the way that a person takes: inject_fault, validate_nodes, and back."""
        node, *_ = self.nodes(fault.pool)
        inventory = self.loop.inventory.parent
        inputs = {"pool": fault.pool, "nodes": [node], "lock_file": str(inventory / f"locks/{fault.pool}.lock.yml")}
        self.loop.play(f"Inject {fault.id}", "inject_fault", fault=fault.id)
        runs = str(self.loop.state / f"{fault.id}.runs.yml")
        found = self.loop.play("Validate the node", "validate_nodes", expect="fail", workload_runs=runs, **inputs)["nodes"][node]["first_broken_layer"]
        if found != fault.layer:
            raise StepError(f"{fault.id}: validate_nodes should find {fault.layer} and finds {found}")
        self.loop.play(f"Undo {fault.id}", "inject_fault", fault=fault.id, fault_state="absent")
        self.loop.play("Validate the node", "validate_nodes", **inputs)

    def run(self, chosen: Iterable[Fault]) -> None:
        """All faults, each node at its own pace; those that reboot last."""
        queues: dict[str, queue.SimpleQueue[Fault]] = {pool: queue.SimpleQueue() for pool in POOLS}
        for fault in sorted(chosen, key=lambda one: one.reboot):
            queues[fault.pool].put(fault)
        workers = [Worker(self, node, pool, queues[pool]) for pool in POOLS for node in self.nodes(pool)]
        with ThreadPoolExecutor(len(workers)) as threads:
            list(threads.map(Worker.work, workers))


@dataclass
class Worker:
    """One node, which takes fault after fault from the queue of its pool."""

    bench: Bench
    node: str
    pool: str
    faults: queue.SimpleQueue[Fault]

    def __post_init__(self) -> None:
        inventory = self.bench.loop.inventory.parent
        self.stack = yaml.safe_load((inventory / f"locks/{self.pool}.lock.yml").read_text())
        self.roots = yaml.safe_load((inventory / "group_vars/all/probe.yml").read_text())["goldnode_probe_args"]

    def work(self) -> None:
        while True:
            try:
                fault = self.faults.get_nowait()
            except queue.Empty:
                return
            result = self.tried(fault)
            self.bench.results.append(result)
            print(line(result), flush=True)

    def tried(self, fault: Fault) -> Result:
        """Make the fault, look, undo it, look again; a node that does not pass then is created anew."""
        started = time.monotonic()
        result = Result(fault.id, fault.layer, fault.rule, self.node)
        try:
            self.change(fault, "present")
            result = seen(result, self.look(f"{fault.id}.present", fault.runs))
        except (StepError, subprocess.TimeoutExpired, ValueError) as error:
            result = replace(result, error=f"present: {error}")
        try:
            self.change(fault, "absent")
            after = self.look(f"{fault.id}.absent")
            result = replace(result, undone=after.verdict == PASS, error=result.error or unhealed(after))
        except (StepError, subprocess.TimeoutExpired, ValueError) as error:
            result = replace(result, error=result.error or f"absent: {error}")
        if not result.undone:
            self.bench.create([self.node])
        return replace(result, seconds=round(time.monotonic() - started, 1))

    def change(self, fault: Fault, state: str) -> None:
        self.ssh(["sh", "-s"], fault.script(state))
        if fault.reboot:
            self.bench.loop.reboot(self.node)
            self.ssh(["systemctl", "is-system-running", "--wait"], check=False)

    def look(self, name: str, runs: Sequence[Mapping[str, Any]] = ()) -> Judgement:
        """Probe and judge the node as validate_nodes does, GPU containers included; the bundle is kept."""
        nonce = secrets.token_hex(16)
        declared = declared_runs(self.stack, nonce, "fault", workloads=runs)
        words = ["timeout", str(LIMIT_S), "python3", "-", *self.roots, "--nonce", nonce, "--runs", json.dumps(declared)]
        bundle = json.loads(self.ssh(words, payload()))
        (self.bench.loop.report / f"{name}.evidence.json").write_text(json.dumps(bundle))
        return judge(bundle, self.stack)

    def ssh(self, words: Sequence[str], given: str = "", check: bool = True) -> str:
        """A command on the node, with a text on its stdin."""
        argv = ["ssh", "-F", str(self.bench.loop.state / "inventory/ssh_config"), self.node, "--", shlex.join(words)]
        done = subprocess.run(argv, input=given, capture_output=True, text=True, timeout=LIMIT_S + 20)
        if check and done.returncode:
            raise StepError(f"{words[0]} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}")
        return done.stdout


def seen(result: Result, judgement: Judgement) -> Result:
    """The result with what a validation found."""
    broken = [finding for finding in judgement.findings if finding.verdict == FAIL]
    expected = next((finding for finding in broken if finding.rule == result.rule), None)
    return replace(
        result,
        found_layer=judgement.first_broken_layer,
        found_rules=tuple(finding.rule for finding in broken),
        cause=expected.cause if expected else "",
        remedy=expected.remedy if expected else "",
        rung=judgement.rung,
    )


def unhealed(judgement: Judgement) -> str:
    """What still is not a pass after the undo; empty for a pass."""
    if judgement.verdict == PASS:
        return ""
    wrong = [f"{finding.rule} {finding.observed}" for finding in judgement.findings if finding.verdict == FAIL]
    return f"undone, and {judgement.verdict}: {'; '.join(wrong) or 'a layer is unknown'}"


def as_row(result: Result) -> dict[str, Any]:
    """The result as results.json has it."""
    return {**asdict(result), "verdict": result.verdict}


def line(result: Result) -> str:
    """One line of progress; what was seen is said only where it is not what it should be."""
    said = result.error or f"expected {result.rule}, found {', '.join(result.found_rules) or 'nothing'}"
    return f"  {result.verdict:<7} {result.fault:<42} {result.seconds:4.0f} s  {result.node:<22}" + ("" if result.verdict == "found" else said)


def table(results: Iterable[Result]) -> str:
    """Fault, layer, rule, verdict, seconds."""
    rows = [("fault", "layer", "rule", "verdict", "s"), *((r.fault, r.layer, r.rule, r.verdict, f"{r.seconds:.0f}") for r in results)]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return "\n".join("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip() for row in rows)


def reported(results: Sequence[Result], report: Path, seconds: float) -> bool:
    """Write results.json and print the table; whether every fault was found and undone."""
    (report / "results.json").write_text(json.dumps([as_row(result) for result in results], indent=2) + "\n")
    found = sum(result.verdict == "found" for result in results)
    print(f"\n{table(results)}\n\n{found} of {len(results)} faults found and undone in {seconds:.0f} s; {report}")
    return found == len(results)


def new_bench(lab: str) -> Bench:
    """A bench on the lab of that id, with a folder for its logs, bundles and results."""
    os.environ["GOLDNODE_LAB"] = lab
    report = STATE_HOME / "faults.logs" / lab / time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    report.mkdir(parents=True)
    return Bench(Loop(state=STATE_HOME / lab, report=report))


def options_of() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Make each fault on lab nodes, find it, undo it.")
    parser.add_argument("faults", nargs="*", help="faults to run, default all")
    parser.add_argument("--lab", default=f"f{lab_id(CLONE, '')}", help="the lab's id")
    parser.add_argument("--reuse", action="store_true", help="use the lab that is up, and leave it up")
    parser.add_argument("--page", type=Path, help="write the page of the faults there")
    return parser.parse_args()


def main() -> int:
    options = options_of()
    require_root()
    catalogue = {fault.id: fault for fault in faults()}
    bench, started = new_bench(options.lab), time.monotonic()
    try:
        if not options.reuse:
            bench.make()
            bench.by_playbooks(catalogue[BY_PLAYBOOKS])
        bench.run([catalogue[name] for name in options.faults or catalogue])
    finally:
        if not options.reuse:
            bench.loop.play("Remove the lab", "destroy_lab")
    results = sorted(bench.results, key=lambda result: list(catalogue).index(result.fault))
    if options.page:
        options.page.write_text(page(catalogue.values(), {result.fault: as_row(result) for result in results}))
    return 0 if reported(results, bench.loop.report, time.monotonic() - started) else 1


if __name__ == "__main__":
    sys.exit(main())
