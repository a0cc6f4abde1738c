# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The loaded module, its user space, and the services of the driver."""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import linux, nvidia
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import fact
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.kernel import KernelFacts


class DriverFacts(KernelFacts):
    """The loaded module, its user space, and the services of the driver."""

    @fact
    def kernel_gpus(self) -> set[tuple[str, str]]:
        """PCI address and UUID of each GPU in the driver's procfs tree."""
        texts = self.known(self.bundle.files("proc_driver_nvidia_gpus"))
        return {(path.split("/")[-2].lower(), linux.colon_values(text)["GPU UUID"]) for path, text in texts.items()}

    @fact
    def loaded_module_version(self) -> str | None:
        """Version of the nvidia module in the kernel."""
        return nvidia.module_version(self.need("proc_driver_nvidia_version"))

    @fact
    def loaded_module_flavour(self) -> str | None:
        """`open` or `proprietary`."""
        return nvidia.module_flavour(self.need("proc_driver_nvidia_version"))

    @fact
    def module_loaded(self) -> bool:
        """Whether the nvidia module is in the kernel."""
        if self.bundle.text("proc_driver_nvidia_version"):
            return True
        if self.bundle.absent("lsmod") or self.bundle.complete("lsmod"):
            return "nvidia" in self.known(self.modules)
        return True if "nvidia" in self.known(self.modules) else self.known(None)

    @fact
    def library_version(self) -> str | None:
        """Version of the driver's user space."""
        return nvidia.library_version(self.known(self.bundle.output("nvidia_smi")))

    @fact
    def gpus(self) -> tuple[nvidia.Gpu, ...]:
        """The GPUs that the driver serves."""
        return nvidia.gpus(self.need("nvidia_smi_query")) if self.bundle.rc("nvidia_smi_query") == 0 else self.known(None)

    @fact
    def mig_profiles(self) -> tuple[tuple[str, ...], ...]:
        """For each GPU, the profiles of its MIG devices."""
        return nvidia.mig_profiles(self.need("nvidia_smi_list")) if self.bundle.rc("nvidia_smi_list") == 0 else self.known(None)

    @fact
    def cuda_probe(self) -> dict[str, Any] | None:
        """The answer of the CUDA probe on the host."""
        for line in reversed(self.need("cuda_probe").splitlines()):
            if line.startswith("{"):
                answer = json.loads(line)
                return answer if isinstance(answer, dict) and str(answer.get("schema", "")).startswith("goldnode.cuda_probe/") else None
        return None

    def service(self, name: str) -> dict[str, str] | None:
        """`systemctl show` of a service; the one word of `systemctl is-active` becomes ActiveState."""
        text = (self.bundle.text(name) or "").strip()
        if not text:
            return None
        return linux.key_values(text) if "=" in text else {"ActiveState": text.splitlines()[-1]}
