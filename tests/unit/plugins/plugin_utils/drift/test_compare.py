"""One node against its lock: each change of a node is one difference of its kind, and nothing else."""

from copy import deepcopy
from pathlib import Path

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.plugin_utils.drift.compare import KINDS, drift
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FIXTURES = Path(__file__).parents[4] / "fixtures" / "evidence"
EVIDENCE = yaml.load((FIXTURES / "good_a10.evidence.yml").read_text(), yaml.CSafeLoader)
STACK = yaml.load((FIXTURES / "good_a10.lock.yml").read_text(), yaml.CSafeLoader)
RELEASE = EVIDENCE.get("release")
RUNC = "1.1.15+ds1-2+b8"


@pytest.fixture
def node():
    made = deepcopy(EVIDENCE)
    made["probes"]["reboot_required"] = {"absent": True}
    return made


def found(evidence, release=RELEASE):
    return [(one.kind, one.subject, one.expected, one.observed) for one in drift(evidence, STACK, release).differences]


def listed(node, old, new):
    """The node with another text in its list of packages."""
    text = node["probes"]["dpkg_l"]["stdout"]
    assert old in text
    node["probes"]["dpkg_l"]["stdout"] = text.replace(old, new)
    return node


def test_a_node_that_is_its_release_is_golden(node):
    seen = drift(node, STACK, RELEASE)
    assert (seen.differences, seen.unseen, seen.state) == ((), (), "golden")


def test_another_version_says_what_moved_it(node):
    seen = drift(listed(node, RUNC, "1.3.2-1"), STACK)
    [one] = [one for one in seen.differences if one.kind == "package_version"]
    assert (one.subject, one.expected, one.observed) == ("runc", RUNC, "1.3.2-1")
    assert one.moved_by == "apt-get install docker.io=26.1.5+dfsg1-9+b13 by admin (1000), 2026-11-28 09:10:11"


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ("hi  runc", "ii  runc", ("hold_lost", "runc", "held", "not held")),
        ("hi  runc", "rc  runc", ("package_missing", "runc", RUNC, "none")),
        ("hi  runc", "hiR runc", ("package_missing", "runc", RUNC, "none")),
        (f"{RUNC} amd64", f"{RUNC} i386", ("package_missing", "runc", RUNC, "none")),
        ("hi  runc", f"hi  runc {RUNC} i386\nhi  runc", None),
        (f"hi  runc {RUNC} amd64", f"hi  runc 9-1 amd64\nhi  runc {RUNC} i386", ("package_version", "runc", RUNC, "9-1")),
        ("hi  runc", "ii  linux-image-6.1.0-9-amd64 6.1.1-1 amd64\nhi  runc", ("package_extra", "linux-image-6.1.0-9-amd64", "none", "6.1.1-1")),
    ],
)
def test_each_way_in_which_packages_differ_is_a_kind(node, old, new, difference):
    assert found(listed(node, old, new)) == ([difference] if difference else [])


def test_a_package_of_nobodys_family_is_no_difference(node):
    assert found(listed(node, "hi  runc", "ii  bash 5.2-1 amd64\nhi  runc")) == []


@pytest.mark.parametrize(
    ("path", "now", "difference"),
    [
        ("/etc/docker/daemon.json", "sha256:0", ("configuration", "/etc/docker/daemon.json", "as provisioned", "edited")),
        ("/etc/docker/daemon.json", "absent", ("configuration", "/etc/docker/daemon.json", "as provisioned", "removed")),
        ("/etc/apt/sources.list.d/goldnode-os.sources", "sha256:0", ("repository", "/etc/apt/sources.list.d/goldnode-os.sources", "as provisioned", "edited")),
    ],
)
def test_an_edited_file_is_a_difference(node, path, now, difference):
    before = node["probes"]["configuration"][path].split()[0]
    node["probes"]["configuration"][path] = f"{before} {now}"
    assert found(node) == [difference]


def test_a_package_source_that_came_is_a_changed_repository(node):
    node["probes"]["configuration"]["/etc/apt/sources.list.d/ppa.list"] = f"absent sha256:{'1' * 64}"
    assert found(node) == [("repository", "/etc/apt/sources.list.d/ppa.list", "as provisioned", "added")]


def test_a_pending_reboot_is_a_difference(node):
    node["probes"]["reboot_required"] = {"content": "*** System restart required ***\n", "complete": True}
    assert [kind for kind, *_ in found(node)] == ["reboot_pending"]


def test_another_release_is_a_difference_where_one_is_expected(node):
    assert found(node, "sha256:" + "9" * 64)[0][0] == "release"
    assert found(node, None) == []


def test_missing_gpus_and_another_cgroup_version_are_differences(node):
    stack = deepcopy(STACK)
    stack["pins"]["gpus"][0]["count"] = 8
    stack["pins"]["os"]["cgroup"] = 1
    assert {one.kind for one in drift(node, stack).differences} == {"cgroup", "gpus"}


@pytest.mark.parametrize("probe", ["dpkg_l", "configuration", "reboot_required", "lspci_nnk"])
def test_what_nobody_saw_is_never_golden(node, probe):
    del node["probes"][probe]
    assert drift(node, STACK).state == "unknown"


def test_a_list_that_is_cut_proves_nothing(node):
    node["probes"]["dpkg_l"]["complete"] = False
    assert drift(node, STACK).differences == () and drift(node, STACK).unseen


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(sorted(EVIDENCE["probes"])),
    value=st.one_of(st.none(), st.text(), st.integers(), st.lists(st.text()), st.dictionaries(st.text(), st.text())),
)
def test_garbled_evidence_is_a_difference_of_a_known_kind_or_unseen(node, name, value):
    garbled = {**node, "probes": {**node["probes"], name: value}}
    assert {one.kind for one in drift(garbled, STACK).differences} <= set(KINDS)
