"""Every rule of the host's layers passes on the good node, or on one change of it, and fails on one change of that (examples/<layer>.py)."""

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.judge import judge
from ansible_collections.goldnode.gpu.plugins.module_utils.model import CONTAINER, CUDA, FAIL, PASS, UNKNOWN
from ansible_collections.goldnode.gpu.plugins.module_utils.rules import RULES

from .changes import both, pin
from .examples import FAILING, PASSING
from .examples.device_nodes import MIG_NODE_MISSING
from .examples.driver import NOT_LOADED

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


def test_mig_instances_that_nvidia_smi_does_not_list_for_want_of_a_node_are_the_device_nodes_fault(evidence, lock):
    MIG_NODE_MISSING(evidence, lock)
    judged = judge(evidence, lock)
    found = {one.rule: one for one in judged.findings}
    assert (judged.first_broken_layer, found["driver.mig_instances"].verdict, found["driver.mig_profile"].verdict) == ("device_nodes", "unknown", "unknown")
    assert "nvidia-cap202, of gpu1/gi7/ci0" in found["device_nodes.mig_capabilities"].cause


@pytest.mark.parametrize("listing", [{"stdout": "", "rc": 0}, {"stderr": "ls: cannot open directory '/dev/nvidia-caps': Permission denied\n", "rc": 2}])
def test_a_listing_of_capability_nodes_that_is_not_whole_proves_nothing(listing, evidence, lock):
    MIG_NODE_MISSING(evidence, lock)
    evidence["probes"]["ls_dev_nvidia_caps"] = listing
    assert finding("device_nodes.mig_capabilities", evidence, lock).verdict == UNKNOWN


def test_a_pool_without_toolkit_on_purpose_has_nothing_to_judge_there(evidence, lock):
    pin("container_toolkit", value=None)(evidence, lock)
    lock["packages"] = [package for package in lock["packages"] if package["layer"] != "container_toolkit"]
    assert judge(evidence, lock).layers["container_toolkit"].verdict == "not_applicable"


@pytest.mark.parametrize("stack", [None, {}])
def test_without_a_lock_a_good_node_passes_and_no_pin_is_judged(stack, evidence):
    judged = judge(evidence, stack)
    assert not [one for one in judged.findings if one.verdict == FAIL]
    assert {one.verdict for one in judged.findings if "pinned" in one.rule or "wanted" in one.rule} == {"not_applicable"}


def verdicts(layer, **evidence):
    """The findings of one layer about a bundle, by rule."""
    return {one.rule: one for one in judge({"schema": "goldnode.evidence/v1", **evidence}, layers=(layer,)).findings}


NO_SMI = {"nvidia_smi": {"stderr": "bash: nvidia-smi: command not found", "rc": 127}}
UNREACHABLE = {"nvidia_smi": {"stderr": "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", "rc": 9}}
NO_NVML = "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory"
BLOCKED = {"engine": "docker", "request": "gpus", "user": "root", "stderr": "Failed to initialize NVML: GPU access blocked by the operating system", "rc": 255}


def test_a_driver_container_needs_no_nvidia_smi_on_the_host():
    found = verdicts("driver", probes=NO_SMI, stated={"driver_install_method": "driver container of the GPU operator"})["driver.is_installed"]
    assert found.verdict == "not_applicable"
    assert "/run/nvidia/driver" in found.cause
    assert verdicts("driver", probes=NO_SMI)["driver.is_installed"].verdict == FAIL


@pytest.mark.parametrize(
    ("windows", "verdict"),
    [("Windows 10 2004", FAIL), ("10.0.19043.1", FAIL), ("Windows 10 22H2", "not_applicable"), ("Windows 11 22621", "not_applicable"), ("", "not_applicable")],
)
def test_wsl_gets_no_gpu_of_a_windows_that_is_too_old(windows, verdict):
    stated = {"platform": "WSL2", "windows_version": windows}
    assert verdicts("driver", runs=[{"engine": "docker", "stderr": NO_NVML}], stated=stated)["driver.windows_driver_serves_wsl"].verdict == verdict


