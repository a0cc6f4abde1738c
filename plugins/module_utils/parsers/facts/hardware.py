# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is on PCI and what the kernel says about it."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import linux, needles, nvidia_smi, nvrm, xid
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import Base, fact

# Probes that hold lines of the kernel log, and services' lines between them.
LOGS = ("dmesg", "kernel_log", "journal", "syslog", "nvidia_installer_log")
# Sources of messages that speak from inside a container or a pod, but for the lines of the hook, which runs on the host and relays what NVML says there.
INSIDE = ("run ", "pod_", "app_log")
HOOK = re.compile(r"nvidia-container-cli|nvidia-container-runtime|nvml error")
SMI = ("nvidia_smi", "nvidia_smi_list", "nvidia_smi_query", "nvidia_smi_q")


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

    @fact
    def system_log(self) -> str:
        """The kernel log and what services wrote, as far as it was collected."""
        return "\n".join(self.known([text for name in LOGS if (text := self.bundle.output(name))] or None))

    @fact
    def nvrm(self) -> str:
        """The sentences of the NVIDIA module and its services, without prefixes and line breaks."""
        return nvrm.sentences(self.known(self.system_log))

    @fact
    def xids(self) -> tuple[xid.Event, ...]:
        """Each Xid that the logs and the monitors name."""
        heard = [self.system_log, *(message.text for message in self.messages or ())]
        return xid.xids("\n".join(self.known([text for text in heard if text] or None)))

    @fact
    def sxids(self) -> tuple[xid.Event, ...]:
        """Each error of an NVSwitch."""
        return xid.sxids(self.known(self.system_log))

    @fact
    def smi_rows(self) -> tuple[nvidia_smi.Row, ...]:
        """The GPUs of nvidia-smi's table."""
        return nvidia_smi.table(self.need("nvidia_smi"))

    @fact
    def smi_logs(self) -> tuple[nvidia_smi.GpuLog, ...]:
        """The GPUs of nvidia-smi's log, from its text or its XML."""
        texts = [text for name in ("nvidia_smi_q", "nvidia_smi_xml") if (text := self.bundle.text(name))]
        return tuple(self.known([log for text in texts for log in nvidia_smi.log(text)] or None))

    @fact
    def smi_query(self) -> tuple[dict[str, str], ...]:
        """The rows of nvidia-smi's query, whatever was asked for."""
        return nvidia_smi.csv(self.need("nvidia_smi_query"))

    @fact
    def gpu_identities(self) -> dict[str, tuple[str, str]]:
        """Each GPU that is known, by PCI address or name -> PCI id (empty where not told) and name."""
        found = {gpu.address: (gpu.identifier, gpu.name) for gpu in self.pci_gpus or ()}
        return found or {name: ("", name) for name in [*(row.name for row in self.smi_rows or ()), self.stated("gpu")] if name}

    def stated(self, name: str) -> str:
        """Words that somebody stated; empty where nobody did."""
        return str(self.bundle.stated.get(name) or "")

    @fact
    def host_words(self) -> str:
        """The sentences of the NVIDIA module and of the host's services, what the host's tools said, and the lines of the hook."""
        spoken = (message.text if not message.source.startswith(INSIDE) else _of_hook(message.text) for message in self.messages or ())
        return "\n".join([self.nvrm or "", *spoken])

    def told(self, pattern: str) -> re.Match[str] | None:
        """Where the host says something; case does not matter."""
        return needles.search(pattern, self.host_words or "")

    def smi_says(self, pattern: str) -> re.Match[str] | None:
        """Where nvidia-smi on the host says something."""
        found = self.said(pattern, lambda source: source in SMI)
        return found[1] if found else None


def _of_hook(text: str) -> str:
    """The lines of the hook."""
    return "\n".join(line for line in text.splitlines() if HOOK.search(line))
