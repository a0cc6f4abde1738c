"""Examples of the rules of layer driver: PASSING makes a rule pass that does not apply to the good node, FAILING makes it fail."""

from ..changes import both, form, pin, ran, text
from .hardware import log, smi_q

SLICE = "GPU {0}: NVIDIA A100 (UUID: GPU-1{0})\n  MIG 1g.10gb     Device  0: (UUID: MIG-{0})\n"
MIG = both(
    pin("mig", value={"profile": "all-1g.10gb"}),
    form("nvidia_smi_list", stdout=SLICE.format(0) + SLICE.format(1), rc=0),
    form("ls_dev_nvidia_caps", stdout="cr--r--r-- 1 0 0 241, 3 Nov 30 20:00 /dev/nvidia-caps/nvidia-cap3\n", rc=0),
)
SWITCH = text("lspci_nnk", "0000:00:00.0 [0600]: [8086:0d57]", "0000:c0:00.0 [0680]: [10de:22a3]")

NOT_LOADED = both(
    form("proc_driver_nvidia_version", absent=True),
    form("lsmod", content="overlay 217088 0 - Live 0x0\n", complete=True),
    text("dmesg", "[    4.200000] NVRM: loading", "[    4.200000] nvidia: disagrees about version of symbol module_layout\n[    4.3] x"),
)


def stated(**values):
    """Values that somebody stated."""
    return lambda evidence, lock: evidence.setdefault("stated", {}).update(values)


MISMATCH = form("nvidia_smi", stdout="Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.144\n", rc=18)
LICENCE = smi_q(
    "    Persistence Mode", "    vGPU Software Licensed Product\n        License Status                    : Licensed (Expiry: 2027-1-1)\n    Persistence Mode"
)
WSL = stated(platform="WSL2")
LIBRARIES = form("ls_driver_libs", stdout="/usr/lib/x86_64-linux-gnu/libcuda.so.550.163.01\n", rc=0)
MIG_MODE = both(MIG, text("nvidia_smi_query", "Enabled, [N/A]", "Enabled, Enabled"))
GUEST = both(stated(driver_installer="NVIDIA-Linux-x86_64-535.54.06-vgpu-kvm.run"), form("app_log", stdout="cudaGetDeviceCount returned 35\n", rc=1))

PASSING = {
    "driver.imex": form("imex_service", stdout="LoadState=loaded\nActiveState=active\n", rc=0),
    "driver.mig_profile": MIG,
    "driver.mig_instances": MIG_MODE,
    "driver.fabric_manager": SWITCH,
    "driver.vgpu_licence": LICENCE,
    "driver.windows_driver_serves_wsl": WSL,
    "driver.one_installation": LIBRARIES,
    "driver.works_where_another_did": stated(jobs_on_driver_550_163_01="fine"),
    "driver.vgpu_guest_driver": stated(driver_installer="NVIDIA-Linux-x86_64-535.54.03-grid.run"),
    "driver.vgpu_versions": log("nvidia-vgpu-mgr[9]: notice: vmiop_log: ######## Guest NVIDIA Driver Information: ########"),
}

