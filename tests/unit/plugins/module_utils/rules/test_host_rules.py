"""Every rule of the host's layers passes on the good node, or on one change of it, and fails on one change of that."""

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.judge import judge
from ansible_collections.goldnode.gpu.plugins.module_utils.model import CONTAINER, CUDA, FAIL, PASS
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import RULES


def text(probe, old, new):
    """A change of what one probe printed."""

    def change(evidence, lock):
        form = evidence["probes"][probe]
        key = next(key for key in ("stdout", "content", *form) if key in form)
        assert old in form[key]
        form[key] = form[key].replace(old, new)

    return change


def form(probe, **value):
    """Another form of one probe's value."""
    return lambda evidence, lock: evidence["probes"].update({probe: dict(value)})


def pin(*path, value):
    """A change of the lock's pins."""

    def change(evidence, lock):
        *parents, last = path
        pins = lock["pins"]
        for key in parents:
            pins = pins[key]
        pins[last] = value

    return change


def both(*changes):
    def change(evidence, lock):
        for one in changes:
            one(evidence, lock)

    return change


SLICE = "GPU {0}: NVIDIA A100 (UUID: GPU-1{0})\n  MIG 1g.10gb     Device  0: (UUID: MIG-{0})\n"
MIG = both(
    pin("mig", value={"profile": "all-1g.10gb"}),
    form("nvidia_smi_list", stdout=SLICE.format(0) + SLICE.format(1), rc=0),
    form("ls_dev_nvidia_caps", stdout="cr--r--r-- 1 0 0 241, 3 Nov 30 20:00 /dev/nvidia-caps/nvidia-cap3\n", rc=0),
)
SWITCH = text("lspci_nnk", "0000:00:00.0 [0600]: [8086:0d57]", "0000:c0:00.0 [0680]: [10de:22a3]")
ALLOCATABLE = form("node_allocatable", stdout='{"nvidia.com/gpu": "2"}', rc=0)

# What makes a rule pass that does not apply to the good node.
PASSING = {
    "driver.mig_profile": MIG,
    "driver.fabric_manager": SWITCH,
    "device_nodes.mig_capabilities": MIG,
    "orchestrator.gpus_allocatable": ALLOCATABLE,
}

NOT_LOADED = both(
    form("proc_driver_nvidia_version", absent=True),
    form("lsmod", content="overlay 217088 0 - Live 0x0\n", complete=True),
    text("dmesg", "[    4.200000] NVRM: loading", "[    4.200000] nvidia: disagrees about version of symbol module_layout\n[    4.3] x"),
)

MISMATCH = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.144\n"

