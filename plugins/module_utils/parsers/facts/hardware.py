# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is on PCI and what the kernel says about it."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import linux
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import Base, fact


class HardwareFacts(Base):
    """What is on PCI and what the kernel says about it."""

    @fact
    def pci_devices(self) -> tuple[linux.PciDevice, ...]:
        """Every PCI device."""
        return linux.pci_devices(self.need("lspci_nnk"))

    @fact
    def pci_gpus(self) -> tuple[linux.PciDevice, ...]:
        """NVIDIA's VGA (0300) and 3D (0302) controllers."""
        devices: tuple[linux.PciDevice, ...] = self.known(self.pci_devices)
        return tuple(device for device in devices if device.identifier.startswith("10de:") and device.kind in ("0300", "0302"))

    @fact
    def kernel_log(self) -> tuple[str, ...]:
        """The lines of the kernel's log."""
        return tuple(self.need("dmesg").splitlines())
