"""`make demo`: five scenes on lab nodes, from nothing to a refused kernel and a fixed one. The GPU is simulated."""

from __future__ import annotations

import datetime
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.identity import STATE_HOME, lab_id
from filelock import FileLock, Timeout

from .loop import CLONE, Loop, StepError, require_root

FIRST_KERNEL = "6.12.107+deb13-amd64"
NEWER_KERNEL = "6.12.117+deb13-amd64"
BAD_KERNEL = "6.12.121+deb13-amd64"
FIXED_KERNEL = "6.12.125+deb13-amd64"
# That of inventories/lab/promotion.yml and a second, since the ledger counts in whole ones.
SOAK_SECONDS = 11


def need(condition: bool, sentence: str) -> None:
    """A scene shows something or fails: the sentence says what was expected and observed."""
    if not condition:
        raise StepError(sentence)


def create(loop: Loop) -> None:
    loop.play("Create the lab: nodes, repositories, a registry", "create_lab", offered_kernels=FIRST_KERNEL)


def make_release(loop: Loop) -> dict[str, Any]:
    """pins -> lock -> image -> release on channel candidate."""
    loop.play("Resolve the pins into a lock", "lock_stack", pool=loop.pool)
    loop.play("Build the golden image from the lock", "build_image", pool=loop.pool)
    return loop.play("Register the release as candidate", "register_release", pool=loop.pool)


def soak(loop: Loop, slots: int) -> None:
    """Canary slots; more than one span the whole soak, also on a machine on which they are shorter than it."""
    for number in range(1, slots + 1):
        result = loop.play(f"Canary slot {number} of {slots}: a CUDA container on every canary", "run_canary", pool=loop.pool)
        need(result["slot"]["result"] == "PASS", f"the slot should be PASS and is {result['slot']['result']}")
        if number < slots:
            with loop.by_hand("Let the soak pass"):
                time.sleep(SOAK_SECONDS / (slots - 1))


def promote_and_provision(loop: Loop) -> None:
    loop.play("Explain where the release stands", "explain_promotion", pool=loop.pool)
    loop.play("Promote the release to channel stable", "promote_image", pool=loop.pool)
    loop.play("Bring baseline and production to stable", "provision_pool", pool=loop.pool, nodes=loop.nodes("baseline", "production"))


def validate_production(loop: Loop) -> None:
    loop.play("Validate every layer of production", "validate_nodes", pool=loop.pool, nodes=loop.nodes("production"))


def good_release(loop: Loop) -> str:
    make_release(loop)
    loop.play("Create the canaries from the image", "provision_pool", pool=loop.pool, nodes=loop.nodes("canary"))
    soak(loop, 2)
    promote_and_provision(loop)
    validate_production(loop)
    return f"kernel {FIRST_KERNEL} soaked, was promoted, and runs in production"


def newer_kernel_offered(loop: Loop) -> str:
    loop.play("The OS repository offers a newer kernel", "offer_packages", offered_kernels=[FIRST_KERNEL, NEWER_KERNEL])
    for node in loop.nodes():
        with loop.by_hand(f"apt full-upgrade and unattended-upgrades on {node}"):
            before = loop.on_node(node, "dpkg-query", "-W")
            loop.on_node(node, "apt-get", "update", "--error-on=any")
            offered = loop.on_node(node, "apt-cache", "madison", f"linux-image-{NEWER_KERNEL}")
            need(NEWER_KERNEL in offered, f"{node} should be offered {NEWER_KERNEL} and sees: {offered!r}")
            loop.on_node(node, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "full-upgrade", "-y")
            loop.on_node(node, "unattended-upgrade")
            need(loop.on_node(node, "dpkg-query", "-W") == before, f"{node}: packages moved")
    loop.play("Validate every node", "validate_nodes", pool=loop.pool)
    return f"{NEWER_KERNEL} was offered; no package moved on any node"


def bad_kernel(loop: Loop) -> str:
    loop.play("The OS repository offers one more kernel", "offer_packages", offered_kernels=[FIRST_KERNEL, NEWER_KERNEL, BAD_KERNEL])
    loop.pin("kernel.version", BAD_KERNEL)
    make_release(loop)
    loop.play("Create the canaries from the image", "provision_pool", expect="fail", pool=loop.pool, nodes=loop.nodes("canary"))
    result = loop.play("Canary slot", "run_canary", expect="fail", pool=loop.pool)
    slot = result["slot"]
    need(slot["result"] == "FAIL_FAST", f"the slot should be FAIL_FAST and is {slot['result']}")
    need(slot["release_state"] == "REJECTED", f"the release should be REJECTED and is {slot['release_state']}")
    broken = {node["first_broken_layer"] for node in slot["nodes"] if node["arm"] == "canary"}
    need(broken == {"driver"}, f"the first broken layer should be driver and is {broken}")
    loop.play("Promotion is refused", "promote_image", expect="blocked", pool=loop.pool)
    validate_production(loop)
    return "its module builds and does not load: FAIL_FAST in driver, REJECTED; production untouched and passing"


