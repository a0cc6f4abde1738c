# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The loaded module, its user space, and the services of the driver."""

from __future__ import annotations

import json
import re
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import linux, nvidia, nvrm
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import fact
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.kernel import KernelFacts

# How people state that something works with another version.
GOOD_NEWS = r"\b(?:no|none|never|without|works?|worked|fine|ok|okay|pass(?:es|ed)?|stable|true)\b"
# What `systemctl is-active` says of a unit: systemd's UnitActiveState, and `unknown` of one that it has not.
STATES = ("active", "reloading", "inactive", "failed", "activating", "deactivating", "maintenance", "refreshing", "unknown")

# Releases of Windows 10 -> build. learn.microsoft.com/windows/release-health/release-information
WINDOWS_10 = {"1809": 17763, "1903": 18362, "1909": 18363, "2004": 19041, "20H2": 19042, "21H1": 19043, "21H2": 19044, "22H2": 19045}


class DriverFacts(KernelFacts):
    """The loaded module, its user space, and the services of the driver."""

    @fact
    def kernel_gpus(self) -> set[tuple[str, str]]:
        """PCI address and UUID of each GPU in the driver's procfs tree."""
        texts = self.known(self.bundle.files("proc_driver_nvidia_gpus"))
        return {(path.split("/")[-2].lower(), linux.colon_values(text)["GPU UUID"]) for path, text in texts.items()}

    @fact
    def loaded_module_version(self) -> str | None:
        """Version of the nvidia module in the kernel: procfs says it, else the kernel log of its loading."""
        if self.bundle.text("proc_driver_nvidia_version"):
            return nvidia.module_version(self.need("proc_driver_nvidia_version"))
        return self.known(nvrm.loaded(self.known(self.nvrm)))[0]

    @fact
    def loaded_module_flavour(self) -> str | None:
        """`open` or `proprietary`."""
        if self.bundle.text("proc_driver_nvidia_version"):
            return nvidia.module_flavour(self.need("proc_driver_nvidia_version"))
        return self.known(nvrm.loaded(self.known(self.nvrm)))[1]

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
    def driver_version(self) -> str:
        """Version of the driver, whichever part of it tells."""
        queried = [row["driver_version"] for row in self.smi_query or () if row.get("driver_version")]
        return self.known(self.loaded_module_version or self.library_version or next(iter(queried), None))

    @fact
    def driver_packages(self) -> dict[str, str]:
        """The driver's packages by name, from whatever list there is -> upstream version."""
        lists = [text for name in ("dpkg_l", "apt_list", "rpm_qa") if (text := self.bundle.text(name))]
        return {name: version for text in self.known(lists or None) for name, version in nvidia.driver_packages(text).items()}

    @fact
    def smi_works(self) -> bool:
        """Whether nvidia-smi on the host talked to the driver."""
        return bool(re.search(r"Driver Version|KMD Version", self.need("nvidia_smi"))) and self.bundle.rc("nvidia_smi") in (0, None)

    @fact
    def tegra(self) -> bool:
        """Whether this is a Jetson, whose driver is part of L4T and has no PCI GPU, no NVML of old and no nvidia module of this kind."""
        return bool(re.search(r"tegra|jetson|\bL4T\b|orin|xavier", self._machine(), re.I))

    @fact
    def wsl(self) -> bool:
        """Whether this is WSL 2, where Windows brings the driver and no nvidia module is loaded."""
        return bool(re.search(r"microsoft|\bWSL", self._machine(), re.I))

    @fact
    def windows_build(self) -> int:
        """The build of Windows under WSL, where somebody states it by its number or its name."""
        words = f"{self.stated('windows_version')} {self.stated('platform')}"
        number = re.search(r"\b(?:10\.0\.)?(1[0-9]\d{3}|2[0-9]\d{3})(?!\d)", words)
        named = next((build for name, build in WINDOWS_10.items() if re.search(rf"\b{name}\b", words, re.I)), None)
        return int(number.group(1)) if number else self.known(named)

    @fact
    def driver_container(self) -> bool:
        """Whether a container of the GPU operator brings the driver, below /run/nvidia/driver, and the host's own folders hold none of it."""
        words = f"{self.stated('driver_install_method')}\n{self.spoken or ''}".lower()
        return bool(re.search(r"driver[ -]container|container(?:ised|ized) driver|nvidia-driver-daemonset|/run/nvidia/driver", words))

    @fact
    def virtual_machine(self) -> bool:
        """Whether this is said or seen to be a virtual machine."""
        words = " ".join([self._machine(), self.bundle.text("systemd_detect_virt") or "", self.bundle.text("dmesg") or ""])
        return bool(re.search(r"\b(?:VM|KVM|ESXi|VMware|QEMU|Proxmox|Xen|Hyper-V|guest|passthrough)\b|Hypervisor detected", words, re.I))

    @fact
    def host_library_versions(self) -> tuple[str, ...]:
        """The versions of libcuda and libnvidia-ml in the host's library folders; those of CUDA's compat folder are no driver."""
        texts = [text for name in ("ls_driver_libs", "ldconfig_p", "nvidia_container_cli_log") if (text := self.bundle.output(name))]
        found = re.findall(r"(?<![\w.])/(?:usr/)?lib\S*/lib(?:cuda|nvidia-ml)\.so\." + nvidia.VERSION, "\n".join(self.known(texts or None)))
        return tuple(sorted(set(found)))

    @fact
    def good_drivers(self) -> tuple[str, ...]:
        """Driver versions that are stated to run the load without the fault."""
        said = [f"{key}: {value}" for key, value in self.bundle.stated.items() if "driver" in f"{key} {value}".lower()]
        good = [re.sub(r"(?<=\d)_(?=\d)", ".", words).replace("_", " ") for words in said if re.search(GOOD_NEWS, words, re.I)]
        return tuple(self.known([version for words in good for version in re.findall(r"(?<![\d.])([3-6]\d\d(?:\.\d{2,3}){0,2})(?![\d.]*\d)", words)] or None))

    @fact
    def persistence(self) -> bool:
        """Whether the GPUs stay initialised: persistence mode, or the daemon, whichever was looked at."""
        modes = [row["persistence_mode"] for row in self.smi_query or () if row.get("persistence_mode")]
        modes += [row.persistence for row in self.smi_rows or () if row.persistence]
        modes += [mode for log in self.smi_logs or () if (mode := log.value(r"^persistence mode$"))]
        if modes:
            return all(mode in ("Enabled", "On") for mode in modes)
        return self.known(self.service("persistenced_service"))["ActiveState"] == "active"

    @fact
    def smi_seconds(self) -> float | None:
        """How long nvidia-smi took."""
        seconds = (self.bundle.probes.get("nvidia_smi") or {}).get("seconds")
        return float(seconds) if isinstance(seconds, (int, float)) else None

    def _machine(self) -> str:
        return " ".join([self.kernel_release or self.bundle.text("uname_r") or "", self.stated("platform"), self.stated("gpu")])

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
        if text in STATES:
            return {"ActiveState": text}
        values = linux.key_values(text)
        return values if "ActiveState" in values or values.get("LoadState") == "not-found" else None
