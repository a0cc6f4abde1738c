"""Every rule of the linter on a file that it finds right and on one that it finds wrong, in each engine that it knows."""

import pytest
import yaml
from ansible_collections.goldnode.gpu.plugins.plugin_utils.workload.lint import lint
from ansible_collections.goldnode.gpu.plugins.plugin_utils.workload.rules import WORKLOAD_RULES

IMAGE = "nvidia/cuda:12.4.1-base-ubuntu22.04@sha256:" + "0" * 64


def device(**words):
    return {"deploy": {"resources": {"reservations": {"devices": [words]}}}}


ONE = device(driver="nvidia", count=1, capabilities=["gpu"])


def service(**words):
    return {"services": {"app": {"image": IMAGE, **ONE, **words}}}


def pod(spec=None, **container):
    container = {"name": "app", "image": IMAGE, "resources": {"limits": {"nvidia.com/gpu": 1}}, **container}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [container], **(spec or {})}}


def found(tmp_path, *contents):
    """The ids of the rules that said something."""
    path = tmp_path / "file.yml"
    path.write_text(yaml.safe_dump_all(contents))
    return {one["rule"].removeprefix("workload.") for one in lint(path)["findings"]}


def env(name, value):
    return [{"name": name, "value": value}]


WRONG = [
    ("request_missing", {"services": {"app": {"image": IMAGE}}}),
    ("request_missing", {"services": {"app": {"image": "python:3.12@sha256:" + "0" * 64, "command": "torchrun train.py", "ipc": "host"}}}),
    ("request_missing", pod(resources={})),
    ("request_missing", pod({"runtimeClassName": "nvidia"}, image="app:1", resources={"limits": {"cpu": 1}})),
    ("request_missing", pod(resources={"limits": {"nvidia.com/gpu": 0}})),
    ("request_by_environment", {"services": {"app": {"image": IMAGE, "environment": ["NVIDIA_VISIBLE_DEVICES=all"]}}}),
    ("request_by_environment", pod(resources={}, env=env("NVIDIA_VISIBLE_DEVICES", "all"))),
    ("request_by_environment", pod(env=env("NVIDIA_VISIBLE_DEVICES", "all"))),
    ("request_form", service(**device(driver="nvidia", count=1, device_ids=["0"], capabilities=["gpu"]))),
    ("request_form", service(**device(driver="nvidia", count=1))),
    ("request_form", service(**device(driver="cdi", count=1, capabilities=["gpu"]))),
    ("request_form", service(**device(driver="nvidia.com/gpu", device_ids=["0"], capabilities=["gpu"]))),
    ("request_form", service(**device(driver="nvidia", count="two", capabilities=["gpu"]))),
    ("request_form", pod(resources={"limits": {"nvidia.com/gpus": 1}})),
    ("request_form", pod(resources={"limits": {"nvidia.com/mig-1g10gb": 1}})),
    ("request_form", pod(resources={"requests": {"nvidia.com/gpu": 1}})),
    ("request_form", pod(resources={"requests": {"nvidia.com/gpu": 1}, "limits": {"nvidia.com/gpu": 2}})),
    ("request_form", pod(resources={"limits": {"nvidia.com/gpu": 0.5}})),
    ("device_nodes", {"services": {"app": {"image": IMAGE, "devices": ["/dev/nvidia0:/dev/nvidia0"]}}}),
    ("device_nodes", pod({"volumes": [{"name": "d", "hostPath": {"path": "/dev/nvidia0"}}]}, volumeMounts=[{"name": "d", "mountPath": "/dev/nvidia0"}])),
    ("driver_capabilities", service(**device(driver="nvidia", count=1, capabilities=["gpu", "utility"]))),
    ("driver_capabilities", pod(env=env("NVIDIA_DRIVER_CAPABILITIES", "utility,video"))),
    ("privileged", service(privileged=True)),
    ("privileged", pod(securityContext={"privileged": True})),
    ("all_gpus", service(**device(driver="nvidia", capabilities=["gpu"]))),
    ("all_gpus", service(**device(driver="nvidia", count="all", capabilities=["gpu"]))),
    ("all_gpus", service(**device(driver="cdi", device_ids=["nvidia.com/gpu=all"], capabilities=["gpu"]))),
    ("all_gpus", {"services": {"app": {"image": IMAGE, "gpus": "all"}}}),
    ("all_gpus", {"services": {"app": {"image": IMAGE, "devices": ["nvidia.com/gpu=all"]}}}),
    ("all_gpus", {"services": {"app": {"image": IMAGE, "runtime": "nvidia", "environment": {"NVIDIA_VISIBLE_DEVICES": "all"}}}}),
    ("floating_tag", service(image="nvidia/cuda:latest")),
    ("floating_tag", service(image="nvidia/cuda")),
    ("floating_tag", service(image="registry:5000/cuda")),
    ("floating_tag", service(image="${IMAGE:-nvidia/cuda:latest}")),
    ("floating_tag", pod(image="vllm/vllm-openai:latest")),
    ("no_digest", pod(image="vllm/vllm-openai:v0.8.1")),
    ("shared_memory", service(command="python train.py")),
    ("shared_memory", service(command=["torchrun", "x.py"], shm_size="512m")),
    ("shared_memory", pod(resources={"limits": {"nvidia.com/gpu": 4}})),
    ("no_checkpoint_volume", service(command="python train.py")),
    ("no_checkpoint_volume", pod({"volumes": [{"name": "t", "emptyDir": {}}]}, args=["train.py"], volumeMounts=[{"name": "t", "mountPath": "/out"}])),
    ("devel_image", service(image="nvidia/cuda:12.4.1-devel-ubuntu22.04")),
]

