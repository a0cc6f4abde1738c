"""Examples of the rules of layer device_nodes: PASSING makes a rule pass that does not apply to the good node, FAILING makes it fail."""

from ..changes import both, form, text
from .driver import MIG

LXC = "lxc.cgroup2.devices.allow: c 195:* rwm\nlxc.cgroup2.devices.allow: c 508:* rwm\n"
UVM = "nvidia_uvm 4194304 0 - Live 0x0000000000000000 (OE)\n"

PASSING = {
    "device_nodes.mig_capabilities": MIG,
    "device_nodes.allowed_majors": form("lxc_config", content=LXC),
}

FAILING = {
    "device_nodes.present": text("ls_dev_nvidia", "crw-rw-rw- 1 0 0 195, 1 Nov 30 20:00 /dev/nvidia1\n", ""),
    "device_nodes.uvm_loaded": both(
        text("lsmod", UVM, ""), text("proc_devices", "508 nvidia-uvm\n", ""), text("cuda_probe", "CUDA_SUCCESS", "CUDA_ERROR_UNKNOWN")
    ),
    "device_nodes.major": text("ls_dev_nvidia", "508, 0", "507, 0"),
    "device_nodes.allowed_majors": form("lxc_config", content=LXC.replace("508", "509")),
    "device_nodes.mode": text("ls_dev_nvidia", "crw-rw-rw- 1 0 0 195, 0", "crw-rw---- 1 0 44 195, 0"),
    "device_nodes.mig_capabilities": both(MIG, form("ls_dev_nvidia_caps", absent=True)),
}
