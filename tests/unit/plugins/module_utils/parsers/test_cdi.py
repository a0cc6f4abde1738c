"""CDI specifications in every form that tools write, and which of them count."""

import json

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import cdi
from hypothesis import given
from hypothesis import strategies as st

SPEC = {
    "cdiVersion": "0.5.0",
    "kind": "nvidia.com/gpu",
    "devices": [{"name": name, "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia0"}]}} for name in ("0", "all")],
    "containerEdits": {
        "deviceNodes": [{"path": "/dev/nvidiactl"}],
        "hooks": [{"hookName": "createContainer", "path": "/usr/bin/nvidia-cdi-hook", "args": ["nvidia-cdi-hook", "create-symlinks"]}],
        "mounts": [{"hostPath": "/usr/lib/x86_64-linux-gnu/libcuda.so.550.163.01", "containerPath": "/usr/lib/x86_64-linux-gnu/libcuda.so.550.163.01"}],
    },
}
# As nvidia-ctk writes it: keys sorted, containerEdits before devices.
YAML = """---
cdiVersion: 0.5.0
containerEdits:
  deviceNodes:
  - path: /dev/nvidiactl
  hooks:
  - args:
    - nvidia-cdi-hook
    hookName: createContainer
    path: /usr/bin/nvidia-cdi-hook
  mounts:
  - containerPath: /usr/lib/x86_64-linux-gnu/libcuda.so.550.163.01
    hostPath: /usr/lib/x86_64-linux-gnu/libcuda.so.550.163.01
devices:
- containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
  name: "0"
- containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
  name: all
kind: nvidia.com/gpu
"""


@pytest.mark.parametrize("text", [YAML, json.dumps(SPEC), json.dumps(SPEC, indent=2)])
def test_a_cdi_spec_tells_devices_nodes_and_driver_in_yaml_and_json(text):
    spec = cdi.cdi_spec("/etc/cdi/nvidia.yaml", text)
    assert (spec.kind, spec.devices) == ("nvidia.com/gpu", ("0", "all"))
    assert spec.nodes == {"/dev/nvidiactl", "/dev/nvidia0"}
    assert spec.driver_versions == {"550.163.01"}


# nvidia-ctk 1.19.1 on a host whose nvidia-uvm has another major: NVIDIA/nvidia-container-toolkit #1934.
NUMBERED = """cdiVersion: 0.7.0
kind: nvidia.com/gpu
devices:
- name: "0"
  containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
      major: 195
      fileMode: 438
      permissions: rwm
      uid: 0
    - path: /dev/dri/card0
      major: 226
containerEdits:
  deviceNodes:
  - path: /dev/nvidia-uvm
    major: 510
  - major: 510
    minor: 1
    path: /dev/nvidia-uvm-tools
  mounts:
  - hostPath: /usr/lib/x86_64-linux-gnu/libEGL_nvidia.so.535.161.07
  - hostPath: /usr/lib/x86_64-linux-gnu/libnvidia-egl-gbm.so.1.1.1
  - hostPath: /lib/firmware/nvidia/535.161.07/gsp_tu10x.bin
"""


def test_device_numbers_and_the_version_are_read_wherever_they_stand():
    spec = cdi.cdi_spec("/etc/cdi/nvidia.yaml", NUMBERED)
    assert spec.version == "0.7.0"
    assert spec.numbered == {("/dev/nvidia0", 195, 0), ("/dev/nvidia-uvm", 510, 0), ("/dev/nvidia-uvm-tools", 510, 1)}
    assert spec.driver_versions == {"535.161.07"}


def test_device_numbers_of_json_are_the_same():
    tree = {"cdiVersion": "0.7.0", "kind": "nvidia.com/gpu", "devices": [], "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia-uvm", "major": 510}]}}
    assert cdi.cdi_spec("f", json.dumps(tree)).numbered == {("/dev/nvidia-uvm", 510, 0)}


def test_an_excerpt_names_what_it_names():
    spec = cdi.cdi_spec("/etc/cdi/nvidia.yaml", "  - hostPath: /lib64/libEGL_nvidia.so.550.54.14\n")
    assert (spec.kind, spec.driver_versions) == ("", {"550.54.14"})


@pytest.mark.parametrize(("path", "counts"), [("/etc/cdi/nvidia.yaml", 1), ("/var/run/cdi/other.yaml", 2)])
def test_a_spec_in_etc_whose_devices_are_all_in_run_does_not_count(path, counts):
    specs = (cdi.cdi_spec(path, YAML), cdi.cdi_spec("/var/run/cdi/nvidia.yaml", YAML))
    assert len(cdi.effective(specs)) == counts


@given(st.text())
def test_any_text_is_read_without_error(text):
    assert cdi.cdi_spec("f", text).path == "f"
