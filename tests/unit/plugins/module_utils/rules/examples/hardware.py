"""Examples of the rules of layer hardware: PASSING makes a rule pass that does not apply to the good node, FAILING makes it fail."""

from ..changes import text

PASSING = {}

FAILING = {
    "hardware.gpu_count": text("lspci_nnk", "0000:65:00.0 [0302]: [10de:2236]\n\tKernel driver in use: nvidia\n", ""),
    "hardware.gpu_model": text("lspci_nnk", "0000:65:00.0 [0302]: [10de:2236]", "0000:65:00.0 [0302]: [10de:20b5]"),
    "hardware.gpu_fell_off_the_bus": text(
        "dmesg", "taints kernel.", "taints kernel.\n[ 99.1] NVRM: Xid (PCI:0000:17:00): 79, pid=1, GPU has fallen off the bus."
    ),
}
