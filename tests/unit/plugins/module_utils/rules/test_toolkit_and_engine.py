"""Toolkit and engine: each wording that public reports have is blamed on the right layer by the right rule, and the cause names the thing."""

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.judge import judge
from ansible_collections.goldnode.gpu.plugins.module_utils.model import FAIL

NO_DRIVER = 'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].'
HOOK = "runc create failed: error during container init: error running hook #0: exit status 1, stderr: Auto-detected mode as 'legacy'\n"
NO_LIBRARY = (
    HOOK
    + "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory: unknown."
)
INSTALLED = {"dpkg_l": "ii  nvidia-container-toolkit 1.14.3-1 amd64 hook\nii  nvidia-container-toolkit-base 1.14.3-1 amd64 base\n"}
UNRESOLVABLE = "Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all"
GONE = "crun: error stat'ing file /lib/x86_64-linux-gnu/libEGL_nvidia.so.535.161.07: No such file or directory: OCI runtime attempted to invoke a command"
NO_HANDLER = 'Failed to create pod sandbox: rpc error: failed to get sandbox runtime: no runtime for "nvidia" is configured'
DESKTOP = {"docker_info": " Operating System: Docker Desktop\n Server Version: 27.1.1\n", "nvidia_smi": {"rc": 0}}
NOT_FOUND = {"stderr": "dpkg-query: no packages found matching nvidia-container-toolkit", "rc": 1}
LDCACHE = HOOK + "nvidia-container-cli: ldcache error: process /sbin/ldconfig.real failed with error code: 1"
NO_CRI = {"kubelet_log": "unknown service runtime.v1.RuntimeService", "containerd_config": 'disabled_plugins = ["cri"]'}
OLD_UVM = {
    "cdi_specs": {"/etc/cdi/nvidia.yaml": "kind: nvidia.com/gpu\ncontainerEdits:\n  deviceNodes:\n  - path: /dev/nvidia-uvm\n    major: 510\n"},
    "proc_devices": "Character devices:\n509 nvidia-uvm\n",
}

# probes, what a run or a pod said, stated values -> the rule, and a word of its cause. Sources stand with the rules.
REPORTS = [
    ({}, NO_DRIVER, {}, "container_toolkit.installed", "not restarted since"),
    (
        {"dpkg_l": {"stderr": "dpkg-query: no packages found matching nvidia-container-toolkit", "rc": 1}},
        NO_DRIVER,
        {},
        "container_toolkit.installed",
        "not installed",
    ),
    (INSTALLED, NO_DRIVER, {}, "engine.gpu_hook_taken_up", "not restarted since the toolkit was installed"),
    ({**INSTALLED, "snap_list": "docker  28.4.0  3265  latest/stable  canonical"}, NO_DRIVER, {}, "engine.daemon_is_the_hosts", "snap"),
    ({}, NO_DRIVER, {"docker_install_method": "snap"}, "engine.daemon_is_the_hosts", "snap"),
    (DESKTOP, NO_LIBRARY, {}, "engine.daemon_is_the_hosts", "Docker Desktop"),
    ({"nvidia_smi": {"rc": 0}}, NO_LIBRARY, {}, "engine.daemon_is_the_hosts", "Docker Desktop"),
    ({}, "Unknown runtime specified nvidia.", {}, "engine.nvidia_runtime_registered", "not registered"),
    ({}, 'exec: "nvidia-container-runtime": executable file not found in $PATH: : unknown', {}, "container_toolkit.installed", "not installed"),
    ({}, "fork/exec /usr/bin/nvidia-container-runtime: no such file or directory: unknown", {}, "container_toolkit.installed", "not installed"),
    (
        {},
        "[ERROR] Command not found: nvidia-container-cli, see https://github.com/NVIDIA/",
        {},
        "container_toolkit.installed",
        "not installed",
    ),
    (INSTALLED, "fork/exec /usr/local/bin/nvidia-container-runtime: no such file or directory", {}, "engine.runtime_program_found", "/usr/local/bin"),
    (
        {},
        HOOK + "nvidia-container-cli: ldcache error: process /sbin/ldconfig.real failed with error code: 1",
        {},
        "container_toolkit.ldconfig_runs",
        "ld.so.cache",
    ),
    ({"nvidia_ctk_version": "version 1.17.0"}, "failed to check if link exists: unexpected link target", {}, "container_toolkit.release_is_sound", "1.17.0"),
    ({}, UNRESOLVABLE, {}, "container_toolkit.cdi_spec_present", "not generated"),
    ({}, GONE, {}, "container_toolkit.cdi_spec_is_of_driver", "previous driver"),
    ({}, 'failed to stat CDI host device "/dev/dri/renderD129": no such file or directory', {}, "container_toolkit.cdi_spec_devices", "renderD129"),
    (OLD_UVM, "", {}, "container_toolkit.cdi_spec_devices", "509:0 on the host and 510:0 in the spec"),
    ({}, "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock", {}, "engine.daemon_answers", "group docker"),
    (
        {"docker_version": "Docker version 26.1.3, build b72abbb"},
        'could not select device driver "cdi" with capabilities: [].',
        {},
        "engine.cdi_enabled",
        "26.1.3",
    ),
    ({}, "client version 1.43 is too old. Minimum supported API version is 1.44", {}, "engine.release_serves_request", "API"),
    ({"pod_events": NO_HANDLER}, "", {"k8s_distribution": "k3s"}, "engine.cri_has_nvidia_handler", "containerd"),
    ({"pod_events": "failed to find runtime handler nvidia from runtime list map[runc:0xc]"}, "", {}, "engine.cri_has_nvidia_handler", "CRI-O"),
    (
        {"kubelet_log": "unknown service runtime.v1.RuntimeService", "containerd_config": 'disabled_plugins = ["cri"]'},
        "",
        {},
        "engine.cri_config_taken",
        "disabled",
    ),
]