def forced_kernel(loop: Loop) -> str:
    canary, *_ = loop.nodes("canary")
    loop.play("Bring the canaries back to stable", "provision_pool", pool=loop.pool, nodes=loop.nodes("canary"))
    with loop.by_hand(f"Somebody forces kernel {NEWER_KERNEL} on {canary}"):
        force_kernel(loop, canary)
    result = loop.play("Canary slot", "run_canary", expect="inconclusive", pool=loop.pool)
    verdicts = {node["node"]: node["result"] for node in result["slot"]["nodes"]}
    need(verdicts[canary] == "DRIFTED", f"{canary} should be DRIFTED and is {verdicts[canary]}")
    need(result["slot"]["release_state"] != "REJECTED", "the release must not be blamed for a hand on a node")
    loop.play(f"Heal {canary}", "provision_pool", pool=loop.pool, nodes=[canary])
    soak(loop, 1)
    return f"{canary} was DRIFTED, the release was not blamed, and provisioning healed the node"


def force_kernel(loop: Loop, node: str) -> None:
    packages = [f"linux-image-{NEWER_KERNEL}", f"linux-headers-{NEWER_KERNEL}"]
    apt = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "--allow-change-held-packages"]
    # the preferences block every kernel but the locked one, so a determined hand removes them first
    loop.on_node(node, "rm", "-f", "/etc/apt/preferences.d/goldnode-kernel", "/etc/default/grub.d/goldnode.cfg")
    loop.on_node(node, "apt-get", "update", "--error-on=any")
    loop.on_node(node, *apt, *packages)
    loop.on_node(node, "update-grub")
    loop.reboot(node)


def fixed_kernel(loop: Loop) -> str:
    offered = [FIRST_KERNEL, NEWER_KERNEL, BAD_KERNEL, FIXED_KERNEL]
    loop.play("The OS repository offers a fixed kernel", "offer_packages", offered_kernels=offered)
    loop.pin("kernel.version", FIXED_KERNEL)
    make_release(loop)
    loop.play("Create the canaries from the image", "provision_pool", pool=loop.pool, nodes=loop.nodes("canary"))
    soak(loop, 2)
    promote_and_provision(loop)
    validate_production(loop)
    return f"kernel {FIXED_KERNEL} soaked, was promoted, and runs in production"


SCENES: tuple[tuple[str, Callable[[Loop], str]], ...] = (
    ("A good release", good_release),
    ("A newer kernel is offered", newer_kernel_offered),
    ("A release with a bad kernel", bad_kernel),
    ("A kernel forced by hand", forced_kernel),
    ("A fixed release", fixed_kernel),
)


def play_scenes(loop: Loop, scenes: tuple[tuple[str, Callable[[Loop], str]], ...]) -> list[tuple[str, str, float]]:
    """Play scenes in order; (title, what was shown, seconds) of each."""
    shown = []
    for number, (title, scene) in enumerate(scenes, start=1):
        loop.scene = f"{number}. {title}"
        print(f"\n{loop.scene}", flush=True)
        sentence = scene(loop)
        shown.append((loop.scene, sentence, sum(step.seconds for step in loop.steps if step.scene == loop.scene)))
    return shown


def summary(shown: list[tuple[str, str, float]], total: float) -> str:
    width = max(len(title) for title, _, _ in shown)
    rows = [f"  {title:<{width}}  {seconds:5.0f} s  {sentence}" for title, sentence, seconds in shown]
    return "\n".join(["", "What was shown", *rows, "", f"  {total / 60:.1f} minutes in all."])


def main() -> int:
    require_root()
    state = STATE_HOME / lab_id(CLONE, os.environ.get("GOLDNODE_LAB", ""))
    state.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(state.parent / f"{state.name}.demo.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        print(f"a demo of this clone is running already (lock {lock.lock_file}); wait for its end, or use another clone", file=sys.stderr)
        return 1
    with lock:
        return 0 if demo(new_loop(state)) else 1


def new_loop(state: Path) -> Loop:
    """A loop over the lab of that state, with a folder for its logs."""
    stamp = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Loop(state=state, report=state.parent / "demo.logs" / state.name / stamp, scene="0. The lab")


def demo(loop: Loop) -> bool:
    """All scenes from an empty machine, told on the screen; whether all of them showed what they should."""
    print(f"goldnode demo: lab {loop.state.name}, logs in {loop.report}", flush=True)
    try:
        loop.play("Remove what an earlier lab of this clone left", "destroy_lab")
        create(loop)
        shown = play_scenes(loop, SCENES)
    except StepError as error:
        print(f"\ndemo: FAILED: {error}", file=sys.stderr)
        return False
    print(summary(shown, sum(step.seconds for step in loop.steps)))
    print("  The GPU was simulated (rung `simulated`): this shows that the loop works, not that a GPU does.")
    print("  The lab is still up; `make lab-down` removes it. Look around:")
    print(f"  .config/run ansible-playbook -i {loop.inventory} goldnode.gpu.validate_nodes -e pool={loop.pool}")
    return True


if __name__ == "__main__":
    sys.exit(main())
