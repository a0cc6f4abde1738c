# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
from __future__ import annotations

import hashlib
import ipaddress
from pathlib import Path

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import identity
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.commands import LabError
from hypothesis import given, settings
from hypothesis import strategies as st

LABS = st.from_regex(r"[a-z0-9]{1,8}", fullmatch=True)
NAMES = st.lists(st.from_regex(r"lab-[a-z0-9]{1,6}-canary-[0-9]", fullmatch=True), unique=True, max_size=20)


def test_id_is_the_hash_of_the_clones_real_path(tmp_path: Path) -> None:
    clone, link = tmp_path / "clone", tmp_path / "link"
    clone.mkdir()
    link.symlink_to(clone)
    assert identity.lab_id(link) == identity.lab_id(clone) == hashlib.sha256(str(clone).encode()).hexdigest()[:6]


@given(LABS)
def test_a_good_override_is_the_id_and_fits_into_an_interface_name(name: str) -> None:
    lab = identity.Lab(identity.lab_id(Path("/"), name), "10.0.0.0/24")
    assert lab.id == name
    assert len(lab.prefix) <= 15


@pytest.mark.parametrize("name", ["UPPER", "ninechars", "a/b", "..", "a b", "ä", "a\n"])
def test_an_override_that_could_not_name_an_interface_is_refused(name: str) -> None:
    with pytest.raises(LabError, match="a lab id has 1 to 8 of a-z and 0-9"):
        identity.lab_id(Path("/"), name)


@settings(deadline=None)  # a machine that routes half of 10/8 takes a fifth of a second
@given(LABS, st.lists(st.sampled_from(["10.0.0.0/9", "10.128.0.0/10", "172.16.0.0/12", "0.0.0.0/0", "10.200.3.0/24"]), max_size=5))
def test_the_subnet_overlaps_nothing_that_the_machine_routes_but_the_default_route(lab: str, taken: list[str]) -> None:
    networks = [ipaddress.IPv4Network(text) for text in taken]
    subnet = identity.free_subnet(lab, networks)
    assert subnet.prefixlen == 24
    assert subnet.subnet_of(ipaddress.IPv4Network("10.0.0.0/8"))
    assert not any(subnet.overlaps(network) for network in networks if network.prefixlen)


def test_the_next_subnet_is_taken_where_the_first_is_in_use() -> None:
    first = identity.free_subnet("3f9a1c", [])
    second = identity.free_subnet("3f9a1c", [first])
    assert int(second.network_address) in (int(first.network_address) + 256, 10 << 24)


def test_no_free_subnet_is_one_sentence() -> None:
    with pytest.raises(LabError, match=r"no subnet in 10\.0\.0\.0/8 is free"):
        identity.free_subnet("3f9a1c", [ipaddress.IPv4Network("10.0.0.0/8")])


@given(NAMES, NAMES)
def test_a_node_keeps_its_address_when_others_come(first: list[str], later: list[str]) -> None:
    before = identity.with_nodes(identity.Lab("x", "10.1.2.0/24"), first)
    after = identity.with_nodes(before, [*later, *first])
    addresses = [after.address(node) for node in after.nodes]
    assert all(after.address(node) == before.address(node) for node in before.nodes)
    assert len(set(addresses)) == len(addresses)
    assert not {after.hub, after.machine} & set(addresses)


def test_an_unknown_node_is_named_with_those_that_are_there() -> None:
    with pytest.raises(LabError, match="has no node b; it has a"):
        identity.with_nodes(identity.Lab("x", "10.1.2.0/24"), ["a"]).address("b")


def test_the_record_gives_the_lab_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "STATE_HOME", tmp_path)
    lab = identity.with_nodes(identity.Lab("x", "10.1.2.0/24"), ["a", "b"])
    assert identity.write_record(lab)
    assert not identity.write_record(lab)
    assert identity.read_record(lab.state) == lab


def test_no_record_says_how_to_make_a_lab(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="Make one: ansible-playbook"):
        identity.read_record(tmp_path)
