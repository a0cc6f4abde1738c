"""Examples of the rules of layer driver: PASSING makes a rule pass that does not apply to the good node, FAILING makes it fail."""

from ..changes import both, form, pin, text

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


PASSING = {
    "driver.mig_profile": MIG,
    "driver.fabric_manager": SWITCH,
}

FAILING = {
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
}
