"""Examples of the rules of layer engine: PASSING makes a rule pass that does not apply to the good node, FAILING makes it fail."""

from ..changes import both, form, ran, text

CONTAINERD = """version = 2
[plugins."io.containerd.grpc.v1.cri".containerd]
  default_runtime_name = "runc"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  SystemdCgroup = true
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
  runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
    BinaryName = "/usr/bin/nvidia-container-runtime"
    SystemdCgroup = true
"""


def containerd(old="", new=""):
    """containerd's configuration with the handler nvidia, and one change of it."""
    return both(form("containerd_config", content=CONTAINERD.replace(old, new), complete=True), says("Started container"))


def says(text):
    """What the kubelet says of a pod."""
    return form("pod_events", stdout=text, rc=0)


PASSING = {
    "engine.gpu_hook_taken_up": ran(rc=0),
    "engine.cri_has_nvidia_handler": containerd(),
    "engine.device_plugin_runtime": form("device_plugin_log", stdout="Registered device plugin for 'nvidia.com/gpu' with Kubelet", rc=0),
    "engine.cri_config_taken": containerd(),
    "engine.cri_cgroup_driver": containerd(),
}

FAILING = {
    "engine.daemon_answers": form("docker_info", stdout='{"ServerVersion": ""}', stderr="Cannot connect to the Docker daemon", rc=1),
    "engine.config_is_readable": form("docker_daemon_json", content='{"runtimes": {"nvidia": {"path": "nvidia-container-runtime"}},}', complete=True, mtime=0),
    "engine.daemon_is_the_hosts": both(
        form("snap_list", stdout="Name    Version  Rev   Tracking       Publisher   Notes\ndocker  28.4.0   3265  latest/stable  canonical✓  -\n", rc=0),
        ran('docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].'),
    ),
    "engine.version_is_pinned": text("docker_version", '{"Name": "Engine", "Version": "26.1.5', '{"Name": "Engine", "Version": "28.5.2'),
    "engine.containerd_version": text("docker_version", "1.7.24", "2.1.4"),
    "engine.runc_version": text("docker_version", "1.1.15", "1.3.2"),
    "engine.default_runtime_is_runc": text("docker_info", '"DefaultRuntime": "runc"', '"DefaultRuntime": "nvidia"'),
    "engine.cdi_enabled": text("docker_info", '["/etc/cdi", "/var/run/cdi"]', "[]"),
    "engine.nvidia_runtime_registered": text("docker_info", '"nvidia": {"path": "nvidia-container-runtime"}, ', ""),
    "engine.restarted_since_change": text("docker_service", "20:58:00", "20:50:00"),
    "engine.gpu_hook_taken_up": ran('docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].'),
    "engine.runtime_program_found": ran("fork/exec /etc/nvidia-container-runtime: permission denied: unknown", request="runtime"),
    "engine.release_serves_request": ran("unknown flag: --gpus"),
    "engine.low_level_runtime_fits": ran("OCI runtime create failed: this version of runc doesn't work on cgroups v2: unknown"),
    "engine.cri_has_nvidia_handler": says('Failed to create pod sandbox: failed to get sandbox runtime: no runtime for "nvidia" is configured'),
    "engine.device_plugin_runtime": both(
        form("containerd_config", content='[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]\n  runtime_type = "io.containerd.runc.v2"\n'),
        form("device_plugin_log", stdout="Incompatible platform detected\nIf this is a GPU node, did you configure the NVIDIA Container Toolkit?", rc=0),
    ),
    "engine.cri_default_runtime": both(
        containerd('"runc"', '"nvidia"'),
        says("RunContainerError: /usr/local/nvidia/toolkit/nvidia-container-runtime: no such file or directory"),
        lambda evidence, lock: evidence.update(stated={"helm_gpu_operator": "uninstalled"}),
    ),
    "engine.cri_config_taken": containerd("version = 2", "version = 3"),
    "engine.cri_cgroup_driver": containerd("    SystemdCgroup = true", "    SystemdCgroup = false"),
    "engine.package_versions": text("dpkg_l", "runc 1.1.15", "runc 1.3.2"),
    "engine.configuration_is_provisioned": form("configuration", **{"/etc/docker/daemon.json": "sha256:aa absent"}),
    "engine.packages_held": text("dpkg_l", "hi  runc", "ii  runc"),
}
