# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The running kernel, its modules, headers, packages and next boot."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import linux
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import fact
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.hardware import HardwareFacts


class KernelFacts(HardwareFacts):
    """The running kernel, its modules, headers, packages and next boot."""

    @fact
    def os(self) -> dict[str, str] | None:
        """os-release, by key."""
        return linux.key_values(self.need("os_release"))

    @fact
    def kernel_release(self) -> str:
        """The running kernel."""
        return (self.bundle.text("kernel_release") or self.need("uname_r")).strip()

    @fact
    def modules(self) -> frozenset[str]:
        """The loaded kernel modules; a kernel without loadable modules has no list, and none is loaded."""
        return frozenset() if self.bundle.absent("lsmod") else linux.modules(self.need("lsmod"))

    @fact
    def packages(self) -> dict[str, linux.Package]:
        """dpkg's packages by name, also those that are only held or half removed."""
        return linux.packages(self.need("dpkg_l"))

    @fact
    def dkms_modules(self) -> tuple[linux.DkmsModule, ...]:
        """What DKMS has registered and built; nothing where dkms is not installed."""
        return () if self.bundle.absent("dkms_status") else linux.dkms(self.need("dkms_status"))

    @fact
    def module_on_disk(self) -> dict[str, str]:
        """modinfo of the nvidia module that the running kernel would load; empty when it finds none."""
        if self.bundle.rc("modinfo_nvidia"):
            return {} if "not found" in (self.bundle.output("modinfo_nvidia") or "") else self.known(None)
        return linux.modinfo(self.need("modinfo_nvidia"))

    @fact
    def boot_kernels(self) -> frozenset[str]:
        """Releases with an image in /boot."""
        return frozenset() if self.bundle.absent("boot_kernels") else linux.kernel_images(self.need("boot_kernels"))

    @fact
    def header_kernels(self) -> frozenset[str]:
        """Releases with a build directory to build modules against."""
        return frozenset() if self.bundle.absent("linux_headers") else linux.header_kernels(self.need("linux_headers"))

    @fact
    def default_boot_kernel(self) -> str | None:
        """The release that the next boot starts."""
        return linux.default_kernel(self.need("default_boot_kernel"), self.bundle.text("grubenv"))

    @fact
    def nouveau_blocked(self) -> bool:
        """Whether modprobe's configuration or the command line keeps nouveau out."""
        texts = list(self.known(self.bundle.files("modprobe_d")).values())
        return any(linux.blocks(text, "nouveau") for text in texts) or "nouveau" in linux.blocked_on_command_line(self.bundle.text("kernel_cmdline") or "")
