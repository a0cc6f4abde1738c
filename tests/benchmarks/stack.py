"""What a lock, check_pins and drift cost: `python -m tests.benchmarks.stack`. Prints processor seconds, and asserts nothing: time depends on load."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.goldnode.gpu.plugins.plugin_utils.drift.fleet import of_bundles, write_result
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import apt
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.catalogue import parse_packages
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.resolve import PoolFiles, read_pins, read_repositories, resolve

from tests.end_to_end import real

TESTS = Path(__file__).parents[1]
BUNDLES = 1000


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time of a piece of work, its children's included, and what it gave."""
    before = os.times()
    result = work()
    after = os.times()
    return sum(after[:4]) - sum(before[:4]), result


def resolving() -> None:
    """The real trixie pool: our reading and resolving against apt's own solve of the same set, both from the same fetched index."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        folder.chmod(0o755)
        real.write_inventory(folder / "inventory", folder, folder / "base.tar")
        files = PoolFiles(real.POOL, folder / "inventory")
        [repository] = read_repositories(files.sources, files.trust)
        (folder / "index").mkdir()
        fetching, _ = seconds(lambda: apt.read_index(repository, "x86_64", folder / "index"))
        texts = [path.read_text() for path in (folder / "index" / "lists").glob("*_Packages")]
        ours, chosen = seconds(lambda: resolve(read_pins(files.pins, real.POOL, ranges=True), parse(texts, repository))[1])
        theirs, _ = seconds(lambda: simulate(folder / "index", [f"{one.name}={one.version}" for one in chosen]))
    print(f"fetching, checking and reading the index: {fetching:.2f} s")
    print(f"resolving {len(chosen)} packages: {ours:.2f} s, apt's own solve {theirs:.2f} s: {ours / theirs:.2f} (reach 3)")


def parse(texts: list[str], repository: Any) -> list[Any]:
    return [one for text in texts for one in parse_packages(text, repository.name, repository.origin)]


def simulate(folder: Path, wanted: list[str]) -> None:
    """What apt would install for these versions, with the directories that the index was fetched into."""
    places = {
        "Dir::Etc::sourcelist": folder / "goldnode.sources",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State::lists": folder / "lists",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder / "cache",
    }
    options = [f"-o{name}={value}" for name, value in places.items()]
    subprocess.run(["apt-get", "--simulate", "--no-install-recommends", *options, "install", *wanted], check=True, capture_output=True)


def drift() -> None:
    """Bundles of a lab node in files, read, compared and reported."""
    stack = yaml.load((TESTS / "fixtures/evidence/lab_canary.lock.yml").read_text(), yaml.CSafeLoader)
    bundle = json.loads((TESTS / "fixtures/evidence/lab_canary.evidence.json").read_text())
    with tempfile.TemporaryDirectory() as place:
        for number in range(BUNDLES):
            (Path(place) / f"node-{number:04}.evidence.json").write_text(json.dumps(bundle))
        took, _ = seconds(lambda: write_result("lab_a10", of_bundles(Path(place), stack), Path(place) / "report"))
    print(f"drift of {BUNDLES} bundles: {took:.2f} s (reach 3)")


def check_pins() -> None:
    """A pin set, import of the rules included."""
    started = time.process_time()
    from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.check import check

    pins = yaml.safe_load((TESTS.parent / "inventories/example/group_vars/a100_train/pins.yml").read_text())["goldnode_pins"]
    check(pins, date(2026, 12, 1))
    print(f"check_pins of one set, import included: {time.process_time() - started:.2f} s (reach 0.5)")


if __name__ == "__main__":
    check_pins()
    resolving()
    drift()