SHM = {"volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}, {"name": "c", "persistentVolumeClaim": {"claimName": "c"}}]}
MOUNTS = [{"name": "shm", "mountPath": "/dev/shm"}, {"name": "c", "mountPath": "/checkpoints"}]
RIGHT = [
    service(),
    service(**device(driver="cdi", device_ids=["nvidia.com/gpu=0"], capabilities=["gpu"])),
    service(**device(driver="nvidia", device_ids=["0", "3"], capabilities=["gpu", "compute", "utility"])),
    {"services": {"app": {"image": IMAGE, "gpus": [{"driver": "nvidia", "count": 2}], "shm_size": "8gb"}}},
    {"services": {"app": {"image": IMAGE, "devices": ["nvidia.com/gpu=0"]}}},
    {"services": {"app": {"image": IMAGE, "runtime": "nvidia", "environment": {"NVIDIA_VISIBLE_DEVICES": "0"}}}},
    service(command="torchrun train.py", ipc="host", volumes=["checkpoints:/checkpoints"]),
    {"services": {"web": {"image": "nginx:latest", "privileged": True}}},
    {"services": {"app": {"image": "pytorch/torchserve:0.12-cpu"}}},
    {"services": {"app": {"image": IMAGE, "environment": {"CUDA_VISIBLE_DEVICES": ""}}}},
    pod(),
    pod(resources={"limits": {"nvidia.com/mig-1g.10gb": 1}}),
    pod(resources={"limits": {"nvidia.com/gpu.shared": 1}, "requests": {"nvidia.com/gpu.shared": 1}}),
    pod(resources={"claims": [{"name": "gpu"}]}),
    pod(SHM, command=["torchrun", "train.py"], volumeMounts=MOUNTS),
    pod({"hostIPC": True}, resources={"limits": {"nvidia.com/gpu": 8}}),
    pod(image="nvcr.io/nvidia/k8s-device-plugin:v0.17.0", resources={}, securityContext={"privileged": True}),
]


@pytest.mark.parametrize(("name", "content"), WRONG, ids=[f"{number}-{name}" for number, (name, _content) in enumerate(WRONG)])
def test_a_rule_sees_its_fault(tmp_path, name, content):
    assert name in found(tmp_path, content)


def test_every_rule_has_a_fault():
    assert {f"workload.{name}" for name, _content in WRONG} == set(WORKLOAD_RULES)


@pytest.mark.parametrize("content", RIGHT, ids=range(len(RIGHT)))
def test_a_right_file_has_no_finding(tmp_path, content):
    assert found(tmp_path, content) == set()


@pytest.mark.parametrize(
    "kind",
    [
        {"kind": "Deployment", "spec": {"template": {"spec": {}}}},
        {"kind": "CronJob", "spec": {"jobTemplate": {"spec": {"template": {"spec": {}}}}}},
        {"kind": "PyTorchJob", "spec": {"pytorchReplicaSpecs": {"Worker": {"template": {"spec": {}}}}}},
        {"kind": "List", "items": [{"kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": "inner"}, "spec": {"template": {"spec": {}}}}]},
    ],
    ids=lambda kind: kind["kind"],
)
def test_a_pod_template_is_found_in_any_kind(tmp_path, kind):
    def fill(value):
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            fill(inner)
        if isinstance(value, dict) and value.get("spec") == {}:
            value["spec"] = pod(resources={})["spec"]

    fill(kind)
    assert "request_missing" in found(tmp_path, {"apiVersion": "v1", "metadata": {"name": "outer"}, **kind})


def test_a_remedy_has_the_right_form_of_its_engine(tmp_path):
    for content, form in ((WRONG[0][1], "driver: nvidia, count: 1, capabilities: [gpu]"), (WRONG[2][1], "limits: {nvidia.com/gpu: 1}")):
        path = tmp_path / "file.yml"
        path.write_text(yaml.safe_dump(content))
        assert form in lint(path)["findings"][0]["remedy"]
