import copy
import json
import struct

import pytest
import tomllib
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.roles.simulated_gpu.simulated_gpu_node import device_cgroup, injection, toolkit

TEXT = st.text(st.characters(codec="ascii", categories=["L", "N", "P", "Zs"]), max_size=12)
KEY = st.text("abcdefgh", min_size=1, max_size=6)


def mapping(inner):
    return st.dictionaries(KEY, inner, min_size=1, max_size=3)


TREE = st.recursive(TEXT, lambda inner: mapping(inner) | st.lists(TEXT | mapping(inner), min_size=1, max_size=3))
DOCUMENT = st.dictionaries(KEY, TREE, min_size=1, max_size=3)

SPECIFICATION = {
    "cdiVersion": "0.5.0",
    "kind": "nvidia.com/gpu",
    "devices": [{"name": "0", "containerEdits": {"deviceNodes": [{"path": "/dev/zero"}]}}],
    "containerEdits": {
        "env": ["NVIDIA_VISIBLE_DEVICES=void"],
        "deviceNodes": [{"path": "/dev/null"}],
        "mounts": [{"hostPath": "/a", "containerPath": "/b", "options": ["ro", "rbind"]}],
        "hooks": [{"hookName": "createContainer", "path": "/h", "args": ["h", "x"]}],
    },
}
OCI = {"process": {"env": ["NVIDIA_VISIBLE_DEVICES=0", "A=b=c"]}, "linux": {}, "mounts": [], "root": {"path": "rootfs"}}


@given(DOCUMENT)
def test_specifications_are_yaml_that_any_parser_reads(tree):
    assert yaml.safe_load(toolkit.as_yaml(tree)) == tree


@given(DOCUMENT)
def test_a_specification_reads_back_as_it_was_written(tmp_path_factory, tree):
    path = tmp_path_factory.mktemp("spec") / "nvidia.yaml"
    path.write_text(f"---\n{toolkit.as_yaml(tree)}")
    assert toolkit.read_specification(path) == tree


@pytest.mark.parametrize("write", [toolkit.as_yaml, json.dumps], ids=["yaml", "json"])
def test_specifications_are_found_in_both_forms(write, tmp_path, monkeypatch):
    monkeypatch.setattr(toolkit, "SPEC_FOLDERS", (str(tmp_path),))
    (tmp_path / "nvidia.yaml").write_text(write(SPECIFICATION))
    assert [toolkit.names_of(one) for one in toolkit.specifications()] == [["nvidia.com/gpu=0"]]


