import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.containerd_config import config_version, newer_drop_ins, objection, root_text
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.containerd import config, server_version
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError


@pytest.mark.parametrize(
    ("engine", "toolkit", "version"),
    [
        ("1.7.24", "1.20.0", 2),
        ("2.3.5", "1.20.0", 3),
        ("2.0.0", "1.17.4", 3),
        ("2.0.0", "1.17.3", 2),
        ("2.1.9", None, 3),
        ("1.6.39", None, 2),
    ],
)
def test_the_config_version_is_one_that_engine_and_toolkit_read(engine, toolkit, version):
    assert config_version(engine, toolkit) == version
    assert config(root_text(engine, toolkit, True, {})).version == version


@pytest.mark.parametrize(("engine", "tables"), [("1.7.24", {2}), ("2.3.5", {3})])
def test_runc_is_the_default_by_the_name_that_the_version_has_for_it(engine, tables):
    found = config(root_text(engine, "1.20.0", True, {}))
    assert found.plugin_versions == tables
    assert found.default_runtime == "runc"
    assert found.runtimes == {"runc": {"runtime_type": "io.containerd.runc.v2", "SystemdCgroup": True}}
    assert found.imports == ("/etc/containerd/conf.d/*.toml",)


@pytest.mark.parametrize(("engine", "has"), [("1.6.39", False), ("1.7.24", True), ("2.3.5", True)])
def test_cdi_is_on_where_containerd_knows_it(engine, has):
    assert ("enable_cdi = true" in root_text(engine, None, True, {})) is has


def test_options_go_over_ours():
    text = root_text("2.3.5", None, True, {"oom_score": -999, "plugins": {"io.containerd.cri.v1.runtime": {"enable_cdi": None}}})
    assert "oom_score = -999" in text
    assert "enable_cdi" not in text


def test_another_config_version_is_refused():
    with pytest.raises(RefusedError, match="asks for config version 4, expected 3"):
        root_text("2.3.5", "1.20.0", True, {"version": 4})


NVIDIA = '[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.nvidia]\n'


@pytest.mark.parametrize(
    ("dump", "wants", "words"),
    [
        ("version = 3\noom_score = 1\n", True, "no runtime nvidia"),
        ("version = 3\noom_score = 1\n", False, None),
        ("oom_score = 1\n" + NVIDIA + "runtime_type = ''\n", True, "has no runtime_type"),
        ("oom_score = 1\n" + NVIDIA + "runtime_type = 'io.containerd.runc.v2'\n", True, None),
        ("disabled_plugins = ['io.containerd.grpc.v1.cri']\n", False, "disables the CRI plugin"),
        ("version = 3\noom_score = 0\n", False, "takes away oom_score: "),
        ("version = 4\noom_score = 0\n", False, None),
    ],
)
def test_what_containerd_sums_up_is_judged(dump, wants, words):
    reason = objection(dump, "version = 3\nimports = ['x']\noom_score = 1\n", wants)
    assert reason is None if words is None else words in str(reason)


def test_the_daemons_version_is_told_from_the_clients():
    client = "Client:\n  Version:  1.7.24~ds1\n  Revision: 1\n  Go version: go1.24\n\n"
    assert server_version(client + "Server:\n  Version:  1.7.24~ds1-6+b4\n  Revision: 1\n") == "1.7.24"
    assert server_version(client) is None


def test_a_drop_in_that_is_newer_than_the_root_is_named():
    drop_ins = {"/a.toml": "version = 4\n", "/b.toml": "version = 2\n", "/c.toml": "oom_score = 1\n"}
    assert newer_drop_ins(2, drop_ins) == "/a.toml is of config version 4, newer than the root's 2: write it in version 2 or remove it"
    assert newer_drop_ins(4, drop_ins) is None
