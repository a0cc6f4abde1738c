"""Examples of the rules of layer policy: PASSING makes a rule pass that does not apply to the good node, FAILING makes it fail."""

from ..changes import both, form, text

PASSING = {}

FAILING = {
    "policy.cgroup_version": text("cgroup_fstype", "cgroup2fs", "tmpfs"),
    "policy.selinux_denies_devices": both(
        form("getenforce", stdout="Enforcing\n", rc=0),
        form("getsebool", stdout="container_use_devices --> off\n", rc=0),
        text("docker_info", '"name=cgroupns"', '"name=selinux"'),
    ),
    "policy.apparmor_denies_nvidia": text("dmesg", "taints kernel.", 'taints kernel.\n[9.1] audit: apparmor="DENIED" operation="open" name="/dev/nvidia0"'),
}
