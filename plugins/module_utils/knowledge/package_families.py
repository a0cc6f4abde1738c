# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which packages belong to a pinned layer: those that no transaction may move except to the locked version.

Names as of 2026-11-30: Debian 12, 13 and sid, Ubuntu 22.04 to 26.04, RHEL 8 to 10 with its rebuilds, Amazon Linux 2023, NVIDIA's CUDA and
container toolkit repositories, Docker's.
Globs as in apt_preferences(5). They are disjoint, so that neither their order nor that of apt's files matters: hence the
brackets, which leave nvidia-container-* to the toolkit and nvidia-cuda-*, nvidia-cg-* to nobody.
"""

from __future__ import annotations

import re
from fnmatch import translate

PACKAGE_GLOBS: dict[str, tuple[str, ...]] = {
    "kernel": (
        "linux-image-*",
        "linux-headers-*",
        "linux-kbuild-*",
        "linux-modules-[!n]*",
        "linux-generic*",
        "linux-virtual*",
        # Ubuntu's flavours: their metapackages, and the headers that a flavour shares (linux-aws-headers-6.8.0-1017, linux-hwe-6.17-headers-6.17.0-20)
        "linux-aws*",
        "linux-azure*",
        "linux-gcp*",
        "linux-hwe-*",
        "linux-lowlatency*",
        "linux-nvidia*",
        "linux-oracle*",
        "kernel",
        "kernel-core*",
        "kernel-devel*",
        "kernel-modules*",
        "kernel-64k*",
        "kernel-rt*",
        "kernel[0-9]*",
    ),
    "driver": (
        "nvidia-[!c]*",
        "nvidia-compute-*",
        "libnvidia-[!c]*",
        "libnvidia-cfg*",
        "libnvidia-common-*",
        "libnvidia-compute*",
        "libcuda1*",
        "libcudadebugger1",
        "cuda-drivers*",
        "firmware-nvidia-*",
        "linux-modules-nvidia-*",
        "linux-objects-nvidia-*",
        "linux-signatures-nvidia-*",
        "xserver-xorg-video-nvidia*",
        "nvlsm",
        "kmod-nvidia-*",
        "dnf-plugin-nvidia",
    ),
    "container_toolkit": ("nvidia-container-*", "libnvidia-container*"),
    "engine": ("docker", "docker.io", "docker-cli", "docker-ce*", "docker-buildx*", "docker-compose*", "containerd", "containerd.io", "runc", "crun", "podman"),
}


# One expression for all first: a node has hundreds of packages, an archive 70,000, of which some fifty are ours.
_NAMES = {layer: re.compile("|".join(translate(glob) for glob in globs)) for layer, globs in PACKAGE_GLOBS.items()}
_OURS = re.compile("|".join(translate(glob) for globs in PACKAGE_GLOBS.values() for glob in globs))


def layer_of(name: str) -> str | None:
    """The pinned layer that owns a package name, or None."""
    return next((layer for layer, names in _NAMES.items() if names.match(name)), None) if _OURS.match(name) else None
