# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""CUDA user space in the containers, and what the driver and the GPUs can do."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import fact
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.container import ContainerFacts

CUDA = r"CUDA (?:UMD )?Version\s*:?\s*(\d+\.\d+)"
# A container image of NVIDIA names its CUDA release in its tag, a wheel in its local version.
IMAGE_CUDA = r"(?:nvidia/cuda(?:gl)?|cuda-\w+)(?:-\w+)?:v?(\d+\.\d+)|cuda[-_:]?v?(\d{2}\.\d+)|\bcu(\d{2})(\d)\b"
# JetPack -> the major release of L4T that it installs. developer.nvidia.com/embedded/jetpack-archive
JETPACK_L4T = {4: 32, 5: 35, 6: 36, 7: 38}
L4T_IMAGE = r"(?:l4t[\w.-]*:|:(?:[\w.-]*-)?|-)r(\d{2})\.(\d+)"


class CudaFacts(ContainerFacts):
    """CUDA user space in the containers, and what the driver and the GPUs can do."""

    @fact
    def nvidia_smi_cuda(self) -> str:
        """The CUDA version in nvidia-smi's header: the newest that the driver can do."""
        return str(self.known(re.search(CUDA, self.bundle.output("nvidia_smi") or "")).group(1))

    @fact
    def image_cuda_version(self) -> str:
        """The CUDA release that the container image or its framework is made for, where its name says it."""
        match = re.search(IMAGE_CUDA, " ".join((*(self.container_images or ()), str(self.bundle.stated.get("torch_version") or ""))))
        return ".".join(group for group in self.known(match).groups() if group)

    @fact
    def gpu_names(self) -> tuple[str, ...]:
        """The GPUs' product names, as far as anything says them."""
        listed = re.findall(r"^GPU \d+: (.+?) \(UUID", self.bundle.text("nvidia_smi_list") or "", re.M)
        queried = [gpu.name for gpu in self.gpus or ()]
        table = re.findall(r"^\|\s+\d+\s+((?:NVIDIA|Tesla|GeForce|Quadro|TITAN)[^|]*?)\s+(?:On|Off|N/A)?\s*\|", self.bundle.text("nvidia_smi") or "", re.M)
        stated = [str(self.bundle.stated[name]) for name in ("gpu", "platform") if name in self.bundle.stated]
        return tuple(listed or queried or table or stated)

    @fact
    def host_l4t(self) -> tuple[int, int | None]:
        """The release of Jetson Linux on the host; only the major one where JetPack is all that is known."""
        text = self.bundle.text("l4t_version") or str(self.bundle.stated.get("l4t_version") or "")
        exact = re.search(r"R?(\d{2})(?:\s*\(release\), REVISION: |\.)(\d+)", text)
        if exact:
            return int(exact.group(1)), int(exact.group(2))
        platform = " ".join(str(self.bundle.stated.get(name) or "") for name in ("platform", "distro", "gpu"))
        direct = re.search(r"\b(?:L4T|Jetson Linux)\s+R?(\d{2})\.(\d+)", platform)
        if direct:
            return int(direct.group(1)), int(direct.group(2))
        return JETPACK_L4T[int(self.known(re.search(r"JetPack\s+(\d)", platform)).group(1))], None

    @fact
    def image_l4t(self) -> tuple[int, int]:
        """The release of Jetson Linux that a container image is made for, by its tag."""
        match = self.known(re.search(L4T_IMAGE, " ".join(self.container_images or ())))
        return int(match.group(1)), int(match.group(2))