@pytest.mark.parametrize(("probes", "said", "stated", "rule", "word"), REPORTS)
def test_a_report_is_blamed_on_its_layer_and_cause(probes, said, stated, rule, word):
    runs = [{"engine": "docker", "request": "gpus", "stderr": said, "rc": 125}] if said else []
    judged = judge({"probes": probes, "runs": runs, "stated": stated})
    blamed = next(finding for finding in judged.findings if finding.verdict == FAIL)
    assert (judged.first_broken_layer, blamed.rule) == (rule.split(".")[0], rule)
    assert word in blamed.cause and blamed.remedy


@pytest.mark.parametrize(
    ("probes", "said", "stated"),
    [
        # containerd.io under Docker ships its CRI plugin switched off.
        ({"containerd_config": {"content": 'disabled_plugins = ["cri"]\n', "complete": True}}, "", {}),
        # Docker Desktop is the usual engine under WSL, and a daemon may be Desktop's as long as it serves.
        (DESKTOP, "", {"platform": "WSL2"}),
        # The toolkit without a CDI spec and without a registered runtime serves --gpus by its hook.
        ({**INSTALLED, "cdi_specs": {"absent": True}, "docker_info": " Runtimes: io.containerd.runc.v2 runc\n Server Version: 24.0.7\n"}, "", {}),
        # Podman that reads no CDI 0.7.0 is not asked by CDI.
        ({"podman_version": "podman version 4.3.1", "nvidia_ctk_version": "version 1.20.0"}, "", {}),
        # Docker before 19.03 serves --runtime=nvidia.
        ({"docker_version": "Docker version 18.09.7, build 2d0083d"}, "", {}),
    ],
)
def test_what_is_unusual_and_harms_nobody_is_not_blamed(probes, said, stated):
    judged = judge({"probes": probes, "runs": [], "stated": stated}, layers=("engine", "container_toolkit"))
    assert [finding.rule for finding in judged.findings if finding.verdict == FAIL] == []


def test_a_vulnerable_release_is_told_and_breaks_nothing():
    judged = judge({"probes": {"nvidia_ctk_version": "NVIDIA Container Toolkit CLI version 1.17.3"}})
    told = next(finding for finding in judged.findings if finding.rule == "container_toolkit.security_floor")
    assert (told.verdict, told.severity) == ("pass", "warning")
    assert "CVE-2025-23359" in told.cause and "CVE-2024-0132" not in told.cause
