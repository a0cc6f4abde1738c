# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A real node of a lab of its own, and what happens when its processes are killed. Root; half a minute with the cached base root."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import (
    base,
    cgroups,
    identity,
    inventory,
    keys,
    limits,
    machines,
    network,
    node_files,
    roots,
    services,
    teardown,
)

pytestmark = pytest.mark.lab
NODE = "lab-a10-canary-1"
BOOT_SECONDS = 180


@pytest.fixture(scope="module", params=["btrfs", "copy"])
def lab(request: pytest.FixtureRequest) -> Iterator[identity.Lab]:
    """A lab of one node with the base root, once on btrfs and once with copied roots."""
    lab_id = f"t{secrets.token_hex(3)}"
    made = identity.with_nodes(identity.Lab(lab_id, str(identity.free_subnet(lab_id, network.machine_networks()))), [NODE])
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "copy":
            patch.setattr(roots, "_can_btrfs", lambda: False)
        try:
            start(made)
            yield made
        finally:
            teardown.destroy(made)


def start(lab: identity.Lab) -> None:
    root, _ = base.ensure()
    limits.raise_to(limits.INOTIFY_INSTANCES, limits.LEAST)
    identity.write_record(lab)
    keys.ensure_all(lab)
    network.ensure_hub(lab)
    network.ensure_node(lab, NODE)
    roots.ensure_store(lab)
    roots.ensure_template(lab, root.key, root.tar, [])
    write_text(inventory.known_hosts_path(lab), inventory.known_hosts(lab))
    write_text(inventory.ssh_config_path(lab), inventory.ssh_config(lab))
    node_files.record_profile(lab, NODE, {"model": "NVIDIA A10", "count": 1})
    roots.ensure_root(lab, NODE, root.key, lambda fresh: node_files.write(lab, NODE, fresh))
    boot(lab)


def boot(lab: identity.Lab) -> None:
    machines.start(lab, NODE, roots.roots_dir(lab) / NODE)
    assert machines.wait_booted(lab, NODE, BOOT_SECONDS) == "running"


def ask(lab: identity.Lab, *words: str) -> str:
    done = subprocess.run(["ssh", "-F", inventory.ssh_config_path(lab), NODE, *words], capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip()


def boot_id(lab: identity.Lab) -> str:
    return ask(lab, "cat", "/proc/sys/kernel/random/boot_id")


def until(condition: Callable[[], bool], seconds: float = BOOT_SECONDS) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.2)
    return False


def kill_only(group: str) -> None:
    for pid in cgroups.members(group):
        os.kill(pid, signal.SIGKILL)


def test_a_node_is_itself_and_has_no_way_out(lab: identity.Lab) -> None:
    assert ask(lab, "hostname") == NODE
    assert ask(lab, "ip", "route", "show", "default") == ""
    assert ask(lab, "cat", "/etc/goldnode-lab/profile.yml") == (lab.node_dir(NODE) / "profile.yml").read_text().strip()


def test_a_node_can_neither_set_the_clock_nor_read_the_machines_kernel_log(lab: identity.Lab) -> None:
    assert "Operation not permitted" in ask(lab, "date", "-s", "@0")
    assert "Operation not permitted" in ask(lab, "dmesg")


def test_the_servers_answer_on_the_hub_and_are_started_again_when_killed(lab: identity.Lab) -> None:
    assert services.ensure(lab) == ["http", "registry"]
    assert services.ensure(lab) == []
    kill_only(services.group(lab, "registry"))
    assert until(lambda: not services.answers(lab.hub, identity.REGISTRY_PORT), 10)
    assert services.ensure(lab) == ["registry"]


def test_a_node_comes_back_after_a_reboot_with_another_boot_id(lab: identity.Lab) -> None:
    before = boot_id(lab)
    ask(lab, "systemctl", "reboot")
    assert until(lambda: len(boot_id(lab)) == len(before) and boot_id(lab) != before)
    assert machines.wait_booted(lab, NODE, BOOT_SECONDS) == "running"


def test_a_killed_nspawn_leaves_no_half_node_and_the_next_start_boots(lab: identity.Lab) -> None:
    kill_only(f"{machines.node_group(lab, NODE)}/supervisor")
    assert until(lambda: not cgroups.populated(machines.node_group(lab, NODE)), 30)
    assert not machines.running(lab, NODE)
    boot(lab)


def test_a_node_whose_supervisor_was_killed_counts_as_not_running_and_boots_again(lab: identity.Lab) -> None:
    kill_only(machines.supervisor_group(lab, NODE))
    assert until(lambda: not machines.running(lab, NODE), 10)
    machines.cut_power(lab, NODE)
    boot(lab)


def test_a_node_that_is_shut_down_stays_down(lab: identity.Lab) -> None:
    machines.power_off(lab, NODE)
    assert not machines.running(lab, NODE)
    assert not cgroups.populated(machines.node_group(lab, NODE))
    boot(lab)


def test_nothing_of_a_destroyed_lab_is_left(lab: identity.Lab) -> None:
    assert teardown.destroy(lab)
    assert not teardown.destroy(lab)
    assert not lab.state.exists()
    assert network.namespaces(lab) == []
    assert str(lab.state) not in Path("/proc/self/mountinfo").read_text()
    assert not cgroups.populated(lab.prefix)
