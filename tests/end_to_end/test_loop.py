"""The loop itself, short: a good release reaches production, a bad kernel does not. `make demo` shows all five scenes."""

from __future__ import annotations

import re

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.identity import STATE_HOME

from . import demo
from .loop import Loop

LAB = "e2e001"


@pytest.fixture(scope="module")
def loop(tmp_path_factory, monkeypatch_module):
    monkeypatch_module.setenv("GOLDNODE_LAB", LAB)
    loop = Loop(state=STATE_HOME / LAB, report=tmp_path_factory.mktemp("reports"))
    loop.play("Remove left-overs", "destroy_lab")
    demo.create(loop)
    yield loop
    loop.play("Remove the lab", "destroy_lab")


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.mark.lab
def test_a_good_release_reaches_production(loop):
    demo.good_release(loop)


@pytest.mark.lab
def test_a_hand_on_a_node_is_drift_and_provisioning_heals_it(loop):
    node, other = loop.nodes("production")
    loop.play("Production is as it was provisioned", "detect_drift", pool=loop.pool, nodes=[node, other])
    with loop.by_hand(f"Somebody edits and unholds on {node}"):
        loop.on_node(node, "apt-mark", "unhold", "runc")
        loop.on_node(node, "sed", "-i", "1G", "/etc/docker/daemon.json")
        loop.on_node(node, "touch", "/etc/apt/sources.list.d/by-hand.list")
    nodes = loop.play("The drift of production", "detect_drift", expect="fail", pool=loop.pool, nodes=[node, other])["nodes"]
    assert {(one["kind"], one["subject"]) for one in nodes[node]["differences"]} == {
        ("hold_lost", "runc"),
        ("configuration", "/etc/docker/daemon.json"),
        ("repository", "/etc/apt/sources.list.d/by-hand.list"),
        # Docker runs with what the file held before
        ("engine", "engine.restarted_since_change"),
    }
    assert nodes[other]["state"] == "golden"
    loop.play(f"Heal {node}", "provision_pool", pool=loop.pool, nodes=[node, other])
    assert_a_check_costs_a_quarter_of_the_naive_form(loop, other)
    loop.play("Production is golden again", "detect_drift", pool=loop.pool, nodes=[node, other])


@pytest.mark.lab
def test_a_kernel_on_which_the_module_does_not_load_is_rejected_and_production_stays(loop):
    demo.bad_kernel(loop)


def assert_a_check_costs_a_quarter_of_the_naive_form(loop, node):
    """The naive form has two tasks for each locked package: its version and its hold."""
    lock = yaml.safe_load((loop.state / "inventory" / "locks" / f"{loop.pool}.lock.yml").read_text())
    log = (loop.report / f"{len(loop.steps):02}-provision_pool" / "log").read_text()
    ran = re.findall(rf"^(?:ok|changed): \[{node}\]", log, re.MULTILINE)
    assert 0 < 4 * len(ran) <= 2 * len(lock["packages"]), (len(ran), len(lock["packages"]))
