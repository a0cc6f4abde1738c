"""`make nightly`: the demo without any cache, a pool of real packages, the faults that need a booted machine; figures into docs/nightly.md."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.identity import STATE_HOME

from . import real
from .demo import demo, new_loop
from .loop import CLONE, Loop, Step, StepError, require_root

PAGE = CLONE / "docs" / "nightly.md"


def main() -> int:
    require_root()
    os.environ["GOLDNODE_LAB"] = "nightly"
    with tempfile.TemporaryDirectory(dir="/var/tmp") as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        loop = new_loop(STATE_HOME / "nightly")
        passed = demo(loop)
        loop.play("Remove the lab", "destroy_lab")
    passed = real_pool(loop) and passed
    passed = booted(loop) and passed
    PAGE.write_text(page(loop, passed))
    print(f"figures: {PAGE}")
    return 0 if passed else 1


def real_pool(loop: Loop) -> bool:
    """Debian 13's own kernel, driver and engine: locked, installed, its module built, proven both ways (real.py)."""
    print("A pool of real packages", flush=True)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        loop.scene = "real packages"
        try:
            real.prove(loop, Path(folder))
        except StepError as error:
            print(error)
            return False
    return True


def booted(loop: Loop) -> bool:
    """The faults that only a booted machine shows (tests/vm), as one step of the figures."""
    print("Faults on a booted machine", flush=True)
    started = time.monotonic()
    passed = subprocess.run(["pytest", "-m", "vm", "tests/vm"], cwd=CLONE).returncode == 0
    loop.steps.append(Step("booted machine", "Secure Boot and AppArmor", time.monotonic() - started, "pass" if passed else "FAILED"))
    return passed


def page(loop: Loop, passed: bool) -> str:
    """docs/nightly.md: commit, machine, result, the time of each step."""
    minutes = sum(step.seconds for step in loop.steps if step.scene not in ("booted machine", "real packages")) / 60
    rows = [f"| {step.scene} | {step.title} | {step.outcome} | {step.seconds:.0f} |" for step in loop.steps]
    head = [
        "# Nightly figures",
        "",
        "Written by `make nightly`: the demo from nothing (no cached root file system, no cached packages), GPU simulated; then a pool of Debian's own "
        "packages, locked and installed into a root with its module built (no GPU); then the faults that need a booted machine (QEMU, emulated).",
        "",
        f"Commit {commit()}, {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC, {machine()}.",
        f"Result: {'all scenes passed' if passed else 'FAILED'}, the demo in {minutes:.1f} minutes.",
        "",
        "| scene | step | outcome | seconds |",
        "|---|---|---|---|",
    ]
    return "\n".join([*head, *rows]) + "\n"


def commit() -> str:
    return subprocess.run(["git", "describe", "--always", "--dirty"], cwd=CLONE, capture_output=True, text=True, check=True).stdout.strip()


def machine() -> str:
    memory = int(Path("/proc/meminfo").read_text().split()[1]) // 1024**2
    return f"{os.cpu_count()} cores, {memory} GiB, Linux {platform.release().split('-')[0]}"


if __name__ == "__main__":
    sys.exit(main())
