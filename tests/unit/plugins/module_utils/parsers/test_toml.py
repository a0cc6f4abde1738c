"""The toolkit's and containerd's configuration, as tools write it and as reports show it."""

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import containerd, toml, versions
from hypothesis import given
from hypothesis import strategies as st

# nvidia-ctk config default, 1.19.1, shortened.
TOOLKIT = """#accept-nvidia-visible-devices-as-volume-mounts = false
disable-require = false
supported-driver-capabilities = "compute,utility"

[nvidia-container-cli]
environment = []
ldconfig = "@/sbin/ldconfig" # of the host
#no-cgroups = false

[nvidia-container-runtime]
mode = 'auto'
runtimes = [
  "runc",
  "crun",
]

[nvidia-container-runtime.modes.cdi]
spec-dirs = ["/etc/cdi", "/var/run/cdi"]
"""


def test_values_are_found_below_their_tables_and_comments_are_not():
    found = toml.settings(TOOLKIT)
    assert toml.setting(found, "nvidia-container-cli", "ldconfig") == "@/sbin/ldconfig"
    assert toml.setting(found, "nvidia-container-runtime", "mode") == "auto"
    assert toml.setting(found, "nvidia-container-runtime", "runtimes") == ["runc", "crun"]
    assert toml.setting(found, "nvidia-container-runtime", "modes", "cdi", "spec-dirs") == ["/etc/cdi", "/var/run/cdi"]
    assert toml.setting(found, "nvidia-container-cli", "no-cgroups") is None
    assert toml.setting(found, "disable-require") is False


def test_an_excerpt_without_its_heading_is_understood():
    assert toml.setting(toml.settings("no-cgroups = true"), "nvidia-container-cli", "no-cgroups") is True


@given(st.text())
def test_any_text_is_read_without_error(text):
    toml.settings(text)
    containerd.config(text)


V2 = """version = 2
disabled_plugins = ["cri"]
imports = ["/etc/containerd/conf.d/*.toml"]
[plugins."io.containerd.grpc.v1.cri".containerd]
  default_runtime_name = "nvidia"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
      BinaryName = "/usr/bin/nvidia-container-runtime"
      SystemdCgroup = true
"""


def test_containerds_runtimes_are_read_with_their_options():
    config = containerd.config(V2)
    assert (config.version, config.default_runtime, config.disabled) == (2, "nvidia", ("cri",))
    assert config.runtimes["nvidia"]["BinaryName"] == "/usr/bin/nvidia-container-runtime"
    assert config.runtimes["nvidia"]["SystemdCgroup"] is True
    assert (config.plugin_versions, config.imports) == ({2}, ("/etc/containerd/conf.d/*.toml",))


def test_version_3_keeps_the_old_plugin_for_its_server_alone():
    text = (
        "version = 3\n[plugins.'io.containerd.grpc.v1.cri']\n  disable_tcp_service = true\n[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]\n"
    )
    assert containerd.config(text + "runtime_type = 'io.containerd.runc.v2'\n").plugin_versions == {3}


@pytest.mark.parametrize(
    ("text", "numbers"), [("4.9.3+ds1", (4, 9, 3)), ("v1.7.24~ds1-6", (1, 7, 24)), ("1.18.x", (1, 18)), ("1.17.8-1", (1, 17, 8)), ("29", (29,)), ("odd", None)]
)
def test_a_version_becomes_numbers(text, numbers):
    assert versions.numbers(text) == numbers


@pytest.mark.parametrize(
    ("version", "floor", "answer"), [("1.18.x", (1, 18, 0), True), ("4.9.3", (5, 1), False), ("29", (28, 2), True), (None, (1,), None), ("odd", (1,), None)]
)
def test_a_version_is_compared_with_a_floor(version, floor, answer):
    assert versions.at_least(version, floor) is answer