def test_a_broken_specification_does_not_disturb_the_others(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(toolkit, "SPEC_FOLDERS", (str(tmp_path),))
    (tmp_path / "a.json").write_text("{broken")
    (tmp_path / "b.json").write_text(json.dumps(SPECIFICATION))
    assert list(toolkit.specifications()) == [SPECIFICATION]
    assert "a.json" in capsys.readouterr().err


def test_nothing_is_requested_where_the_variable_is_unset_or_void():
    for env in ([], ["NVIDIA_VISIBLE_DEVICES="], ["NVIDIA_VISIBLE_DEVICES=void"]):
        assert injection.requested({"process": {"env": env}}) == []


def test_devices_may_be_named_with_their_kind():
    assert injection.requested({"process": {"env": ["NVIDIA_VISIBLE_DEVICES=nvidia.com/gpu=all,1"]}}) == ["all", "1"]


def test_edits_reach_the_containers_configuration():
    config = copy.deepcopy(OCI)
    injection.apply(config, injection.edits_of(SPECIFICATION, ["0"]))
    assert [device["path"] for device in config["linux"]["devices"]] == ["/dev/null", "/dev/zero"]
    assert config["linux"]["resources"]["devices"][1] == {"allow": True, "access": "rwm", "type": "c", "major": 1, "minor": 5}
    assert config["mounts"] == [{"destination": "/b", "source": "/a", "type": "bind", "options": ["rbind", "ro"]}]
    assert config["hooks"] == {"createContainer": [{"path": "/h", "args": ["h", "x"]}]}
    assert config["process"]["env"][-1] == "NVIDIA_VISIBLE_DEVICES=void"


def test_a_device_is_injected_once_however_often_it_is_asked_for():
    config = copy.deepcopy(OCI)
    injection.apply(config, injection.edits_of(SPECIFICATION, ["0", "0"]))
    assert len(config["linux"]["devices"]) == 2


def test_an_unknown_device_is_refused_in_the_toolkit_s_words():
    with pytest.raises(toolkit.ToolkitError, match=r"unresolvable CDI devices nvidia\.com/gpu=7"):
        injection.edits_of(SPECIFICATION, ["7"])


def ctk(gpu, *arguments):
    return gpu.run("toolkit/nvidia_ctk.py", *arguments)


def test_runtime_configure_keeps_other_keys_and_writes_what_the_real_one_writes(gpu, tmp_path):
    path = tmp_path / "daemon.json"
    path.write_text('{"log-driver": "journald", "features": {"buildkit": true}}')
    assert ctk(gpu, "runtime", "configure", "--runtime=docker", f"--config={path}").returncode == 0
    wanted = {"log-driver": "journald", "features": {"buildkit": True}, "runtimes": {"nvidia": {"args": [], "path": "nvidia-container-runtime"}}}
    assert path.read_text() == json.dumps(wanted, indent=4, sort_keys=True)


def test_enabling_cdi_replaces_the_features_as_the_real_one_does(gpu, tmp_path):
    path = tmp_path / "daemon.json"
    path.write_text('{"features": {"buildkit": true}}')
    ctk(gpu, "runtime", "configure", "--cdi.enabled", f"--config={path}")
    assert json.loads(path.read_text())["features"] == {"cdi": True}


def test_the_drop_in_for_containerd_has_the_roots_cri_plugin_and_the_runtime(gpu, tmp_path):
    root, drop_in = tmp_path / "config.toml", tmp_path / "conf.d" / "99-nvidia.toml"
    root.write_text('version = 3\noom_score = 1\n[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]\nruntime_type = "io.containerd.runc.v2"\n')
    assert ctk(gpu, "runtime", "configure", "--runtime=containerd", f"--config={root}", f"--drop-in-config={drop_in}").returncode == 0
    runc = {"runtime_type": "io.containerd.runc.v2"}
    nvidia = {**runc, "options": {"BinaryName": "/usr/bin/nvidia-container-runtime"}}
    plugin = {"containerd": {"runtimes": {"runc": runc, "nvidia": nvidia}}}
    assert tomllib.loads(drop_in.read_text()) == {"version": 3, "plugins": {"io.containerd.cri.v1.runtime": plugin}}


def test_a_root_of_a_version_that_it_does_not_know_is_refused(gpu, tmp_path):
    root = tmp_path / "config.toml"
    root.write_text("version = 4\n")
    done = ctk(gpu, "runtime", "configure", "--runtime=containerd", f"--config={root}", f"--drop-in-config={tmp_path}/x")
    assert done.returncode == 1
    assert "unsupported config version: 4" in done.stderr


def test_a_broken_daemon_json_is_refused_and_stays(gpu, tmp_path):
    path = tmp_path / "daemon.json"
    path.write_text("{broken")
    done = ctk(gpu, "runtime", "configure", f"--config={path}")
    assert done.returncode == 1
    assert "unable to load config for runtime docker: invalid character" in done.stderr
    assert path.read_text() == "{broken"


def test_generate_names_each_gpu_by_index_and_uuid_and_all(gpu, tmp_path):
    assert ctk(gpu, "cdi", "generate", f"--output={tmp_path}/cdi/nvidia.yaml").returncode == 0
    names = [device["name"] for device in yaml.safe_load((tmp_path / "cdi/nvidia.yaml").read_text())["devices"]]
    assert names == ["0", "GPU-00000000-0203-0405-0607-08090a0b0c0d", "all"]


def test_generate_without_driver_fails_and_writes_nothing(gpu, tmp_path):
    (gpu.folder / "proc/driver/nvidia/version").unlink()
    done = ctk(gpu, "cdi", "generate", f"--output={tmp_path}/nvidia.yaml")
    assert done.returncode == 1
    assert "failed to initialize NVML: Driver Not Loaded" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_generate_without_library_fails_as_the_real_one(gpu, tmp_path):
    gpu.folder = tmp_path
    assert "failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND" in ctk(gpu, "cdi", "generate").stderr


# -- the device program -------------------------------------------------------------------------------------------

NUMBER = st.integers(0, 3)
REQUEST = st.fixed_dictionaries({"type": st.sampled_from("bc"), "access": st.sampled_from(["r", "w", "m", "rw", "rwm"]), "major": NUMBER, "minor": NUMBER})
RULE = st.fixed_dictionaries(
    {"allow": st.booleans(), "access": st.sampled_from(["r", "rw", "rwm", "m"])},
    optional={"type": st.sampled_from("abc"), "major": st.integers(-1, 3), "minor": st.integers(-1, 3)},
)


def bits(access):
    return sum(device_cgroup.ACCESS[letter] for letter in access)


def run(code, request):
    """What a kernel does with the program: the few instructions that it uses."""
    context = struct.pack("<III", bits(request["access"]) << 16 | device_cgroup.TYPES[request["type"]], request["major"], request["minor"])
    steps = [device_cgroup.INSTRUCTION.unpack_from(code, at) for at in range(0, len(code), 8)]
    registers, at = [0] * 11, 0
    while True:
        operation, both, offset, number = steps[at]
        to, source = both & 15, both >> 4
        at += 1
        if operation == device_cgroup.LOAD_WORD:
            registers[to] = struct.unpack_from("<I", context, offset)[0]
        elif operation == device_cgroup.MOVE:
            registers[to] = registers[source]
        elif operation == device_cgroup.MOVE_NUMBER:
            registers[to] = number
        elif operation == device_cgroup.AND_NUMBER:
            registers[to] &= number
        elif operation == device_cgroup.SHIFT_RIGHT:
            registers[to] >>= number
        elif operation == device_cgroup.JUMP_UNEQUAL:
            at += offset if registers[to] != number else 0
        elif operation == device_cgroup.JUMP_UNEQUAL_REGISTER:
            at += offset if registers[to] != registers[source] else 0
        else:
            assert operation == device_cgroup.EXIT
            return bool(registers[0])


def fits(rule, request):
    numbers = all(rule.get(key, -1) in (-1, request[key]) for key in ("major", "minor"))
    access = bits(rule["access"]) & bits(request["access"]) == bits(request["access"])
    return rule["allow"] and rule.get("type", "a") in ("a", request["type"]) and numbers and access


@given(st.lists(RULE, max_size=5), REQUEST)
def test_a_program_allows_exactly_what_one_of_its_rules_allows(rules, request):
    assert run(device_cgroup.program(rules), request) == any(fits(rule, request) for rule in rules)
