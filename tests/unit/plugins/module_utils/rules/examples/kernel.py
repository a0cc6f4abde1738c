"""Examples of the rules of layer kernel: PASSING makes a rule pass that does not apply to the good node, FAILING makes it fail."""

from ..changes import form, text

PASSING = {}

FAILING = {
    "kernel.os_is_wanted": text("os_release", 'VERSION_ID="13"', 'VERSION_ID="12"'),
    "kernel.running_is_wanted": text("kernel_release", "6.12.107", "6.12.117"),
    "kernel.boot_default_is_wanted": text("default_boot_kernel", 'set default="0"', 'set default="1"'),
    "kernel.headers_present": form("linux_headers", absent=True),
    "kernel.module_built_for_kernel": form("modinfo_nvidia", stdout="", stderr="modinfo: ERROR: Module nvidia not found.\n", rc=1),
    "kernel.other_driver_holds_gpu": text("lspci_nnk", "in use: nvidia", "in use: vfio-pci"),
    "kernel.nouveau_blocked": form("modprobe_d", absent=True),
    "kernel.package_versions": text("dpkg_l", "linux-headers-6.12.107+deb13-amd64 6.12.107-1+", "linux-headers-6.12.107+deb13-amd64 6.12.107-2+"),
    "kernel.packages_held": text("dpkg_l", "hi  linux-headers", "ii  linux-headers"),
}