FAILING = {
    "driver.module_kind_fits_gpu": log(
        "[ 5.5] NVRM: The NVIDIA GPU 0000:02:00.0 (PCI ID: 10de:2c58)", "       NVRM: installed in this system requires use of the NVIDIA open kernel modules."
    ),
    "driver.branch_serves_gpu": log(
        "[ 5.5] NVRM: The NVIDIA GeForce GTX 870M GPU installed in this system is",
        "       NVRM:  supported through the NVIDIA 470.xx Legacy drivers. Please",
        "       NVRM:  visit http://www.nvidia.com/object/unix.html for more",
        "       NVRM:  information.  The 535.54.03 NVIDIA driver will ignore",
        "       NVRM:  this GPU.  Continuing probe...",
    ),
    "driver.new_enough_for_toolkit": form("pod_events", stdout="nvidia-container-cli: detection error: nvml error: function not found: unknown", rc=0),
    "driver.works_where_another_did": stated(same_jobs_on_driver_535_183_01="fine"),
    "driver.vgpu_licence": both(LICENCE, smi_q("Licensed (Expiry: 2027-1-1)", "Unlicensed (Restricted)")),
    "driver.vgpu_guest_driver": GUEST,
    "driver.vgpu_versions": log(
        "nvidia-vgpu-mgr[9]: error: vmiop_log: (0x0): Incompatible Guest/Host drivers: Guest VGX version is newer than the maximum version"
    ),
    "driver.library_version_mismatch": MISMATCH,
    "driver.one_installation": both(MISMATCH, form("ls_driver_libs", stdout="/usr/lib/libcuda.so.550.163.01\n/usr/lib64/libcuda.so.535.54.03\n", rc=0)),
    "driver.packages_of_one_version": text("dpkg_l", "hi  libcuda1 550.163.01", "hi  libcuda1 550.144.03"),
    "driver.windows_driver_serves_wsl": form("nvidia_smi", stdout="Failed to initialize NVML: GPU access blocked by the operating system\n", rc=255),
    "driver.is_installed": both(form("nvidia_smi", absent=True), form("ls_driver_libs", absent=True)),
    "driver.module_options": log("[ 4.1] nvidia: `banana' invalid for parameter `NVreg_EnableGpuFirmware'"),
    "driver.module_does_not_load": NOT_LOADED,
    "driver.gsp_firmware_present": log("[ 4.1] nvidia 0000:17:00.0: Direct firmware load for nvidia/550.163.01/gsp_ga10x.bin failed with error -2"),
    "driver.gsp_answers": log("[ 4.1] NVRM: Xid (PCI:0000:17:00): 119, pid=7, name=nvidia-smi, Timeout waiting for RPC from GSP!"),
    "driver.initialises_gpus": both(
        log("[ 4.1] NVRM: GPU 0000:17:00.0: RmInitAdapter failed! (0x26:0x56:1463)"),
        form("nvidia_smi", stdout="No devices were found\n", rc=6),
        form("nvidia_smi_query", stdout="No devices were found\n", rc=6),
        form("nvidia_smi_list", stdout="No devices found.\n", rc=6),
    ),
    "driver.version_is_pinned": text("proc_driver_nvidia_version", "550.163.01", "550.144.03"),
    "driver.module_flavour": text("proc_driver_nvidia_version", "UNIX Open Kernel Module for x86_64", "UNIX x86_64 Kernel Module"),
    "driver.all_gpus_served": text("nvidia_smi_query", "00000000:65:00.0", "00000000:17:00.0"),
    "driver.mig_profile": both(MIG, text("nvidia_smi_list", "1g.10gb     Device  0: (UUID: MIG-1)", "2g.20gb     Device  0: (UUID: MIG-1)")),
    "driver.mig_instances": text("nvidia_smi_query", "Enabled, [N/A]", "Enabled, Enabled"),
    "driver.finds_a_gpu": form("nvidia_smi", stdout="No devices were found\n", rc=6),
    "driver.cuda_library": text("nvidia_smi", "CUDA Version: 12.4 ", "CUDA Version: N/A  "),
    "driver.fabric_manager": both(SWITCH, text("fabricmanager_service", "ActiveState=active", "ActiveState=failed")),
    "driver.persistence": both(
        text("nvidia_smi_query", "23028 MiB, Enabled", "23028 MiB, Disabled"),
        form("pod_events", stdout="nvidia-container-cli: initialization error: driver rpc error: timed out: unknown\n", rc=0),
    ),
    "driver.imex": form("imex_service", stdout="LoadState=loaded\nActiveState=failed\n", rc=0),
    "driver.persistence_daemon": text("persistenced_service", "ActiveState=active", "ActiveState=failed"),
    "driver.codec_libraries": both(
        ran("[h264_nvenc @ 0x55] Cannot load libnvidia-encode.so.1", rc=1),
        lambda evidence, lock: evidence.update(stated={"dpkg_has_libnvidia_encode1": False}),
    ),
    "driver.cuda_init_on_host": text("cuda_probe", '"ok": true', '"ok": false'),
    "driver.package_versions": text("dpkg_l", "libcuda1 550.163.01", "libcuda1 550.144.03"),
    "driver.packages_held": text("dpkg_l", "hi  libcuda1", "ii  libcuda1"),
}
