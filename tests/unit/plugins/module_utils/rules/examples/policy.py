"""Examples of the rules of layer policy: PASSING makes a rule pass that does not apply to the good node, FAILING makes it fail."""

from ..changes import both, form, text


def run(stderr="", **words):
    """One more GPU container run; without words it ended well."""
    value = {"engine": "docker", "request": "gpus", "stderr": stderr, "rc": 125 if stderr else 0, **words}
    return lambda evidence, lock: evidence["runs"].append(dict(value))


FINE = run(payload="nvidia_smi", stdout="GPU 0: NVIDIA A10\n")
HOOK = "nvidia-container-cli: mount error: "
UNKNOWN_ERROR = {"payload": "nvidia_smi", "stdout": "Failed to initialize NVML: Unknown Error\n", "rc": 255}
MODULE_AVC = (
    'type=AVC msg=audit(1.2:3): avc:  denied  { module_load } for  pid=7 comm="modprobe" path="/usr/lib/modules/6.1/nvidia.ko.zst" dev="overlay" '
    "ino=5 scontext=system_u:system_r:unconfined_service_t:s0 tcontext=system_u:object_r:container_file_t:s0 tclass=system permissive=0\n"
)
LXC = "lxc.cgroup2.devices.allow: c 195:* rwm\nlxc.cgroup2.devices.allow: c {uvm}:* rwm\n"

PASSING = {
    "policy.device_access_lost": FINE,
    "policy.no_cgroups_with_rootful_engine": form("toolkit_config", content="[nvidia-container-cli]\n#no-cgroups = true\n", complete=True),
    "policy.device_rules_refused": FINE,
    "policy.device_filter_program": FINE,
    "policy.cgroup_v2_support": FINE,
    "policy.lxc_device_rules": form("lxc_config", content=LXC.format(uvm=508)),
    "policy.apparmor_profile_applies": FINE,
    "policy.user_namespace": FINE,
    "policy.performance_counters": FINE,
    "policy.locked_memory": FINE,
    "policy.sandboxed_runtime": FINE,
}

FAILING = {
    "policy.cgroup_version": text("cgroup_fstype", "cgroup2fs", "tmpfs"),
    "policy.device_access_lost": both(form("recent_commands", stdout="systemctl daemon-reload\n", rc=0), run(**UNKNOWN_ERROR)),
    "policy.no_cgroups_with_rootful_engine": both(form("toolkit_config", content="no-cgroups = true\n", complete=True), run(**UNKNOWN_ERROR)),
    "policy.device_rules_refused": run(HOOK + "failed to add device rules: bpf_prog_query(BPF_CGROUP_DEVICE) failed: operation not permitted: unknown.\n"),
    "policy.device_filter_program": run(HOOK + "failed to add device rules: unable to create new device filters program: load program: invalid argument\n"),
    "policy.cgroup_v2_support": run("nvidia-container-cli: container error: cgroup subsystem devices not found: unknown.\n"),
    "policy.lxc_device_rules": form("lxc_config", content=LXC.format(uvm=511)),
    "policy.selinux_denies_devices": both(
        form("getenforce", stdout="Enforcing\n", rc=0),
        form("getsebool", stdout="container_use_devices --> off\n", rc=0),
        text("docker_info", '"name=cgroupns"', '"name=selinux"'),
    ),
    "policy.selinux_denies_module": form("audit_avc", stdout=MODULE_AVC, rc=0),
    "policy.apparmor_denies_nvidia": text("dmesg", "taints kernel.", 'taints kernel.\n[9.1] audit: apparmor="DENIED" operation="open" name="/dev/nvidia0"'),
    "policy.apparmor_profile_applies": run("docker: Error response from daemon: error during container init: unable to apply apparmor profile\n"),
    "policy.user_namespace": both(
        form("docker_daemon_json", content='{"userns-remap": "default"}', complete=True, mtime=0),
        run(HOOK + "mount operation failed: /proc/driver/nvidia: permission denied: unknown.\n"),
    ),
    "policy.performance_counters": run(payload="app", stdout="ERR_NVGPUCTRPERM - The user does not have permission\n", rc=1),
    "policy.locked_memory": run(payload="app", stdout="misc/ibvwrap.cc:262 NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory\n", rc=1),
    "policy.sandboxed_runtime": run("FATAL ERROR: registering nvproxy driver: unsupported Nvidia driver version: 550.90.07\n"),
}
