from dataclasses import replace
from datetime import date

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import make_lock, read_lock
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.pins import read_pins
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.resolve import Offers, PoolFiles, resolve
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.upgrade import proposals
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.upgrade_report import write_proposals
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.check import Report, check
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.model import WARNING, Statement

from .test_document import REPOSITORY

TODAY = date(2026, 12, 1)


@pytest.fixture
def lock(pins, offered):
    settled, chosen = resolve(pins, offered)
    return make_lock("lab_a10", settled, pins, [REPOSITORY], chosen)


def proposed(lock, packages, judge=lambda pins: check(pins, TODAY)):
    return {one.kind: one for one in proposals(lock, Offers([REPOSITORY], packages), judge)}


def version(proposal, subject):
    return proposal.lock["pins"][subject]["version"]


def test_each_class_goes_as_far_as_its_step_allows(lock, offered):
    found = proposed(lock, offered)
    assert list(found) == ["patch", "minor", "major"]
    assert [version(one, "kernel") for one in found.values()] == ["6.12.117+deb13-amd64"] * 3
    assert [version(one, "container_toolkit") for one in found.values()] == ["1.19.1", "1.20.0", "1.20.0"]
    assert [version(one, "nvidia_driver") for one in found.values()] == ["580.159.03", "580.159.03", "595.71.05"]


def test_a_proposal_is_a_whole_lock_that_resolving_its_pins_gives_again(lock, offered):
    for one in proposed(lock, offered).values():
        pins, chosen = resolve(one.lock["pins"], offered)
        assert make_lock("lab_a10", pins, one.lock["pins"], [REPOSITORY], chosen) == one.lock


def test_nothing_newer_is_no_proposal(lock, offered):
    newest = proposed(lock, offered)["major"].lock
    assert proposed(newest, offered) == {}


def test_a_version_of_which_something_worse_is_said_is_passed_over(lock, offered):
    def judge(pins):
        bad = pins["container_toolkit"]["version"] == "1.20.0"
        return Report((Statement("pins.x", WARNING, "bad", ""),) if bad else ())

    assert {version(one, "container_toolkit") for one in proposed(lock, offered, judge).values()} == {"1.19.1"}


def test_what_is_said_already_stops_no_upgrade_and_what_is_settled_is_named(lock, offered):
    def judge(pins):
        old = pins["container_toolkit"]["version"] == "1.19.1"
        return Report((Statement("pins.floor", WARNING, "CVE-1 is open", ""), *((Statement("pins.old", WARNING, "CVE-2 is open", ""),) if old else ())))

    found = proposed(lock, offered, judge)
    assert [one.reason for one in found["patch"].settled] == []
    assert [one.reason for one in found["minor"].settled] == ["CVE-2 is open"]


def test_a_set_that_does_not_resolve_is_passed_over(lock, offered):
    # the newest driver lacks a sibling, as in a half synced repository
    packages = [one for one in offered if not (one.name == "nvidia-smi" and one.upstream == "595.71.05")]
    assert version(proposed(lock, packages)["minor"], "nvidia_driver") == "580.159.03"
    assert "major" not in proposed(lock, packages)


def test_the_fabric_manager_goes_with_the_driver(pins, offered):
    pins["fabric_manager"] = {"version": "580.159.03"}
    settled, chosen = resolve(pins, offered)
    lock = make_lock("lab_a10", settled, pins, [REPOSITORY], chosen)
    found = proposed(lock, offered, lambda _: Report(()))
    assert version(found["major"], "fabric_manager") == version(found["major"], "nvidia_driver") == "595.71.05"


def test_what_the_engine_runs_on_goes_along(lock, offered, package):
    newer = [
        package("docker.io", "26.1.9+dfsg1-1", Depends="containerd (>= 1.7.30~)"),
        package("docker-cli", "26.1.9+dfsg1-1"),
        package("containerd", "1.7.31~ds1-1", Depends="runc"),
    ]
    found = proposed(lock, [*offered, *newer], lambda _: Report(()))
    assert found["patch"].lock["pins"]["docker"] == {"version": "26.1.9", "containerd": "1.7.31", "runc": "1.1.15"}


def test_a_rebuild_under_the_same_pins_is_a_patch(lock, offered, package):
    newest = proposed(lock, offered)["major"].lock
    found = proposed(newest, [*offered, package("runc", "1.1.15+ds1-2+b9")])
    assert list(found) == ["patch"]
    assert [one.words for one in found["patch"].differences] == ["runc 1.1.15+ds1-2+b4 -> 1.1.15+ds1-2+b9"]


