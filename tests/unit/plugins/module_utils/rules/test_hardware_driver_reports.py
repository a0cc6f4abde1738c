"""What public reports show of hardware and driver faults: the layer that is broken first, the rule that says so, and the words of its cause and remedy.

Each row is a report of its own (source in its id), cut to what decides. None of them is among the captured cases of tests/cases.
"""

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.judge import judge
from ansible_collections.goldnode.gpu.plugins.module_utils.model import DRIVER, FAIL, HARDWARE

HOOK = (
    "docker: Error response from daemon: OCI runtime create failed: runc create failed: unable to start container process: error during container init: "
    "error running prestart hook #0: exit status 1, stdout: , stderr: Auto-detected mode as 'legacy'\nnvidia-container-cli: {}: unknown."
)


def dmesg(*lines, **more):
    return {"probes": {"dmesg": "\n".join(lines), **more}}


def smi(text, rc=0, **more):
    return {"probes": {"nvidia_smi": {"stdout": text, "rc": rc}, **more}}


def run(words, **more):
    return {"probes": {}, "runs": [{"engine": "docker", "stderr": words, "rc": 125}], **more}


REPORTS = {
    # -- the driver's versions
    "NVIDIA/k8s-device-plugin #1431": (
        {
            **run(HOOK.format("initialization error: nvml error: driver/library version mismatch")),
            **smi("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.195", 18),
        },
        "driver.library_version_mismatch",
        ["570.195", "kernel module", "reboot"],
    ),
    "illinois-scicomp/machine-shop-maintenance #70": (
        smi(
            "Failed to initialize NVML: Driver/library version mismatch",
            18,
            proc_driver_nvidia_version="NVRM version: NVIDIA UNIX x86_64 Kernel Module  520.56.06  Thu Oct  6 21:38:55 UTC 2022",
            dpkg_l="ii  nvidia-smi     525.85.12-1  amd64        NVIDIA System Management Interface",
        ),
        "driver.library_version_mismatch",
        ["520.56.06", "525.85.12", "reload"],
    ),
    "nvidiavgpuarchive/index #1": (
        dmesg(
            "[    6.252567] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.148.06  Mon May  5 11:36:21 UTC 2025",
            "[ 8957.099615] NVRM: API mismatch: the client has the version 570.148.08, but",
            "[ 8957.099615] NVRM: this kernel module has the version 570.148.06.  Please",
            "[ 8957.099615] NVRM: make sure that this kernel module and all NVIDIA driver",
            "[ 8957.099615] NVRM: components have the same version.",
        ),
        "driver.library_version_mismatch",
        ["570.148.06", "570.148.08", "same version"],
    ),
    "API mismatch, wording since 535": (
        dmesg(
            "Jun 3 10:00:01 gpu kernel: [  9.1] NVRM: API mismatch: the client 'nvidia-smi' (pid 2217) has the version 535.129.03, but this kernel "
            "module has the version 535.113.01.  Please make sure"
        ),
        "driver.library_version_mismatch",
        ["535.129.03", "535.113.01"],
    ),
    "pando85/homelab #4110": (
        {
            "probes": {
                "device_plugin_log": "E0604 main.go:173] error starting plugins: error creating plugin manager: nvml init failed: Driver/library "
                "version mismatch"
            }
        },
        "driver.library_version_mismatch",
        ["host", "unattended"],
    ),
    # -- kind and branch
    "NVIDIA/open-gpu-kernel-modules #862": (
        smi(
            "No devices were found",
            6,
            dmesg="[    5.55] NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:2b85)\n               NVRM: installed in this system requires use of the "
            "NVIDIA open kernel modules.\n"
            "[    5.55] NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x22:0x56:884)",
        ),
        "driver.module_kind_fits_gpu",
        ["open kernel modules", "10de:2b85", "blackwell", "-open"],
    ),
    "GTX 1050 on 595 (nixpkgs stable)": (
        dmesg(
            "[ 3.1] NVRM: The NVIDIA NVIDIA GeForce GTX 1050 GPU installed in this system is",
            "       NVRM: supported through the NVIDIA 580.xx Legacy drivers. Please",
            "       NVRM: visit http://www.nvidia.com/object/unix.html for more information.",
            "       NVRM: The 595.71.05 NVIDIA driver will ignore this GPU.  Continuing probe...",
            "[ 3.2] NVRM: No NVIDIA GPU found.",
        ),
        "driver.branch_serves_gpu",
        ["gtx 1050", "580", "legacy"],
    ),
    "K80 on 535 by its PCI id": (
        smi(
            "No devices were found",
            6,
            lspci_nnk="00:1e.0 3D controller [0302]: NVIDIA Corporation GK210GL [Tesla K80] [10de:102d] (rev a1)",
            proc_driver_nvidia_version="NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03",
        ),
        "driver.branch_serves_gpu",
        ["kepler", "470"],
    ),
    "RTX 5090 on 565": (
        dmesg(
            "[ 3.1] NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:2b85)",
            "       NVRM: installed in this system is not supported by the",
            "       NVRM: NVIDIA 565.57.01 driver release.",
        ),
        "driver.branch_serves_gpu",
        ["565.57.01", "too old", "570"],
    ),
    "flatcar/Flatcar #1283": (
        dmesg(
            "[130852.530546] NVRM: The NVIDIA GPU 0000:02:00.0 (PCI ID: 10de:1b38)",
            "                NVRM: installed in this system is not supported by the",
            "                NVRM: NVIDIA 535.104.05 driver release.",
        ),
        "driver.branch_serves_gpu",
        ["vgpu", "grid", "10de:1b38"],
    ),
    # -- firmware and initialisation
    "NVIDIA/open-gpu-kernel-modules #1230": (
        dmesg(
            "[   88.669319] NVRM: GPU6 _kgspBootGspRm: unexpected WPR2 already up, cannot proceed with booting GSP",
            "[   88.669328] NVRM: GPU6 _kgspBootGspRm: (the GPU is likely in a bad state and may need to be reset)",
            "[   88.669358] NVRM: GPU6 RmInitAdapter: Cannot initialize GSP firmware RM",
            "[   88.669932] NVRM: GPU 0000:a1:00.0: RmInitAdapter failed! (0x62:0x40:2168)",
        ),
        "driver.gsp_answers",
        ["gsp", "bad state", "power"],
    ),
    "NVIDIA/open-gpu-kernel-modules #943": (
        dmesg("nvidia 0000:3b:00.0: loading /lib/firmware/nvidia/570.133.20/gsp_ga10x.bin failed with error -4"),
        "driver.gsp_firmware_present",
        ["gsp", "firmware", "/lib/firmware"],
    ),
    "NVIDIA/open-gpu-kernel-modules #829": (
        dmesg("[605633.376794] NVRM: Xid (PCI:0000:06:00): 120, GSP task exception: store access page fault (cause:0xf) @ pc:0x13ebd80, partition:2#0, task:3"),
        "driver.gsp_answers",
        ["gsp", "xid 120", "upgrade"],
    ),
    "NVIDIA/gpu-operator #649": (
        {**dmesg("[ 1097.650222] NVRM: GPU 0000:04:01.0: RmInitAdapter failed! (0x11:0x45:2525)"), "stated": {"platform": "OpenShift VM, GPU passthrough"}},
        "driver.initialises_gpus",
        ["rminitadapter", "passthrough", "irq_not_firing"],
    ),
    "Tesla M40 without power cables": (
        smi(
            "No devices were found",
            6,
            dmesg="NVRM: GPU 0000:01:00.0: GPU does not have the necessary power cables connected.\nNVRM: GPU 0000:01:00.0: RmInitAdapter failed! "
            "(0x24:0x1c:1603)",
        ),
        "hardware.power_connected",
        ["power cables", "0000:01:00.0"],
    ),
    "NVIDIA/gpu-operator #1146": (
        dmesg(
            "Dec  2 11:49:53 worker4 kernel: [  885.242168] NVRM: GPU 0000:0a:00.0: RmInitAdapter failed! (0x24:0x72:1568)",
            nvidia_smi_list="GPU 0: NVIDIA A100 (UUID: GPU-1)\nGPU 1: NVIDIA A100 (UUID: GPU-2)\n",
        ),
        "hardware.gpu_initialises",
        ["0000:0a:00.0", "rminitadapter", "rma"],
    ),
    "nvidia-smi finds nothing, nobody knows why": (smi("No devices were found", 6), "driver.finds_a_gpu", ["no devices were found", "dmesg"]),
    # -- services
    "NVIDIA/nvidia-docker #723": (
        run(HOOK.format("initialization error: driver error: timed out"))
        | {"probes": {"nvidia_smi": "|   0  Tesla K80           Off  | 00001128:00:00.0 Off |                    0 |"}},
        "driver.persistence",
        ["persistence mode", "nvidia-persistenced"],
    ),
    "akash-network/website #632": (
        {
            "probes": {
                "journal": "Nov 05 13:55:26 node1 nv-fabricmanager[104230]: fabric manager NVIDIA GPU driver interface version 550.127.05 don't match "
                "with driver version 550.120. Please update with matching NVIDIA driver package."
            }
        },
        "driver.fabric_manager",
        ["550.127.05", "550.120", "exactly"],
    ),
    "wilicc/gpu-burn #92": (
        {
            "probes": {"cuda_probe": "Couldn't init CUDA: Error (gpu_burn-drv.cpp:298): system not yet initialized", "fabricmanager_service": {"absent": True}},
            "stated": {"gpu": "8x NVIDIA H100 80GB HBM3"},
        },
        "driver.fabric_manager",
        ["fabric manager", "not installed", "802", "nvswitch"],
    ),
    "huggingface/huggingface_hub #4134": (
        {
            "probes": {
                "app_log": "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 802: system not yet initialized",
                "nvidia_smi_list": "GPU 0: NVIDIA H200 (UUID: GPU-1)",
            }
        },
        "driver.fabric_manager",
        ["fabric manager"],
    ),
    "wilicc/gpu-burn #141": (
        smi(
            "| NVIDIA-SMI 580.95.05              Driver Version: 580.95.05      CUDA Version: 13.0     |\n"
            "|   0  NVIDIA H100 NVL                On  |   00000000:33:00.0 Off |                    0 |",
            app_log="Couldn't init CUDA: system not yet initialized",
        ),
        "driver.fabric_manager",
        ["802", "uvm_disable_hmm", "580.95.05"],
    ),
    # -- vGPU
    "DDMAL/Rodan #1332": (
        {
            "probes": {
                "app_log": "InternalError: CUDA runtime implicit initialization on GPU:0 failed. Status: all CUDA-capable devices are busy or unavailable"
            },
            "stated": {"gpu": "GRID V100D-8C"},
        },
        "driver.vgpu_licence",
        ["vgpu", "unlicensed", "gridd"],
    ),
    "NVIDIA/gpu-operator #220": (
        {
            "probes": {
                "nvidia_smi_q": "    vGPU Software Licensed Product\n        Product Name                      : NVIDIA Virtual Compute Server\n        "
                "License Status                    : Unlicensed"
            }
        },
        "driver.vgpu_licence",
        ["unlicensed", "gridd"],
    ),
    "Code 43 with guest 582.42 on host 535.161.05": (
        {
            "probes": {
                "journal": "nvidia-vgpu-mgr[2732]: error: vmiop_log: (0x0): Incompatible Guest/Host drivers: Guest VGX version is newer than the "
                "maximum version supported by the Host. Disabling vGPU."
            }
        },
        "driver.vgpu_versions",
        ["guest", "host", "same vgpu release"],
    ),
    # -- hardware
    "akash-network/support #244": (
        dmesg(
            "[Mon Aug  5 03:54:13 2024] NVRM: Xid (PCI:0000:00:07): 31, pid=2512125, name=python3.10, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS",
            "[Fri Aug  9 13:32:56 2024] NVRM: Xid (PCI:0000:00:08): 94, pid='<unknown>', name=<unknown>, Contained: SM (0x1). RST: No, D-RST: No",
        ),
        "hardware.uncorrectable_memory_error",
        ["xid 94", "0000:00:08", "reset"],
    ),
    "NVIDIA/k8s-device-plugin #243": (
        smi(
            "|   0  Tesla V100S-PCI...  Off  | 00000000:00:07.0 Off |                    0 |\n| N/A   50C    P0   219W / 250W |   4617MiB / 32510MiB |  "
            "  100%      Default |\n"
            "|   1  Tesla V100S-PCI...  Off  | 00000000:00:08.0 Off |                    1 |\n| N/A   50C    P0   219W / 250W |   4617MiB / 32510MiB |  "
            "  100%      Default |"
        ),
        "hardware.uncorrectable_memory_error",
        ["ecc", "0000:00:08.0"],
    ),
    "device plugin, Xid 48": (
        {"probes": {"device_plugin_log": "I0101 health.go:159] XidCriticalError: Xid=48 on Device=GPU-aaaa; marking device as unhealthy."}},
        "hardware.uncorrectable_memory_error",
        ["xid 48", "gpu-aaaa"],
    ),
    "awslabs/awsome-distributed-ai #1190": (
        dmesg("NVRM: Xid (PCI:0000:3b:00): 64, pid=1, Row Remapper Error: (0x0) - All reserved rows for bank are remapped"),
        "hardware.row_remapping_failed",
        ["xid 64", "rma"],
    ),
    "retired pages pending": (
        {
            "probes": {
                "nvidia_smi_q": "    Retired Pages\n        Single Bit ECC                    : 0\n        Double Bit ECC                    : 2\n      "
                "  Pending Page Blacklist            : Yes\n"
            }
        },
        "hardware.row_remapping_pending",
        ["pending", "reset"],
    ),
    "remapped rows in XML": (
        {
            "probes": {
                "nvidia_smi_xml": '<nvidia_smi_log><gpu id="00000000:3B:00.0"><remapped_rows>'
                "<remapped_row_unc>2</remapped_row_unc><remapped_row_pending>Yes</remapped_row_pending>"
                "<remapped_row_failure>No</remapped_row_failure></remapped_rows></gpu></nvidia_smi_log>"
            }
        },
        "hardware.row_remapping_pending",
        ["0000:3b:00.0", "remap"],
    ),
    "NVIDIA/open-gpu-kernel-modules #1355": (
        dmesg("kernel: NVRM: Xid (PCI:0000:66:00): 145, RLW_REMAP Fatal XC0 i0 Link 13 (0x0409a0c2 0x00000008 0x00000001 0x00000000 0x00100000 0x00000004)"),
        "hardware.nvlink_errors",
        ["nvlink", "0000:66:00", "reset"],
    ),
    "one link down on an SXM board": (
        {"probes": {"nvidia_smi_nvlink": "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n\t Link 0: <inactive>\n\t Link 1: 26.562 GB/s\n"}},
        "hardware.nvlink_errors",
        ["nvlink", "link 0", "reset"],
    ),
    "old wording of Xid 79": (dmesg("NVRM: Xid (0000:03:00): 79, GPU has fallen off the bus."), "hardware.gpu_fell_off_the_bus", ["off the bus", "power"]),
    "lost GPU": (
        smi("Unable to determine the device handle for GPU 0000:09:00.0: GPU is lost.  Reboot the system to recover this GPU", 15),
        "hardware.gpu_fell_off_the_bus",
        ["lost", "power-cycle"],
    ),
    "NVIDIA/dcgm-exporter #604": (
        smi("Unable to determine the device handle for GPU0000:BA:00.0: Unknown Error", 255),
        "hardware.gpu_in_error_state",
        ["0000:ba:00.0", "unknown error", "reset"],
    ),
    "GPU requires reset": (
        {"probes": {"nvidia_smi_query": "index, name, temperature.gpu\n0, NVIDIA A100-SXM4-80GB, 31\n3, NVIDIA A100-SXM4-80GB, [GPU requires reset]"}},
        "hardware.gpu_in_error_state",
        ["gpu 3", "reset"],
    ),
    "recovery action": (
        {"probes": {"nvidia_smi_q": "GPU 00000000:1B:00.0\n    GPU Recovery Action                   : Reset\n"}},
        "hardware.gpu_in_error_state",
        ["0000:1b:00.0", "reset"],
    ),
    "BAR0 of an RTX PRO 6000": (
        dmesg(
            "[    5.015146] NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:", "               NVRM: BAR0 is 0M @ 0x0 (PCI:0000:c1:00.0)"
        ),
        "hardware.bar_has_address_space",
        ["bar0", "pci=realloc", "above 4g"],
    ),
    "power brake": (
        {
            "probes": {
                "nvidia_smi_q": "    Clocks Throttle Reasons\n        Idle                              : Not Active\n        HW Slowdown               "
                "        : Active\n            HW Thermal Slowdown           : Not Active\n            HW Power Brake Slowdown       : Active\n"
            }
        },
        "hardware.hw_slowdown",
        ["power brake", "power suppl"],
    ),
    "narrow link by query": (
        {"probes": {"nvidia_smi_query": "index, pcie.link.width.current, pcie.link.width.max\n0, 4, 16\n1, 16, 16"}},
        "hardware.pcie_link",
        ["x4 of x16", "reseat"],
    ),
    "NVIDIA/open-gpu-kernel-modules #1134": (
        dmesg("NVRM: Xid (PCI:0000:0b:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"),
        "hardware.gpu_in_error_state",
        ["node reboot required", "0000:0b:00"],
    ),
    "bryansteiner/gpu-passthrough-tutorial #39": (
        dmesg("[   87.412759] nvidia 0000:01:00.0: Unable to change power state from D3cold to D0, device inaccessible"),
        "hardware.gpu_fell_off_the_bus",
        ["inaccessible", "power"],
    ),
    "NVIDIA/nvidia-container-toolkit #416": (
        run(HOOK.format("detection error: nvml error: unknown error")),
        "hardware.gpu_in_error_state",
        ["error state", "reset", "every container"],
    ),
    "microsoft/pai #4344": (
        dmesg(
            "[   38.773115] NVRM: RmInitAdapter failed! (0x26:0xffff:1127)",
            "[   38.773764] NVRM: rm_init_adapter failed for device bearing minor number 0",
            nvidia_smi_list="GPU 0: Tesla P40 (UUID: GPU-1)\nGPU 1: Tesla P40 (UUID: GPU-2)\nGPU 2: Tesla P40 (UUID: GPU-3)\n",
        ),
        "hardware.gpu_initialises",
        ["rminitadapter", "power-cycle"],
    ),
    "NVIDIA/nvidia-docker #1380": (
        run(HOOK.format("detection error: nvml error: function not found"), stated={"driver_version": "340.108"}),
        "driver.new_enough_for_toolkit",
        ["340.108", "too old", "upgrade"],
    ),
    "hook relays a lost GPU": (run(HOOK.format("detection error: nvml error: gpu is lost")), "hardware.gpu_fell_off_the_bus", ["gpu is lost"]),
    "substratusai/runbooks #37": (
        {"probes": {"pod_log": "W0625 05:36:32.745071    5389 install.go:488] Driver version 470.182.03 doesn't support L4 GPU devices."}},
        "driver.branch_serves_gpu",
        ["470.182.03", "l4", "too old"],
    ),
    "NVIDIA/gpu-operator #2781": (
        {
            "probes": {
                "journal": "nv-fabricmanager[9]: request to query NVSwitch device information from NVSwitch driver failed with error:WARNING Nothing to do "
                "[NV_WARN_NOTHING_TO_DO]",
                "app_log": "CUDA initialization: Error 802: system not yet initialized",
                "fabricmanager_service": "failed",
            },
            "stated": {"gpu": "8x B200", "platform": "p6-b200.48xlarge"},
        },
        "driver.fabric_manager",
        ["nvlsm", "ib_umad", "802"],
    ),
    # -- installation
    "no driver at all": (
        {"probes": {"nvidia_smi": {"absent": True}, "lsmod": {"content": "overlay 1 0", "complete": True}}},
        "driver.is_installed",
        ["no nvidia driver", "host"],
    ),
    "WSL 2 without a Windows driver": (
        {
            "probes": {
                "uname_r": "5.15.90.1-microsoft-standard-WSL2",
                "nvidia_smi": {"stdout": "Failed to initialize NVML: GPU access blocked by the operating system", "rc": 255},
            }
        },
        "driver.windows_driver_serves_wsl",
        ["windows", "wsl"],
    ),
    "MIG without instances": (
        {
            "probes": {
                "nvidia_smi_query": "index, name, uuid, pci.bus_id, mig.mode.current\n0, NVIDIA A100, GPU-1, 00000000:07:00.0, Enabled",
                "nvidia_smi_list": "GPU 0: NVIDIA A100 (UUID: GPU-1)",
            }
        },
        "driver.mig_instances",
        ["mig", "-cgi"],
    ),
}


