# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import identity, inventory, keys
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.commands import LabError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import pins as lock_pins
from ansible_collections.goldnode.gpu.plugins.plugin_utils.promotion import policy

SOURCE = Path(__file__).parents[5] / "inventories/lab"
HOSTS = inventory.read_yaml(SOURCE / "hosts.yml")
PROFILES = inventory.read_yaml(SOURCE / "profiles.yml")
REFERENCE = f"10.1.2.1:5000/goldnode/cuda-canary@sha256:{'0' * 64}"
KNOWN = {"docker": {"version": "26.1.5", "containerd": "1.7.24", "runc": "1.1.15"}, "canary_image": {"reference": REFERENCE}}


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> identity.Lab:
    """A lab with all profiles as pools; its keys are stand-ins."""
    monkeypatch.setattr(identity, "STATE_HOME", tmp_path)
    made = identity.with_nodes(identity.Lab("x", "10.1.2.0/24"), [node.name for node in inventory.nodes(hosts())])
    for node in made.nodes:
        made.node_dir(node).mkdir(parents=True)
        (made.node_dir(node) / "ssh_host_ed25519_key.pub").write_text(f"ssh-ed25519 KEY{node} comment\n")
    keys.keys_dir(made).mkdir()
    keys.repository_public_key(made).write_text("-----BEGIN-----\n\nAAAA\n-----END-----\n")
    return made


def hosts() -> dict[str, Any]:
    return inventory.with_pools(HOSTS, PROFILES, list(PROFILES))


def written(lab: identity.Lab) -> dict[str, Any]:
    return {path: yaml.safe_load(text) if path.endswith(".yml") else text for path, text in inventory.files(lab, SOURCE, hosts(), "F" * 40, "/b.tar", KNOWN)}


def test_the_default_pools_are_the_ones_of_the_first_issue() -> None:
    names = [node.name for node in inventory.nodes(HOSTS)]
    assert names == [*(f"lab-a10-{arm}" for arm in ("canary-1", "canary-2", "baseline-1", "production-1", "production-2")), "lab-a100-canary-1"]


def test_every_pool_has_its_three_groups_and_their_channels() -> None:
    for pool, tree in hosts()["all"]["children"].items():
        channels = {name: group["vars"]["goldnode_channel"] for name, group in tree["children"].items()}
        assert channels == {f"{pool}_canary": "candidate", f"{pool}_baseline": "stable", f"{pool}_production": "stable"}


def test_a_pool_on_request_has_one_canary_and_leaves_the_others_alone() -> None:
    more = inventory.with_pools(HOSTS, PROFILES, ["p4"])
    assert [node.name for node in inventory.nodes(more)] == [*(node.name for node in inventory.nodes(HOSTS)), "lab-p4-canary-1"]


def test_an_unknown_profile_is_refused_with_those_that_are_there() -> None:
    with pytest.raises(LabError, match='names "gtx"; there are a10, a100, a100_mig'):
        inventory.with_pools(HOSTS, PROFILES, ["gtx"])


def test_every_pool_gets_pins_that_the_lock_accepts(lab: identity.Lab) -> None:
    files = written(lab)
    for pool in hosts()["all"]["children"]:
        assert lock_pins.problems(files[f"group_vars/{pool}/pins.yml"]["goldnode_pins"]) == []


def test_every_pool_gets_a_promotion_policy_that_the_ledger_accepts(lab: identity.Lab) -> None:
    files = written(lab)
    numbers = {pool: policy.complete(files[f"group_vars/{pool}/promotion.yml"]["goldnode_promotion"], pool) for pool in hosts()["all"]["children"]}
    assert numbers["lab_a10"]["coverage"] == 2
    assert numbers["lab_a100"]["coverage"] == 1
    assert {found["minimum_rung"] for found in numbers.values()} == {"simulated"}


def test_the_inventory_holds_literals_only(lab: identity.Lab) -> None:
    for path, text in inventory.files(lab, SOURCE, hosts(), "F" * 40, "/b.tar", KNOWN):
        assert "{{" not in text, path


def test_every_node_has_its_address_in_hosts_and_ssh_config(lab: identity.Lab) -> None:
    files = written(lab)
    for group in files["hosts.yml"]["all"]["children"]["lab_a10"]["children"].values():
        for name, variables in group["hosts"].items():
            assert variables["ansible_host"] == lab.address(name)
            assert f"Host {name}\n    HostName {lab.address(name)}\n" in files["ssh_config"]


def test_ssh_always_checks_the_host_keys_that_were_made(lab: identity.Lab) -> None:
    files = written(lab)
    assert "StrictHostKeyChecking yes" in files["ssh_config"]
    assert f"UserKnownHostsFile {lab.state}/inventory/known_hosts" in files["ssh_config"]
    assert "lab-a100-canary-1,10.1.2.15 ssh-ed25519 KEYlab-a100-canary-1\n" in files["known_hosts"]


def test_the_trusted_key_is_the_labs_own_as_a_readable_block(lab: identity.Lab) -> None:
    text = dict(inventory.files(lab, SOURCE, hosts(), "F" * 40, "/b.tar", KNOWN))["trust.yml"]
    assert "public_key: |\n" in text
    assert yaml.safe_load(text)["goldnode_trust"]["repositories"]["lab"]["fingerprint"] == "F" * 40


def test_writing_twice_changes_nothing(lab: identity.Lab) -> None:
    assert inventory.write(lab, inventory.files(lab, SOURCE, hosts(), "F" * 40, "/b.tar", KNOWN))
    assert not inventory.write(lab, inventory.files(lab, SOURCE, hosts(), "F" * 40, "/b.tar", KNOWN))


def test_an_engine_is_pinned_by_the_numbers_that_it_prints() -> None:
    versions = {"docker.io": "26.1.5+dfsg1-9+deb13u1+b1", "containerd": "1.7.24~ds1-6+deb13u1", "runc": "1.1.15+ds1-2+b4", "docker-cli": "1"}
    assert inventory.engine_pins(versions) == KNOWN["docker"]
