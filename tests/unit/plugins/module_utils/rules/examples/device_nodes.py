"""Examples of the rules of layer device_nodes: PASSING makes a rule pass that does not apply to the good node, FAILING makes it fail."""

from ..changes import both, form, text
from .driver import MIG

UVM = "nvidia_uvm 4194304 0 - Live 0x0000000000000000 (OE)\n"

CAPABILITIES = "/proc/driver/nvidia/capabilities/gpu{0}/mig/gi7"
ACCESS = "DeviceFileMinor: {}\nDeviceFileMode: 292\nDeviceFileModify: 1\n"
# The driver's own list of a GPU whose only slice nvidia-smi does not list, since the second of its nodes is missing.
MIG_NODE_MISSING = both(
    MIG,
    text("nvidia_smi_query", "Enabled, [N/A]", "Enabled, Enabled"),
    text("nvidia_smi_list", "  MIG 1g.10gb     Device  0: (UUID: MIG-1)\n", ""),
    text("cuda_probe", '"ok": true', '"ok": false'),
    form(
        "proc_driver_nvidia_capabilities",
        **{CAPABILITIES.format(1) + "/access": ACCESS.format(201), CAPABILITIES.format(1) + "/ci0/access": ACCESS.format(202)},
    ),
    form("ls_dev_nvidia_caps", stdout="cr--r--r-- 1 0 0 241, 201 Nov 30 20:00 /dev/nvidia-caps/nvidia-cap201\n", rc=0, complete=True),
)

PASSING = {
    "device_nodes.mig_capabilities": MIG,
}

FAILING = {
    "device_nodes.present": text("ls_dev_nvidia", "crw-rw-rw- 1 0 0 195, 1 Nov 30 20:00 /dev/nvidia1\n", ""),
    "device_nodes.uvm_loaded": both(
        text("lsmod", UVM, ""), text("proc_devices", "508 nvidia-uvm\n", ""), text("cuda_probe", "CUDA_SUCCESS", "CUDA_ERROR_UNKNOWN")
    ),
    "device_nodes.major": text("ls_dev_nvidia", "508, 0", "507, 0"),
    "device_nodes.mode": text("ls_dev_nvidia", "crw-rw-rw- 1 0 0 195, 0", "crw-rw---- 1 0 44 195, 0"),
    "device_nodes.mig_capabilities": both(MIG, form("ls_dev_nvidia_caps", absent=True)),
}
