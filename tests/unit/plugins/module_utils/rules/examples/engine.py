"""Examples of the rules of layer engine: PASSING makes a rule pass that does not apply to the good node, FAILING makes it fail."""

from ..changes import form, text

PASSING = {}

FAILING = {
    "engine.daemon_answers": form("docker_info", stdout='{"ServerVersion": ""}', stderr="Cannot connect to the Docker daemon", rc=1),
    "engine.version_is_pinned": text("docker_version", '{"Name": "Engine", "Version": "26.1.5', '{"Name": "Engine", "Version": "28.5.2'),
    "engine.containerd_version": text("docker_version", "1.7.24", "2.1.4"),
    "engine.runc_version": text("docker_version", "1.1.15", "1.3.2"),
    "engine.default_runtime_is_runc": text("docker_info", '"DefaultRuntime": "runc"', '"DefaultRuntime": "nvidia"'),
    "engine.cdi_enabled": text("docker_info", '["/etc/cdi", "/var/run/cdi"]', "[]"),
    "engine.nvidia_runtime_registered": text("docker_info", '"nvidia": {"path": "nvidia-container-runtime"}, ', ""),
    "engine.restarted_since_change": text("docker_service", "20:58:00", "20:50:00"),
    "engine.package_versions": text("dpkg_l", "runc 1.1.15", "runc 1.3.2"),
    "engine.packages_held": text("dpkg_l", "hi  runc", "ii  runc"),
}
