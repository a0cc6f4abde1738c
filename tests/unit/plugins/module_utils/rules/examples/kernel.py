"""Examples of the rules of layer kernel: PASSING makes a rule pass that does not apply to the good node, FAILING makes it fail."""

from ..changes import both, form, text

RELEASE = "6.12.107+deb13-amd64"
LOG = f"DKMS make.log for nvidia-550.163.01 for kernel {RELEASE} (x86_64)\nmake[1]: Entering directory '/usr/src/linux-headers-{RELEASE}'\n"


def build(*lines):
    """A log of the module's build for the running kernel."""
    return form("dkms_build_log", content=LOG + "\n".join(lines) + "\n")


NOT_LOADED = both(form("proc_driver_nvidia_version", absent=True), form("lsmod", content="overlay 217088 0 - Live 0x0\n", complete=True))
NO_MODULE = form("modinfo_nvidia", stdout="", stderr="modinfo: ERROR: Module nvidia not found.\n", rc=1)


def refused(line):
    """The module is not loaded, and the kernel's log says why."""
    return both(NOT_LOADED, text("dmesg", "[    4.200000] NVRM: loading", f"[    4.200000] {line}\n[    4.3] x"))


PASSING = {f"kernel.build_{kind}": build("  LD [M]  nvidia.ko") for kind in ("resources", "compiler", "headers", "kernel_kind", "tools", "sources")}

FAILING = {
    "kernel.os_is_wanted": text("os_release", 'VERSION_ID="13"', 'VERSION_ID="12"'),
    "kernel.running_is_wanted": text("kernel_release", "6.12.107", "6.12.117"),
    "kernel.boot_default_is_wanted": text("default_boot_kernel", 'set default="0"', 'set default="1"'),
    "kernel.build_resources": build("/tmp/ccX.s: fatal error: error writing to /tmp/ccX.s: No space left on device"),
    "kernel.build_compiler": build("cc: error: unrecognized command-line option '-ftrivial-auto-var-init=zero'"),
    "kernel.build_headers": build(f"make[1]: *** /lib/modules/{RELEASE}/build: No such file or directory.  Stop."),
    "kernel.build_kernel_kind": build("The kernel you are installing for is a PREEMPT_RT kernel!"),
    "kernel.build_tools": build("/bin/sh: 1: bc: not found"),
    "kernel.build_sources": build("nvidia/nv-mmap.c:1: error: implicit declaration of function 'phys_to_dma' [-Wimplicit-function-declaration]"),
    "kernel.module_signature": refused("Loading of unsigned module is rejected"),
    "kernel.module_matches_kernel": refused("nvidia: version magic '6.12.90+deb13-amd64 SMP preempt' should be '6.12.107+deb13-amd64 SMP preempt'"),
    "kernel.module_symbols": refused("nvidia: Unknown symbol ipmi_create_user (err -2)"),
    "kernel.module_not_blocked": both(NOT_LOADED, form("modprobe_d", **{"/etc/modprobe.d/prime.conf": "blacklist nouveau\nblacklist nvidia\n"})),
    "kernel.branch_tracking": text(
        "dmesg", "[    4.200000] NVRM: loading", "[    4.200000] traps: Missing ENDBR: _portMemAllocator+0x0/0x10 [nvidia]\n[    4.3] x"
    ),
    "kernel.packages_configured": text("dpkg_l", "hi  nvidia-open-kernel-dkms", "hF  nvidia-open-kernel-dkms"),
    "kernel.headers_present": form("linux_headers", absent=True),
    "kernel.module_built_for_kernel": NO_MODULE,
    "kernel.other_driver_holds_gpu": text("lspci_nnk", "in use: nvidia", "in use: vfio-pci"),
    "kernel.nouveau_blocked": form("modprobe_d", absent=True),
    "kernel.package_versions": text("dpkg_l", "linux-headers-6.12.107+deb13-amd64 6.12.107-1+", "linux-headers-6.12.107+deb13-amd64 6.12.107-2+"),
    "kernel.packages_held": text("dpkg_l", "hi  linux-headers", "ii  linux-headers"),
}
