"""What containers were asked to get: command lines, Compose files and `docker inspect`, as reports show them."""

from __future__ import annotations

import contextlib
import json

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import gpu_request, plain_yaml
from hypothesis import given
from hypothesis import strategies as st

COMPOSE = """\
version: "3.8"   # no longer read
x-gpu: &gpu
  deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1, capabilities: [gpu, utility]}]}}}
services:
  llm:
    <<: *gpu
    image: 'ollama/ollama:${LLM_TAG}'
    environment:
      - NVIDIA_VISIBLE_DEVICES=all
      - "A=b # c"
    shm_size: 8g
  ids:
    deploy:
      resources:
        reservations:
          devices:
            - driver: nvidia
              device_ids: ['0',
                '3']
              capabilities:
              - gpu
  whole:
    gpus: all
  cdi:
    devices:
    - nvidia.com/gpu=all
  nodes:
    privileged: true
    devices:
      - /dev/nvidia0:/dev/nvidia0
      - /dev/nvidiactl
  old:
    runtime: nvidia
  none:
    image: app
    env_file: .env
"""


def test_each_form_of_compose_is_a_request() -> None:
    found = {request.source.partition(" ")[2]: request for request in gpu_request.of_compose(COMPOSE)}
    assert {name: request.asks for name, request in found.items()} == {
        "llm": True,
        "ids": True,
        "whole": True,
        "cdi": True,
        "nodes": False,
        "old": True,
        "none": False,
    }
    assert (found["llm"].driver_capabilities, found["llm"].count, found["llm"].shared_memory) == (("utility",), "1", "8g")
    assert (found["ids"].ids, found["whole"].count, found["cdi"].cdi) == (("0", "3"), "all", ("nvidia.com/gpu=all",))
    assert (found["nodes"].bare_nodes, found["nodes"].privileged) == (("/dev/nvidia0", "/dev/nvidiactl"), True)


@pytest.mark.parametrize("start", ["deploy:\n  resources:\n    ", "    ", "llm:\n  image: x\n  deploy:\n    resources:\n      "])
def test_excerpt_of_a_service_is_one_request(start: str) -> None:
    indent = " " * (len(start.rsplit("\n", 1)[-1]) + 2)
    (request,) = gpu_request.of_compose(f"{start}reservations:\n{indent}devices:\n{indent}- {{driver: nvidia, count: 2, capabilities: [gpu]}}\n")
    assert (request.asks, request.count) == (True, "2")


@pytest.mark.parametrize(
    ("command", "asks", "count", "ids"),
    [
        ("docker run --rm --gpus all nvidia/cuda nvidia-smi", True, "all", ()),
        ("sudo docker run -it --gpus=2 -v /a:/b image", True, "2", ()),
        ("docker run --gpus '\"device=0,2\"' image", True, None, ("0", "2")),
        ("docker run --gpus device=0,2 image", True, "2", ("0",)),
        ("docker run --gpus 'all,capabilities=utility' image", True, "all", ()),
        ("podman run --device nvidia.com/gpu=0 image", True, None, ()),
        ("docker run --runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=0 image", True, None, ()),
        ("docker run -d -p 80:80 image --gpus all", False, None, ()),
        ("docker run --device /dev/nvidia0 image", False, None, ()),
    ],
)
def test_command_line(command: str, asks: bool, count: str | None, ids: tuple[str, ...]) -> None:
    request = gpu_request.of_command(command)
    assert request is not None
    assert (request.asks, request.count, request.ids) == (asks, count, ids)


def test_what_is_no_engine_has_no_request() -> None:
    assert gpu_request.of_command("nvidia-smi -L") is None


def test_docker_inspect() -> None:
    host = {"DeviceRequests": [{"Driver": "", "Count": -1, "Capabilities": [["gpu", "utility"]]}], "ShmSize": 67108864, "Runtime": "runc"}
    (request,) = gpu_request.of_inspect(json.dumps([{"Name": "/llm", "HostConfig": host, "Config": {"Image": "x", "Env": ["A=1"]}}]))
    assert (request.source, request.count, request.driver_capabilities, request.environment) == ("container llm", "all", ("utility",), {"A": "1"})
    (none,) = gpu_request.of_inspect(json.dumps([{"HostConfig": {"DeviceRequests": None, "Runtime": "runc"}, "Config": {}}]))
    assert none.asks is False


@given(
    st.recursive(
        st.sampled_from(["a", "b c", "1", "x: y", "nvidia.com/gpu=all"]), lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("abc"), inner)
    )
)
def test_what_a_yaml_library_writes_is_read(value: object) -> None:
    for flow in (False, True):
        assert plain_yaml.load(yaml.safe_dump({"top": value}, default_flow_style=flow, width=10_000)) == {"top": value}


@given(st.text(alphabet=st.sampled_from("ab:- \n#'\"[]{}&*|>,<")))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(ValueError, KeyError, IndexError, TypeError, AttributeError):
        gpu_request.of_compose(text)
    with contextlib.suppress(ValueError):
        gpu_request.of_command("docker run " + text)
