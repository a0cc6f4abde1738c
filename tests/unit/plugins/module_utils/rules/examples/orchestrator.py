"""Examples of the rules of layer orchestrator: PASSING makes a rule pass that does not apply to the good node, FAILING makes it fail."""

from ..changes import both, form, text


def log(probe, *lines):
    """What one part of the orchestrator said."""
    return form(probe, stdout="".join(line + "\n" for line in lines), rc=0)


def stated(**values):
    return lambda evidence, lock: evidence.setdefault("stated", {}).update(values)


QUIET_PLUGIN = log("device_plugin_log", "I0117 main.go:317] Registered device plugin for 'nvidia.com/gpu' with Kubelet")
QUIET_EVENTS = log("pod_events", "Normal  Scheduled  default-scheduler  Successfully assigned default/train to node-1")
QUIET_POD = log("pod_log", "epoch 1 loss 0.3")
NO_REQUEST = "spec:\n  containers:\n  - image: nvidia/cuda:12.4.1-base-ubuntu22.04\n    resources: {}\n"
ONE_GPU = "spec:\n  containers:\n  - image: x\n    resources:\n      limits:\n        nvidia.com/gpu: 1\n"

PASSING = {
    "orchestrator.device_plugin_sees_driver": QUIET_PLUGIN,
    "orchestrator.gpus_allocatable": form("node_allocatable", stdout='{"nvidia.com/gpu": "2"}', rc=0),
    "orchestrator.devices_healthy": QUIET_PLUGIN,
    "orchestrator.device_plugin_registered": QUIET_PLUGIN,
    "orchestrator.device_list_strategy": log("device_plugin_env", "DEVICE_LIST_STRATEGY=envvar"),
    "orchestrator.shared_gpus": QUIET_EVENTS,
    "orchestrator.mig_strategy": log("device_plugin_env", "MIG_STRATEGY=mixed"),
    "orchestrator.mig_monitor": QUIET_PLUGIN,
    "orchestrator.mig_resources_are_current": log("node_allocatable", "nvidia.com/gpu: 0\nnvidia.com/mig-1g.10gb: 7\n"),
    "orchestrator.mig_resource_name": both(log("pod_manifest", ONE_GPU), log("node_allocatable", '"nvidia.com/gpu": "2"')),
    "orchestrator.pod_requests_gpu": log("pod_manifest", ONE_GPU),
    "orchestrator.runtime_class": both(log("pod_manifest", ONE_GPU), QUIET_POD),
    "orchestrator.pod_schedulable": QUIET_EVENTS,
    "orchestrator.limits_without_requests": QUIET_EVENTS,
    "orchestrator.operator_driver": QUIET_POD,
    "orchestrator.operator_toolkit": QUIET_POD,
    "orchestrator.operator_validation": QUIET_POD,
    "orchestrator.security_context": QUIET_EVENTS,
    "orchestrator.slurm_gres": log("app_log", "slurmd: slurmd version 24.05 started"),
    "orchestrator.swarm_resources": both(
        text("docker_info", '"ServerVersion"', '"Swarm": {"LocalNodeState": "active"}, "ServerVersion"'),
        form("docker_daemon_json", content='{"node-generic-resources": ["NVIDIA-GPU=GPU-1"], "default-runtime": "nvidia"}', complete=True, mtime=0),
        form("toolkit_config", content='swarm-resource = "DOCKER_RESOURCE_NVIDIA-GPU"\n', complete=True),
    ),
}

FAILING = {
    "orchestrator.mig_resources_are_current": both(
        log("node_allocatable", "nvidia.com/gpu: 2\nnvidia.com/mig-1g.10gb: 7\n"), stated(mig_layout="all GPUs in MIG mode")
    ),
    "orchestrator.device_plugin_sees_driver": log("device_plugin_log", "E0117 factory.go:112] Incompatible platform detected"),
    "orchestrator.gpus_allocatable": form("node_allocatable", stdout='{"nvidia.com/gpu": "0"}', rc=0),
    "orchestrator.devices_healthy": log("device_plugin_log", "XidCriticalError: Xid=69 on Device=GPU-7540a9b3, the device will go unhealthy."),
    "orchestrator.device_plugin_registered": log(
        "pod_events",
        "Warning UnexpectedAdmissionError kubelet Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu",
    ),
    "orchestrator.device_list_strategy": both(
        log("device_plugin_env", "DEVICE_LIST_STRATEGY=volume-mounts"), form("toolkit_config", content="[nvidia-container-runtime]\n", complete=True)
    ),
    "orchestrator.shared_gpus": log(
        "pod_events", "UnexpectedAdmissionError: request for 'nvidia.com/gpu.shared: 2' too large: maximum request size for shared resources is 1"
    ),
    "orchestrator.mig_strategy": both(log("device_plugin_env", "MIG_STRATEGY=single"), stated(mig_layout="1g.10gb, 3g.40gb")),
    "orchestrator.mig_monitor": log("device_plugin_log", "error visiting device: error getting device memory info: Insufficient Permissions"),
    "orchestrator.mig_resource_name": both(log("pod_manifest", ONE_GPU), log("node_allocatable", '"nvidia.com/mig-1g.10gb": "7"')),
    "orchestrator.pod_requests_gpu": both(log("pod_manifest", NO_REQUEST), log("pod_log", "RuntimeError: No CUDA GPUs are available")),
    "orchestrator.runtime_class": log("pod_events", 'pods "x" is forbidden: pod rejected: RuntimeClass "nvidia" not found'),
    "orchestrator.pod_schedulable": log(
        "pod_events", "Warning FailedScheduling 0/2 nodes are available: 2 node(s) had untolerated taint {nvidia.com/gpu: present}."
    ),
    "orchestrator.limits_without_requests": log(
        "pod_events", "Invalid value: spec.containers[0].resources.limits: Limit must be set for non overcommitable resources"
    ),
    "orchestrator.operator_driver": log("pod_log", "Could not unload NVIDIA driver kernel modules, driver is in use"),
    "orchestrator.operator_toolkit": both(
        stated(k8s_distribution="rke2"),
        log(
            "pod_log",
            "Error signaling containerd, attempt 5/6: unable to dial: dial unix /runtime/sock-dir/containerd.sock: connect: no such file or directory",
        ),
    ),
    "orchestrator.operator_validation": log("pod_log", 'level=warning msg="failed to validate the driver, retrying after 5 seconds"'),
    "orchestrator.security_context": log("pod_events", 'Error creating: pods "x" is forbidden: violates PodSecurity "restricted:latest": privileged'),
    "orchestrator.slurm_gres": log(
        "app_log", "slurmctld: error: Setting node gpu1 state to INVAL with reason:gres/gpu count reported lower than configured (7 < 8)"
    ),
    "orchestrator.swarm_resources": both(
        text("docker_info", '"ServerVersion"', '"Swarm": {"LocalNodeState": "active"}, "ServerVersion"'),
        form("docker_daemon_json", content='{"node-generic-resources": ["NVIDIA-GPU=GPU-1"]}', complete=True, mtime=0),
    ),
}