def blamed(evidence):
    judged = judge({"schema": "goldnode.evidence/v1", **evidence})
    found = [finding for finding in judged.findings if finding.verdict == FAIL and finding.layer == judged.first_broken_layer]
    return found[0] if found else None


@pytest.mark.parametrize("report", REPORTS)
def test_a_report_is_understood(report):
    evidence, rule, words = REPORTS[report]
    found = blamed(evidence)
    assert found and found.rule == rule, found
    said = f"{found.cause} {found.remedy}".lower()
    assert not [word for word in words if word not in said], said


HARMLESS = {
    "an application's Xid 31 and 43": dmesg(
        "NVRM: Xid (PCI:0000:00:07): 31, pid=2512125, name=python3.10, MMU Fault: ENGINE GRAPHICS",
        "NVRM: Xid (PCI:0000:00:05): 43, pid=1045242, name=pt_main_thread, Ch 00000008",
    ),
    "Xid 13 from an illegal access": dmesg("NVRM: Xid (PCI:0000:65:00): 13, pid=77, Graphics SM Warp Exception on (GPC 0, TPC 0, SM 0): Out Of Range Address"),
    "a non-fatal SXid": dmesg("nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 28002, Non-fatal, Link 46"),
    "a non-fatal NVLink event": dmesg("NVRM: Xid (PCI:0000:01:00): 144, SAW_MVB Nonfatal XC0 i0 Link 0 (0x00000001 0x00000008)"),
    "a taint": dmesg(
        "nvidia: module license 'NVIDIA' taints kernel.", "nvidia: module verification failed: signature and/or required key missing - tainting kernel"
    ),
    "fabric manager without NVSwitch (data-infra/cube-studio #29)": {
        "probes": {
            "journal": "nvidia-fabricmanager-start.sh[4756]: request to query NVSwitch device information from NVSwitch driver failed with "
            "error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]",
            "fabricmanager_service": "failed",
        },
        "stated": {"gpu": "2x RTX 4090"},
    },
    "an idle link of the first generation": {
        "probes": {
            "nvidia_smi_q": "GPU 00000000:01:00.0\n    PCI\n        GPU Link Info\n            PCIe Generation\n                Max : 4\n               "
            " Current : 1\n            Link Width\n                Max : 16x\n                Current : 16x"
        }
    },
    "no NVLink on a PCIe board": {"probes": {"nvidia_smi_nvlink": "NVML: Unable to retrieve NVLink information as all links are inActive"}},
    "a mismatch of a container's own library": {
        **smi("| NVIDIA-SMI 550.54.14   Driver Version: 550.54.14   CUDA Version: 12.4 |"),
        "runs": [{"engine": "docker", "stdout": "Failed to initialize NVML: Driver/library version mismatch", "rc": 18}],
    },
    "Jetson": {"probes": {"uname_r": "5.10.104-tegra", "nvidia_smi": {"absent": True}, "lsmod": {"content": "nvgpu 1 0", "complete": True}}},
    "only an unknown device in a container (nvidia-container-toolkit #69)": run("Unable to determine the device handle for GPU0000:65:00.0: Unknown Error"),
    "device plugin that sees no GPU": {"probes": {"device_plugin_log": "No devices found. Waiting indefinitely."}},
    "device plugin without NVML": {"probes": {"device_plugin_log": "Failed to initialize NVML: could not load NVML library."}},
    "an image with a driver of its own (libnvidia-container #266)": {
        "probes": {"container_ls_libs": "libnvidia-ml.so.470.129.06  libnvidia-ml.so.525.105.17"},
        "runs": [{"engine": "docker", "stdout": "Failed to initialize NVML: Driver/library version mismatch", "rc": 18}],
    },
    "persistence off, nothing waits": {"probes": {"nvidia_smi_query": "persistence_mode\nDisabled"}},
}


@pytest.mark.parametrize("case", HARMLESS)
def test_what_looks_like_a_fault_of_the_host_is_not_blamed_on_it(case):
    judged = judge({"schema": "goldnode.evidence/v1", **HARMLESS[case]})
    assert not [finding for finding in judged.findings if finding.verdict == FAIL and finding.layer in (HARDWARE, DRIVER)]


def test_an_applications_xid_is_explained():
    judged = judge({"schema": "goldnode.evidence/v1", **HARMLESS["an application's Xid 31 and 43"]})
    said = next(finding.cause for finding in judged.findings if finding.rule == "hardware.gpu_error")
    assert "Xid 31 (GPU memory page fault)" in said and "no fault of the node" in said