def test_no_cgroups_and_not_windows_takes_the_gpu_from_containers_in_wsl():
    evidence = {"runs": [BLOCKED], "stated": {"platform": "WSL2"}, "probes": {"toolkit_config": "no-cgroups = true\n"}}
    assert verdicts("driver", **evidence)["driver.windows_driver_serves_wsl"].verdict == UNKNOWN
    assert verdicts("policy", **evidence)["policy.no_cgroups_with_rootful_engine"].verdict == FAIL
    on_host = {**evidence, "probes": {**evidence["probes"], "nvidia_smi": {"stderr": BLOCKED["stderr"], "rc": 255}}}
    assert verdicts("driver", **on_host)["driver.windows_driver_serves_wsl"].verdict == FAIL


@pytest.mark.parametrize(
    ("stated", "rule"),
    [
        ({"linux_headers_installed": "no"}, "kernel.headers_present"),
        ({"kernel_headers": "missing for the new kernel"}, "kernel.headers_present"),
        ({"older_kernel": "the driver worked there"}, "kernel.module_built_for_kernel"),
    ],
)
def test_a_stated_lack_of_headers_or_module_is_the_kernels(stated, rule):
    assert verdicts("kernel", probes=UNREACHABLE, stated=stated)[rule].verdict == FAIL


@pytest.mark.parametrize("stated", [{"linux_headers": "installed"}, {"older_kernel": "does not work either"}])
def test_what_is_stated_to_be_fine_is_not_blamed(stated):
    found = verdicts("kernel", probes=UNREACHABLE, stated=stated)
    assert FAIL not in (found["kernel.headers_present"].verdict, found["kernel.module_built_for_kernel"].verdict)


def test_a_container_of_docker_says_nothing_of_the_device_plugin():
    for engine, verdict in (("docker", "not_applicable"), ("kubernetes", FAIL)):
        found = verdicts("orchestrator", runs=[{"engine": engine, "stderr": NO_NVML}])
        assert found["orchestrator.device_plugin_sees_driver"].verdict == verdict


@pytest.mark.parametrize(
    ("stated", "missing"),
    [({"missing_device_nodes": "/dev/nvidia-uvm, sometimes"}, "/dev/nvidia-uvm"), ({"dev_nvidia_uvm_tools": "missing at boot"}, "/dev/nvidia-uvm-tools")],
)
def test_nodes_that_are_stated_to_be_missing_are_named(stated, missing):
    found = verdicts("device_nodes", stated=stated)["device_nodes.present"]
    assert found.verdict == FAIL
    assert missing in found.cause


@pytest.mark.parametrize(("size", "verdict"), [("0x800000000", FAIL), ("0x00200000", UNKNOWN)])
def test_only_a_window_as_large_as_a_gpus_memory_is_blamed(size, verdict):
    log = f"[    0.2] pci 0000:00:01.0: bridge window [mem size {size} 64bit pref]: can't assign; no space\n"
    found = verdicts("hardware", probes={"dmesg": log})["hardware.bar_has_address_space"].verdict
    assert (found == FAIL) == (verdict == FAIL)


def test_torch_of_the_cpu_index_is_a_cpu_build():
    run = {"engine": "docker", "request": "gpus", "stderr": "RuntimeError: torch.cuda.is_available() is False"}
    stated = {"build_args": "TORCH_INDEX=https://download.pytorch.org/whl/cpu"}
    assert verdicts("cuda", runs=[run], stated=stated)["cuda.framework_build"].verdict == FAIL
    assert verdicts("cuda", runs=[run])["cuda.framework_build"].verdict != FAIL


@pytest.mark.parametrize(("cc", "words"), [("/usr/bin/cc -> /usr/bin/clang-18", "cc is clang"), ("/usr/bin/cc -> gcc", "failed")])
def test_a_build_by_clang_is_told_from_a_driver_that_is_too_old(cc, words):
    log = "Building module:\nBuilding DKMS module: nvidia-470.256.02... FAILED!\n"
    found = verdicts("kernel", probes={"dkms_build_log": log, "uname_r": "6.1.0"}, stated={"default_cc": cc})["kernel.build_sources"]
    assert found.verdict == FAIL
    assert words in found.cause


@pytest.mark.parametrize(("command", "verdict"), [("nvidia-ctk runtime configure --runtime=containerd", FAIL), ("systemctl restart docker", "not_applicable")])
def test_a_cri_plugin_that_is_switched_off_is_a_fault_for_who_uses_it(command, verdict):
    probes = {"containerd_config": 'disabled_plugins = ["cri"]\n', "recent_commands": command + "\n"}
    assert verdicts("engine", probes=probes)["engine.cri_config_taken"].verdict == verdict
