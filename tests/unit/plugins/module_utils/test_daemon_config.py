import json

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.daemon_config import (
    deciding_line,
    environment,
    flag_conflicts,
    flags,
    gpu_containers,
    merge,
    merged_text,
    other_versions,
    reload_error,
    reload_is_enough,
)
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError
from hypothesis import given
from hypothesis import strategies as st

TREES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)
MAPPINGS = st.dictionaries(st.text(), TREES)


def test_a_neighbour_in_a_nested_mapping_stays():
    """nvidia-ctk 1.20.0 loses `buildkit` here: it replaces the mapping `features`."""
    assert merge({"features": {"buildkit": True}}, {"features": {"cdi": True}}) == {"features": {"buildkit": True, "cdi": True}}


def test_a_list_replaces_a_list():
    assert merge({"dns": ["a"]}, {"dns": ["b"]}) == {"dns": ["b"]}


@given(MAPPINGS, MAPPINGS)
def test_merging_twice_is_merging_once(present, wanted):
    once = merge(present, wanted)
    assert merge(once, wanted) == once


@given(MAPPINGS, MAPPINGS)
def test_no_key_is_lost_but_those_that_are_wanted_to_be_null(present, wanted):
    unwanted = {key for key, value in wanted.items() if value is None}
    assert merge(present, wanted).keys() == (present.keys() | wanted.keys()) - unwanted


def test_a_null_takes_a_key_out_at_any_depth():
    assert merge({"a": {"x": 1, "y": 2}, "b": 3}, {"a": {"x": None}, "b": None, "c": None}) == {"a": {"y": 2}}


def test_a_file_that_says_it_already_stays_byte_for_byte():
    former = '{"b":1,\n "a": {"x": 1}}'
    assert merged_text(former, {"a": {"x": 1}}, "f") == former


@pytest.mark.parametrize("former", ["", " \n"])
def test_no_file_and_an_empty_one_get_the_options(former):
    assert json.loads(merged_text(former, {"a": 1}, "f")) == {"a": 1}


@pytest.mark.parametrize(("former", "words"), [('{"a": }', "f is not JSON"), ("[1]", "f holds list")])
def test_what_is_no_mapping_is_refused(former, words):
    with pytest.raises(RefusedError, match=words):
        merged_text(former, {"a": 1}, "f")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "Starting up\nunable to configure the Docker daemon with file f: invalid character '}'\nMain process exited\n",
            "unable to configure the Docker daemon with file f: invalid character '}'",
        ),
        ('level=info msg="x"\nfailed to start daemon: no such driver\nexited', "failed to start daemon: no such driver"),
        ("exited\n", "exited"),
        ("", "it said nothing"),
    ],
)
def test_the_daemons_deciding_line_is_found(text, line):
    assert deciding_line(text) == line


EXEC = "{ path=/usr/sbin/dockerd ; argv[]=/usr/sbin/dockerd -H fd:// $DOCKER_OPTS ; ignore_errors=no ; start_time=[n/a] }"


@pytest.mark.parametrize(
    ("options", "keys", "conflicts"),
    [
        ("", {"default-runtime"}, []),
        ("", {"hosts"}, ["-H (hosts)"]),
        ("--default-runtime=nvidia -D", {"default-runtime", "debug", "runtimes"}, ["--default-runtime (default-runtime)", "-D (debug)"]),
        (
            "--registry-mirror http://m --log-opt=max-size=1m",
            {"registry-mirrors", "log-opts"},
            ["--log-opt (log-opts)", "--registry-mirror (registry-mirrors)"],
        ),
        ("--add-runtime=x=/bin/x", {"runtimes"}, []),
        ("--data-root /d", {"storage-driver"}, []),
    ],
)
def test_a_flag_of_the_unit_that_the_file_repeats_is_named(options, keys, conflicts):
    assert flag_conflicts(flags(EXEC, {"DOCKER_OPTS": options}), keys) == conflicts


def test_a_unit_that_is_not_installed_has_no_flags():
    assert flags("", {}) == []


def test_an_environment_file_is_read_as_systemd_reads_it():
    assert environment("# c\nDOCKER_OPTS=\"--debug -l info\"\n A='b'\nEMPTY=\n") == {"DOCKER_OPTS": "--debug -l info", "A": "b", "EMPTY": ""}


@pytest.mark.parametrize(
    ("before", "after", "enough"),
    [
        ({}, {"live-restore": True}, True),
        ({"registry-mirrors": ["a"]}, {}, True),
        ({}, {"live-restore": True, "data-root": "/d"}, False),
        ({"features": {}}, {"features": {"cdi": True}}, False),
        ({"log-opts": {"max-size": "1m"}}, {"log-opts": {"max-size": "2m"}}, False),
    ],
)
def test_the_daemon_restarts_only_for_what_it_does_not_reload(before, after, enough):
    assert reload_is_enough(json.dumps(before), json.dumps(after), "f") is enough


@pytest.mark.parametrize(
    ("host", "has"),
    [
        ({"DeviceRequests": [{"Driver": "", "Count": -1, "Capabilities": [["gpu"]]}]}, True),
        ({"DeviceRequests": [{"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=all"]}]}, True),
        ({"Runtime": "nvidia"}, True),
        ({"Devices": [{"PathOnHost": "/dev/nvidia0"}]}, True),
        ({"Runtime": "runc", "DeviceRequests": None, "Devices": [{"PathOnHost": "/dev/fuse"}]}, False),
    ],
)
def test_a_container_with_a_gpu_is_known_by_how_it_was_given_one(host, has):
    assert gpu_containers([{"Name": "/job", "HostConfig": host}]) == (["job"] if has else [])


@pytest.mark.parametrize(
    ("wanted", "answered", "other"),
    [
        ({"Engine": "26.1.5", "runc": "1.1.15"}, {"Engine": "26.1.5+dfsg1", "runc": "1.1.15+ds1"}, []),
        ({"Engine": "5:29.9.0-1~debian.13~trixie"}, {"Engine": "29.9.0"}, []),
        ({"runc": None}, {}, []),
        ({"runc": "1.3.6"}, {"runc": "1.1.15+ds1"}, ["runc 1.1.15, expected 1.3.6"]),
        ({"Engine": "26.1.5"}, {}, ["Engine does not answer, expected 26.1.5"]),
    ],
)
def test_what_answers_is_compared_with_the_pins_by_upstream_version(wanted, answered, other):
    assert other_versions(wanted, answered) == other


def test_a_reload_that_was_not_taken_is_told_from_other_errors():
    noise = 'time="x" level=error msg="copy stream failed"\n'
    assert reload_error(noise) is None
    assert reload_error(noise + 'time="x" level=error msg="Unable to reload the configuration"\n').endswith('"Unable to reload the configuration"')
