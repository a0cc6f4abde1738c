import copy
import os
from dataclasses import replace

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_of, digest_without
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock import LockError
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import check_lock, make_lock, read_lock, render
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.resolve import resolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

REPOSITORY = {
    "name": "os",
    "uris": ["https://mirror.example"],
    "suites": ["trixie"],
    "components": ["main"],
    "origin": "O",
    "label": "L",
    "key_fingerprint": "A" * 40,
    "snapshot": f"sha256:{'b' * 64}",
    "date": "2026-11-28T08:12:13Z",
}


# Ten values, ten times ten, and so on: 527 bytes that stand for gigabytes.
BOMB = "l0: &l0 [x]\n" + "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]\n" for n in range(1, 11))


@pytest.fixture
def lock(pins, offered):
    settled, chosen = resolve(pins, offered)
    return make_lock("lab_a10", settled, pins, [REPOSITORY], chosen)


def leaves(value, path=()):
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        yield path
    else:
        for key, inner in items:
            yield from leaves(inner, (*path, key))


def replaced(value, path, other):
    result = copy.deepcopy(value)
    place = result
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = other
    return result


def test_a_lock_survives_its_own_text(lock, tmp_path):
    path = tmp_path / "a.lock.yml"
    path.write_text(render(lock))
    assert read_lock(path) == lock


def test_packages_stand_in_the_order_of_layer_and_name(lock):
    order = ["kernel", "driver", "container_toolkit", "engine"]
    places = [(order.index(one["layer"]), one["name"]) for one in lock["packages"]]
    assert places == sorted(places)


def test_the_digest_is_over_all_the_rest(lock):
    assert lock["digest"] == digest_without(lock)


def test_the_pins_digest_is_that_of_what_was_written(pins, offered):
    pins["nvidia_driver"]["version"] = "580.*"
    settled, chosen = resolve(pins, offered)
    made = make_lock("a", settled, pins, [REPOSITORY], chosen)
    assert made["pins_digest"] == digest_of(pins) != digest_of(made["pins"])


def test_images_carry_use_reference_and_digest(pins, offered):
    pins["workload_images"] = [{"reference": f"nvcr.io/x:1@sha256:{'c' * 64}", "cuda": "12.8"}]
    settled, chosen = resolve(pins, offered)
    assert make_lock("a", settled, pins, [REPOSITORY], chosen)["images"] == [
        {"use": "canary", "reference": pins["canary_image"]["reference"], "digest": f"sha256:{'a' * 64}"},
        {"use": "workload", "reference": f"nvcr.io/x:1@sha256:{'c' * 64}", "digest": f"sha256:{'c' * 64}"},
    ]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_changed_value_is_refused(data, lock):
    path = data.draw(st.sampled_from(list(leaves(lock))))
    other = data.draw(st.one_of(st.text(), st.integers(), st.none(), st.booleans()))
    changed = replaced(lock, path, other)
    if repr(changed) != repr(lock):
        with pytest.raises(LockError):
            check_lock(changed, "x")


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_lock_that_lost_a_package_is_refused(data, lock):
    index = data.draw(st.integers(0, len(lock["packages"]) - 1))
    changed = copy.deepcopy(lock)
    del changed["packages"][index]
    with pytest.raises(LockError, match="was changed after lock_stack wrote it"):
        check_lock(changed, "x")


def test_a_hand_edit_is_refused_with_the_way_back(lock, tmp_path):
    path = tmp_path / "a.lock.yml"
    path.write_text(render(lock).replace("580.159.03-1", "580.159.04-1", 1))
    with pytest.raises(LockError) as refused:
        read_lock(path)
    assert str(refused.value).startswith(f"{path} was changed after lock_stack wrote it: its digest is {lock['digest']}")
    assert str(refused.value).endswith("Restore it from git, or lock again: ansible-playbook goldnode.gpu.lock_stack -e pool=lab_a10")


def test_a_lock_with_a_right_digest_but_floating_pins_is_refused(lock):
    lock["pins"]["nvidia_driver"]["version"] = "580.*"
    lock["digest"] = digest_without(lock)
    with pytest.raises(LockError, match=r'nvidia_driver[.]version is "580'):
        check_lock(lock, "x")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "is not there; lock_stack writes it"),
        ("a: [", "cannot be read as YAML"),
        ("[]", "is not a lock"),
        ("{}", "is missing"),
        ("pool: a\npool: b", "a key stands twice: pool, line 1"),
        ("pins: &a {b: *a}", "aliases stand for more|cannot be read as YAML"),
        (BOMB, "aliases stand for more"),
        ("[" * 3000, "nested too deeply|cannot be read as YAML"),
        ("pins_digest: 2026-02-30", "day is out of range"),
        ('pool: "\\ud800"', "cannot be read as YAML|is not a lock"),
        ("schema: goldnode.lock/v0", "is of schema goldnode.lock/v0, this goldnode.gpu reads goldnode.lock/v1: lock the pool again"),
    ],
)
def test_what_is_no_lock_is_refused_in_one_sentence(tmp_path, text, reason):
    path = tmp_path / "a.lock.yml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(LockError, match=reason) as refused:
        read_lock(path)
    assert "\n" not in str(refused.value)


def test_a_lock_that_is_not_there_gets_the_command_for_its_pool(tmp_path):
    with pytest.raises(LockError, match=r"lock_stack -e pool=lab_a10$"):
        read_lock(tmp_path / "lab_a10.lock.yml")
    with pytest.raises(LockError, match=r"lock_stack -e pool=<pool>$"):
        read_lock(tmp_path / "some.yml")


def test_the_text_is_plain_yaml(lock):
    assert yaml.safe_load(render(lock)) == lock


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("version", "1.20\ntouch /x\n#-1"),
        ("version", "1.20\n"),
        ("version", "$(id)"),
        ("name", "nvidia-modprobe\nx"),
        ("name", "../x"),
        ("architecture", "amd64;x"),
        ("filename", "pool/../../etc/x"),
        ("filename", ".."),
        ("filename", "/etc/x"),
        ("filename", "pool/a b.deb"),
        ("origin", "O\x1b[2J"),
        ("sha256", "zz"),
        ("sha256", "a" * 64 + "\n"),
        ("size", "1"),
    ],
)
def test_what_a_repository_says_makes_no_lock_that_could_not_be_read_again(pins, offered, field, value):
    settled, chosen = resolve(pins, offered)
    with pytest.raises(LockError, match=rf"what was resolved for pool lab_a10 is not a lock: packages\[\d+\][.]{field} is") as refused:
        make_lock("lab_a10", settled, pins, [REPOSITORY], [replace(chosen[0], **{field: value}), *chosen[1:]])
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("kind", ["fifo", "folder", "bytes", "large"])
def test_what_is_no_file_of_text_is_refused_at_once(tmp_path, kind):
    path = tmp_path / "a.lock.yml"
    makers = {
        "fifo": lambda: os.mkfifo(path),
        "folder": path.mkdir,
        "bytes": lambda: path.write_bytes(b"\xff\xfe\x00"),
        "large": lambda: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 1 << 30),
    }
    makers[kind]()
    with pytest.raises(LockError, match="cannot be read as YAML") as refused:
        read_lock(path)
    assert "\n" not in str(refused.value)