def test_the_files_to_review_are_complete_and_fit_each_other(lock, offered, tmp_path):
    files = PoolFiles("lab_a10", tmp_path / "inventory")
    found = proposals(lock, Offers([REPOSITORY], offered), lambda pins: check(pins, TODAY))
    result, lines = write_proposals(files, lock, found, tmp_path / "report")
    assert [one["kind"] for one in result["proposals"]] == ["patch", "minor", "major"]
    for one in result["proposals"]:
        made = read_lock(tmp_path / "report" / one["kind"] / "lab_a10.lock.yml", "lab_a10")
        assert read_pins(tmp_path / "report" / one["kind"] / "pins.yml", "lab_a10") == made["pins"]
        assert one["needs"] == ["drain", "reboot"]
    assert lines[-1] == f"pass: 3 proposals below {tmp_path / 'report'}"
    assert yaml.safe_load((tmp_path / "report/patch/pins.yml").read_text())["goldnode_pins"]["kernel"] == {"version": "6.12.117+deb13-amd64"}


def test_no_proposal_is_said_in_one_line(lock, tmp_path):
    _, lines = write_proposals(PoolFiles("lab_a10", tmp_path), lock, [], tmp_path / "report")
    assert lines[-1].startswith("nothing newer that holds together")


def test_a_mirror_that_fell_back_or_was_rebuilt_gives_no_proposal_that_takes_a_package_back(lock, offered):
    older = [replace(one, version="1.1.15+ds1-2+b3") if one.name == "runc" else one for one in offered]
    rebuilt = [replace(one, sha256="f" * 64) if one.name == "runc" else one for one in offered]
    assert proposed(lock, older) == proposed(lock, rebuilt) == {}


def test_an_archive_that_has_left_the_locked_set_still_gives_what_resolves(lock, offered):
    moved = [one for one in offered if not (one.layer == "container_toolkit" and one.upstream == lock["pins"]["container_toolkit"]["version"])]
    found = proposed(lock, moved)
    assert [version(one, "container_toolkit") for one in found.values()] == ["1.19.1", "1.20.0", "1.20.0"][-len(found) :]
    assert found


def test_where_no_class_resolves_the_reason_is_said(lock, offered):
    with pytest.raises(LockError, match=r"runc is .1\.1\.15"):
        proposed(lock, [one for one in offered if one.name != "runc"])


@pytest.fixture
def docker_ce(pins, offered, package):
    """The set with Docker's own packages, whose containerd.io brings a runc of its own."""
    others = [one for one in offered if one.layer != "engine"]

    def release(docker, containerd):
        depends = {"Depends": "docker-ce-cli, containerd.io"}
        versions = {"docker-ce": docker, "docker-ce-cli": docker, "containerd.io": containerd}
        return [package(name, one, "docker", "Docker", **(depends if name == "docker-ce" else {})) for name, one in versions.items()]

    pins["docker"] = {"version": "29.8.0", "containerd": "2.3.0", "runc": "1.4.3"}
    return pins, others + release("5:29.8.0-1~debian.13~trixie", "2.3.0-1~debian.13~trixie"), release


def test_an_engine_that_brings_its_runc_moves_and_the_pin_of_runc_stays_exact(docker_ce):
    pins, packages, release = docker_ce
    settled, chosen = resolve(pins, packages)
    lock = make_lock("lab_a10", settled, pins, [REPOSITORY], chosen)
    packages += release("5:29.9.0-1~debian.13~trixie", "2.4.1-1~debian.13~trixie")
    for one in proposals(lock, Offers([REPOSITORY], packages), lambda _: Report(())):
        assert one.lock["pins"]["docker"]["runc"] == "1.4.3"
        assert one.kind == "patch" or one.lock["pins"]["docker"]["version"] == "29.9.0"


def test_a_range_of_a_runc_that_no_package_is_is_refused(docker_ce):
    pins, packages, _ = docker_ce
    pins["docker"]["runc"] = "1.*"
    with pytest.raises(LockError, match=r'docker\.runc is "1\.\*", but no package of the pool.s engine is runc alone'):
        resolve(pins, packages)


def test_a_whole_package_version_as_pin_steps_by_what_upstream_counts(docker_ce):
    pins, packages, release = docker_ce
    pins["docker"]["version"] = "5:29.8.0-1~debian.13~trixie"
    settled, chosen = resolve(pins, packages)
    lock = make_lock("lab_a10", settled, pins, [REPOSITORY], chosen)
    packages += release("5:29.8.1-1~debian.13~trixie", "2.3.0-1~debian.13~trixie") + release("5:29.9.0-1~debian.13~trixie", "2.3.0-1~debian.13~trixie")
    found = {one.kind: one.lock["pins"]["docker"]["version"] for one in proposals(lock, Offers([REPOSITORY], packages), lambda _: Report(()))}
    assert (found["patch"], found["minor"]) == ("29.8.1", "29.9.0")