FAILING = {
    "hardware.gpu_count": text("lspci_nnk", "0000:65:00.0 [0302]: [10de:2236]\n\tKernel driver in use: nvidia\n", ""),
    "hardware.gpu_model": text("lspci_nnk", "0000:65:00.0 [0302]: [10de:2236]", "0000:65:00.0 [0302]: [10de:20b5]"),
    "hardware.gpu_fell_off_the_bus": text(
        "dmesg", "taints kernel.", "taints kernel.\n[ 99.1] NVRM: Xid (PCI:0000:17:00): 79, pid=1, GPU has fallen off the bus."
    ),
    "kernel.os_is_wanted": text("os_release", 'VERSION_ID="13"', 'VERSION_ID="12"'),
    "kernel.running_is_wanted": text("kernel_release", "6.12.107", "6.12.117"),
    "kernel.boot_default_is_wanted": text("default_boot_kernel", 'set default="0"', 'set default="1"'),
    "kernel.headers_present": form("linux_headers", absent=True),
    "kernel.module_built_for_kernel": form("modinfo_nvidia", stdout="", stderr="modinfo: ERROR: Module nvidia not found.\n", rc=1),
    "kernel.other_driver_holds_gpu": text("lspci_nnk", "in use: nvidia", "in use: vfio-pci"),
    "kernel.nouveau_blocked": form("modprobe_d", absent=True),
    "kernel.package_versions": text("dpkg_l", "linux-headers-6.12.107+deb13-amd64 6.12.107-1+", "linux-headers-6.12.107+deb13-amd64 6.12.107-2+"),
    "kernel.packages_held": text("dpkg_l", "hi  linux-headers", "ii  linux-headers"),
    "driver.module_does_not_load": NOT_LOADED,
    "driver.version_is_pinned": text("proc_driver_nvidia_version", "550.163.01", "550.144.03"),
    "driver.library_version_mismatch": form(
        "nvidia_smi", stdout="Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.144\n", rc=18
    ),
    "driver.module_flavour": text("proc_driver_nvidia_version", "UNIX Open Kernel Module for x86_64", "UNIX x86_64 Kernel Module"),
    "driver.all_gpus_served": text("nvidia_smi_query", "00000000:65:00.0", "00000000:17:00.0"),
    "driver.mig_profile": both(MIG, text("nvidia_smi_list", "1g.10gb     Device  0: (UUID: MIG-1)", "2g.20gb     Device  0: (UUID: MIG-1)")),
    "driver.fabric_manager": both(SWITCH, text("fabricmanager_service", "ActiveState=active", "ActiveState=failed")),
    "driver.persistence_daemon": text("persistenced_service", "ActiveState=active", "ActiveState=failed"),
    "driver.cuda_init_on_host": text("cuda_probe", '"ok": true', '"ok": false'),
    "driver.package_versions": text("dpkg_l", "libcuda1 550.163.01", "libcuda1 550.144.03"),
    "driver.packages_held": text("dpkg_l", "hi  libcuda1", "ii  libcuda1"),
    "device_nodes.present": text("ls_dev_nvidia", "crw-rw-rw- 1 0 0 195, 1 Nov 30 20:00 /dev/nvidia1\n", ""),
    "device_nodes.major": text("ls_dev_nvidia", "508, 0", "507, 0"),
    "device_nodes.mode": text("ls_dev_nvidia", "crw-rw-rw- 1 0 0 195, 0", "crw-rw---- 1 0 44 195, 0"),
    "device_nodes.mig_capabilities": both(MIG, form("ls_dev_nvidia_caps", absent=True)),
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
    "container_toolkit.version_is_pinned": text("nvidia_ctk_version", "1.20.0", "1.19.1"),
    "container_toolkit.one_version": text("dpkg_l", "nvidia-container-toolkit-base 1.20.0", "nvidia-container-toolkit-base 1.19.1"),
    "container_toolkit.cdi_spec_present": form("cdi_specs", absent=True),
    "container_toolkit.cdi_spec_is_of_driver": text("cdi_specs", "550.163.01", "550.144.03"),
    "container_toolkit.cdi_spec_devices": text("cdi_specs", "/dev/nvidia1", "/dev/nvidia7"),
    "container_toolkit.package_versions": text("dpkg_l", "nvidia-container-toolkit 1.20.0", "nvidia-container-toolkit 1.19.1"),
    "container_toolkit.packages_held": text("dpkg_l", "hi  nvidia-container-toolkit ", "ii  nvidia-container-toolkit "),
    "policy.cgroup_version": text("cgroup_fstype", "cgroup2fs", "tmpfs"),
    "policy.selinux_denies_devices": both(
        form("getenforce", stdout="Enforcing\n", rc=0),
        form("getsebool", stdout="container_use_devices --> off\n", rc=0),
        text("docker_info", '"name=cgroupns"', '"name=selinux"'),
    ),
    "policy.apparmor_denies_nvidia": text("dmesg", "taints kernel.", 'taints kernel.\n[9.1] audit: apparmor="DENIED" operation="open" name="/dev/nvidia0"'),
    "orchestrator.gpus_allocatable": form("node_allocatable", stdout='{"nvidia.com/gpu": "0"}', rc=0),
}
# Rules about containers stand with their runs.
OURS = sorted(name for name, rule in RULES.items() if rule.layer not in (CONTAINER, CUDA))


def finding(name, evidence, lock):
    """The rule's own layer alone, so that no broken layer before it blocks the rule."""
    found = judge(evidence, lock, layers=(RULES[name].layer,)).findings
    return next(one for one in found if one.rule == name)


@pytest.mark.parametrize("name", OURS)
def test_a_rule_passes_on_a_good_node(name, evidence, lock):
    PASSING.get(name, both())(evidence, lock)
    assert finding(name, evidence, lock).verdict == PASS


@pytest.mark.parametrize("name", OURS)
def test_a_rule_fails_on_its_fault_with_cause_and_remedy(name, evidence, lock):
    FAILING[name](evidence, lock)
    found = finding(name, evidence, lock)
    assert found.verdict == FAIL
    assert all((found.cause, found.remedy, found.expected, found.observed))


@pytest.mark.parametrize("name", OURS)
def test_a_fault_breaks_its_own_layer_first(name, evidence, lock):
    FAILING[name](evidence, lock)
    assert judge(evidence, lock).first_broken_layer == RULES[name].layer


def test_the_reason_why_a_module_does_not_load_comes_from_the_kernel_log(evidence, lock):
    NOT_LOADED(evidence, lock)
    found = finding("driver.module_does_not_load", evidence, lock)
    assert found.expected == "module nvidia loaded at 550.163.01"
    assert found.observed == "no nvidia module; kernel log: nvidia: disagrees about version of symbol module_layout"
    assert "refuses to load" in found.cause


def test_cuda_that_fails_for_a_missing_device_node_is_the_device_nodes_fault(evidence, lock):
    FAILING["driver.cuda_init_on_host"](evidence, lock)
    FAILING["device_nodes.present"](evidence, lock)
    assert judge(evidence, lock).first_broken_layer == "device_nodes"


def test_a_pool_without_toolkit_on_purpose_has_nothing_to_judge_there(evidence, lock):
    pin("container_toolkit", value=None)(evidence, lock)
    lock["packages"] = [package for package in lock["packages"] if package["layer"] != "container_toolkit"]
    assert judge(evidence, lock).layers["container_toolkit"].verdict == "not_applicable"


@pytest.mark.parametrize("stack", [None, {}])
def test_without_a_lock_a_good_node_passes_and_no_pin_is_judged(stack, evidence):
    judged = judge(evidence, stack)
    assert not [one for one in judged.findings if one.verdict == FAIL]
    assert {one.verdict for one in judged.findings if "pinned" in one.rule or "wanted" in one.rule} == {"not_applicable"}
