"""Examples of the rules of layer container_toolkit: PASSING makes a rule pass that does not apply to the good node, FAILING makes it fail."""

from ..changes import both, form, pin, ran, text
from ..gpu_runs import GOOD

HOOK = "OCI runtime create failed: runc create failed: error during container init: error running prestart hook #0: exit status 1, "
SWARM = form("toolkit_config", content='swarm-resource = "DOCKER_RESOURCE_GPU"\n', complete=True)
SECOND = (
    "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n- name: all\n  containerEdits:\n    deviceNodes:\n    - path: /dev/nvidia0\n    - path: /dev/nvidia1\n"
)


def without_toolkit(evidence, lock):
    """No package of the toolkit is installed."""
    evidence["probes"]["nvidia_ctk_version"] = {"absent": True}
    listing = evidence["probes"]["dpkg_l"]
    listing["stdout"] = "".join(line for line in listing["stdout"].splitlines(True) if "nvidia-container" not in line)


def two_specs(evidence, lock):
    """A second file of the same directory offers a device again."""
    evidence["probes"]["cdi_specs"]["/var/run/cdi/gpus.yaml"] = SECOND


PASSING = {
    "container_toolkit.cuda_beside_nvml": ran(stdout=GOOD, rc=0),
    "container_toolkit.no_legacy_hook_beside_cdi": ran(engine="podman", request="cdi", rc=0),
    "container_toolkit.cdi_generates": form("cdi_generate_log", stdout='time="…" level=info msg="Generated CDI spec with version 0.5.0"\n', rc=0),
    "container_toolkit.swarm_resources": both(SWARM, form("docker_info", stdout="Swarm: active\n", rc=0)),
}

FAILING = {
    "container_toolkit.dependencies_met": lambda evidence, lock: evidence.update(
        stated={"apt_output": " nvidia-container-toolkit : Depends: libnvidia-container-tools (= 1.9.0-1) but 1.10.0-1 is to be installed\n"}
    ),
    "container_toolkit.host_c_library": both(
        form("os_release", content="ID=alpine\n"), lambda evidence, lock: evidence.update(stated={"shell": "sh: nvidia-container-cli: not found"})
    ),
    "container_toolkit.installed": both(
        without_toolkit,
        ran('docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].'),
    ),
    "container_toolkit.version_is_pinned": text("nvidia_ctk_version", "1.20.0", "1.19.1"),
    "container_toolkit.one_version": text("dpkg_l", "nvidia-container-toolkit-base 1.20.0", "nvidia-container-toolkit-base 1.19.1"),
    "container_toolkit.cdi_spec_present": form("cdi_specs", absent=True),
    "container_toolkit.cdi_spec_is_of_driver": text("cdi_specs", "550.163.01", "550.144.03"),
    "container_toolkit.cdi_spec_devices": text("cdi_specs", "/dev/nvidia1", "/dev/nvidia7"),
    "container_toolkit.cdi_spec_is_readable": both(
        text("cdi_specs", 'cdiVersion: "0.5.0"', 'cdiVersion: "0.7.0"'),
        form("podman_version", stdout="podman version 4.9.3\n", rc=0, complete=True),
        ran("Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all", engine="podman", request="cdi"),
    ),
    "container_toolkit.cdi_specs_agree": two_specs,
    "container_toolkit.cdi_hooks_run": ran(
        "error running createContainer hook #0: fork/exec /usr/bin/nvidia-cdi-hook: no such file or directory", request="cdi"
    ),
    "container_toolkit.cdi_spec_libraries": both(
        text("cdi_specs", "libcuda.so.", "libother.so."), text("cdi_specs", "kind: nvidia.com/gpu", "kind: nvidia.com/gpu # /libnvidia-ml.so.")
    ),
    "container_toolkit.cdi_generates": form(
        "cdi_generate_log",
        stdout="INFO[0000] Using /opt/nvidia/lib64/libnvidia-ml.so.550.163.01\nERRO[0000] failed to generate CDI spec: failed to locate libcuda.so.550.163.01: "
        "pattern libcuda.so.550.163.01 not found\n",
        rc=1,
    ),
    "container_toolkit.no_legacy_hook_beside_cdi": ran(
        "Error: OCI runtime error: crun: error executing hook `/usr/bin/nvidia-container-toolkit`: Auto-detected mode as 'legacy'",
        engine="podman",
        request="cdi",
    ),
    "container_toolkit.release_is_sound": ran(
        HOOK + 'stderr: level=error msg="failed to create application profiles directory: mkdirat etc/nvidia: read-only file system"'
    ),
    "container_toolkit.swarm_resources": both(
        SWARM,
        form("docker_info", stdout="Swarm: active\n", rc=0),
        text("nvidia_ctk_version", "1.20.0", "1.18.2"),
        pin("container_toolkit", "version", value="1.18.2-1"),
    ),
    "container_toolkit.cuda_beside_nvml": ran("cuInit(0) failed: CUDA_ERROR_UNKNOWN", rc=1),
    "container_toolkit.security_floor": text("nvidia_ctk_version", "1.20.0", "1.17.3"),
    "container_toolkit.config_is_readable": ran(HOOK + "stderr: error loading config: failed to load TOML: (12, 1): unexpected token"),
    "container_toolkit.ldconfig_runs": ran(HOOK + "stderr: nvidia-container-cli: ldcache error: open failed: /sbin/ldconfig.real: no such file or directory"),
    "container_toolkit.mode_serves_request": ran(
        HOOK
        + "stderr: Using requested mode 'cdi'\ninvoking the NVIDIA Container Runtime Hook directly (e.g. specifying the docker --gpus flag) is not supported."
    ),
    "container_toolkit.driver_root": ran(
        HOOK + "stderr: nvidia-container-cli.real: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file",
        engine="kubernetes",
    ),
    "container_toolkit.low_level_runtime": ran("error locating runtime: no runtime binary found from candidate list [runc crun]", request="runtime"),
    "container_toolkit.environment_accepted": ran(HOOK + "stderr: insufficient privileges to read device list from NVIDIA_VISIBLE_DEVICES envvar"),
    "container_toolkit.package_versions": text("dpkg_l", "nvidia-container-toolkit 1.20.0", "nvidia-container-toolkit 1.19.1"),
    "container_toolkit.configuration_is_provisioned": form("configuration", **{"/etc/nvidia-container-runtime/config.toml": "sha256:bb absent"}),
    "container_toolkit.packages_held": text("dpkg_l", "hi  nvidia-container-toolkit ", "ii  nvidia-container-toolkit "),
}
