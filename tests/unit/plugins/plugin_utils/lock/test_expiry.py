import json
from dataclasses import replace

import pytest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import make_lock
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.expiry import standings, write_result
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.resolve import resolve

from .test_document import REPOSITORY

NEWEST = {"kernel": {"version": "6.12.117+deb13-amd64"}, "container_toolkit": {"version": "1.20.0"}}
REPOSITORIES = [{**REPOSITORY, "name": name, "origin": origin} for name, origin in (("os", "Debian"), ("nvidia", "NVIDIA"))]


@pytest.fixture
def lock(pins, offered):
    wanted = {**pins, **NEWEST, "nvidia_driver": {**pins["nvidia_driver"], "version": "595.71.05"}}
    settled, chosen = resolve(wanted, offered)
    return make_lock("lab_a10", settled, wanted, REPOSITORIES, chosen)


def standing(lock, offered, name):
    return next(one for one in standings(lock, offered) if one.name == name)


def test_what_is_the_newest_in_its_archive_is_there(lock, offered):
    assert standing(lock, offered, "runc").state == "there"
    assert standing(lock, offered, "linux-image-6.12.117+deb13-amd64").state == "there"
    assert standing(lock, offered, "libcuda1")[3:5] == ("there", "")


def test_a_higher_version_supersedes(lock, offered, package):
    found = standing(lock, [*offered, package("runc", "1.1.15+ds1-3")], "runc")
    assert (found.state, found.newer) == ("superseded", "1.1.15+ds1-3")
    assert found.url == "https://mirror.example/pool/runc_1.1.15+ds1-2+b4_amd64.deb"


def test_a_higher_version_in_another_repository_supersedes_nothing(lock, offered, package):
    assert standing(lock, [*offered, package("runc", "1.1.15+ds1-3", repository="backports")], "runc").state == "there"


def test_a_later_kernel_of_the_same_flavour_supersedes_though_its_name_is_another(lock, offered, package):
    other = [package("linux-image-6.12.120+deb13-cloud-amd64", "6.12.120-1"), package("linux-kbuild-6.12.120+deb13-amd64", "6.12.120-1")]
    assert standing(lock, [*offered, *other], "linux-image-6.12.117+deb13-amd64").state == "there"
    assert standing(lock, [*offered, *other], "linux-kbuild-6.12.117+deb13-amd64").newer == "linux-kbuild-6.12.120+deb13-amd64"


def test_what_has_left_is_gone_and_comes_from_the_snapshot_of_the_locks_day(lock, offered):
    found = standing(lock, [one for one in offered if one.name != "runc"], "runc")
    assert (found.state, found.newer) == ("gone", "none")
    assert found.url == "https://snapshot.debian.org/archive/debian/20261128T081213Z/pool/runc_1.1.15+ds1-2+b4_amd64.deb"


def test_debians_security_updates_have_a_snapshot_of_their_own(lock, offered):
    security = {**lock, "repositories": [{**one, "label": "Debian-Security"} for one in lock["repositories"]]}
    found = standing(security, [one for one in offered if one.name != "runc"], "runc")
    assert found.url.startswith("https://snapshot.debian.org/archive/debian-security/20261128T081213Z/pool/")


def test_an_origin_without_snapshots_has_nothing_to_fetch(lock, offered):
    found = standing(lock, [one for one in offered if one.name != "libcuda1"], "libcuda1")
    assert (found.state, found.url) == ("gone", "")


def test_other_content_under_the_same_version_is_changed(lock, offered):
    found = standing(lock, [replace(one, sha256="f" * 64) if one.name == "runc" else one for one in offered], "runc")
    assert (found.state, found.newer) == ("changed", "1.1.15+ds1-2+b4 with SHA-256 ffffffffffff")


def test_the_result_fails_for_what_is_gone_and_names_what_saves_it(lock, offered, tmp_path):
    found = standings(lock, [one for one in offered if one.name not in ("runc", "libcuda1")])
    result, lines = write_result(lock, found, tmp_path)
    assert result["outcome"] == "fail" and result["count"] == {"gone": 2, "changed": 0, "superseded": 0, "there": len(found) - 2}
    assert json.loads((tmp_path / "result.json").read_text()) == result
    assert "Save what can still be fetched: ansible-playbook goldnode.gpu.mirror_packages -e pool=lab_a10 " in lines[-1]


def test_a_lock_without_risk_passes(lock, offered, tmp_path):
    result, lines = write_result(lock, standings(lock, offered), tmp_path)
    assert result["outcome"] == "pass" and len(lines) == 3
