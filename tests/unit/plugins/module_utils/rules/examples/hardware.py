"""Examples of the rules of layer hardware: PASSING makes a rule pass that does not apply to the good node, FAILING makes it fail."""

from ..changes import text


def log(*lines):
    """Lines at the end of the kernel log."""
    return text("dmesg", "taints kernel.", "taints kernel.\n" + "\n".join(lines))


def smi_q(old, new):
    """A change of nvidia-smi's log."""
    return text("nvidia_smi_q", old, new)


PASSING = {}

FAILING = {
    "hardware.gpu_count": text("lspci_nnk", "0000:65:00.0 [0302]: [10de:2236]\n\tKernel driver in use: nvidia\n", ""),
    "hardware.gpu_model": text("lspci_nnk", "0000:65:00.0 [0302]: [10de:2236]", "0000:65:00.0 [0302]: [10de:20b5]"),
    "hardware.gpu_fell_off_the_bus": log("[ 99.1] NVRM: Xid (PCI:0000:17:00): 79, pid=1, GPU has fallen off the bus."),
    "hardware.bar_has_address_space": log(
        "[ 5.0] NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:", "               NVRM: BAR0 is 0M @ 0x0 (PCI:0000:c1:00.0)"
    ),
    "hardware.pcie_errors": log("[ 7.0] nvidia 0000:17:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Requester ID)"),
    "hardware.pcie_link": smi_q("Current                   : 16x", "Current                   : 8x"),
    "hardware.power_connected": log("[ 5.0] NVRM: GPU 0000:17:00.0: GPU does not have the necessary power cables connected."),
    "hardware.hw_slowdown": smi_q("HW Power Brake Slowdown       : Not Active", "HW Power Brake Slowdown       : Active"),
    "hardware.row_remapping_failed": smi_q("Remapping Failure Occurred        : No", "Remapping Failure Occurred        : Yes"),
    "hardware.row_remapping_pending": smi_q("Pending                           : No", "Pending                           : Yes"),
    "hardware.uncorrectable_memory_error": log(
        "[ 9.0] NVRM: Xid (PCI:0000:17:00): 94, pid='<unknown>', name=<unknown>, Contained: SM (0x1). RST: No, D-RST: No"
    ),
    "hardware.nvlink_errors": log("[ 9.0] NVRM: Xid (PCI:0000:17:00): 74, pid=7, name=python3, NVLink: fatal error detected on link 6(0x10000, 0x0)"),
    "hardware.nvswitch_errors": log("[ 9.0] nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 46 LTSSM Fault Up"),
    "hardware.gpu_error": log("[ 9.0] NVRM: Xid (PCI:0000:17:00): 62, pid=9, 0000(0000) 00000000 00000000"),
    "hardware.gpu_in_error_state": text("nvidia_smi_query", "0, NVIDIA A10", "0, [Unknown Error]"),
    "hardware.gpu_initialises": log("[ 9.0] NVRM: GPU 0000:ca:00.0: RmInitAdapter failed! (0x24:0x72:1568)"),
    "hardware.inforom": text("nvidia_smi", "+----------------------+", "+----------------------+\nWARNING: infoROM is corrupted at gpu 0000:17:00.0"),
}
