"""How many bundles the judge judges per second and core: `python -m tests.benchmarks.judge`. Prints, and asserts nothing: time depends on load."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.goldnode.gpu.plugins.module_utils.judge import judge

TESTS = Path(__file__).parents[1]
SECONDS = 3.0


def rate(bundles: Sequence[Mapping[str, Any]], lock: Mapping[str, Any] | None = None) -> float:
    """Bundles per second of this process's own time; the first round, in which patterns are compiled, does not count."""
    for bundle in bundles:
        judge(bundle, lock)
    judged, start = 0, time.process_time()
    while time.process_time() - start < SECONDS:
        for bundle in bundles:
            judge(bundle, lock)
        judged += len(bundles)
    return judged / (time.process_time() - start)


def main() -> None:
    """The figures, with what is to be reached."""
    cases = [yaml.load(path.read_text(), yaml.CSafeLoader) for path in sorted((TESTS / "cases").glob("*.evidence.yml"))]
    lab = json.loads((TESTS / "fixtures/evidence/lab_canary.evidence.json").read_text())
    lock = yaml.load((TESTS / "fixtures/evidence/lab_canary.lock.yml").read_text(), yaml.CSafeLoader)
    for what, bundles, stack, reach in ((f"{len(cases)} captured cases", cases, None, 500), ("full bundle of a lab node, with its lock", [lab], lock, 100)):
        print(f"{what}: {rate(bundles, stack):.0f} bundles per second and core (reach {reach})")


if __name__ == "__main__":
    main()
