# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How each distribution packages what a person pins: tables only.

Sources: Debian archive metadata of bookworm, trixie and sid (read 2026-11-30); packages.ubuntu.com (2026);
NVIDIA driver installation guides 590 to 620; NVIDIA container toolkit install guide (2026-08-21); docs.docker.com;
RPM names: NVIDIA/yum-packaging-nvidia-driver, -dkms-nvidia, -precompiled-kmod (DISTROS.md, 2026), aws/aws-parallelcluster-cookbook#2967.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase, translate

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.package_families import PACKAGE_GLOBS as OWNED
from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.package_families import layer_of as family_layer
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.versions import DPKG, RPM

KERNEL, DRIVER, TOOLKIT, ENGINE = "kernel", "driver", "container_toolkit", "engine"
DEBIAN, UBUNTU = ("debian",), ("ubuntu",)
APT = DEBIAN + UBUNTU
# Red Hat's and its rebuilds package the kernel alike; Amazon's has names of its own.
RED_HAT, AMAZON = ("rhel", "rocky", "almalinux"), ("amazon",)
DNF = RED_HAT + AMAZON
# Distribution -> how its packages' versions are ordered; those that lock_stack resolves for.
ORDERS = {**dict.fromkeys(APT, DPKG), **dict.fromkeys(DNF, RPM)}

# What shapes a module: DKMS, other modules built by it, and the compiler that a kernel's headers ask for. A site may leave them to the
# distribution: they are locked where the pool's repositories have them, else they are apt's business on the node.
TOOLS = {
    "dkms": DRIVER,
    "*-dkms": DRIVER,
    "gcc-[0-9][0-9]": KERNEL,
    "gcc-[0-9][0-9]-*-linux-gnu*": KERNEL,
    "cpp-[0-9][0-9]": KERNEL,
    "cpp-[0-9][0-9]-*-linux-gnu*": KERNEL,
}


@dataclass(frozen=True)
class Root:
    """A package that a pin asks for. `name` is a template over the pool's facts; `pin` the dotted pin whose version it has, None: any.

    `suffix`, a template too, is what the pin has behind the package's version: `uname -r` prints `5.14.0-570.12.1.el9_6.x86_64`.
    """

    name: str
    pin: str | None = None
    required: bool = True
    suffix: str = ""


@dataclass(frozen=True)
class Family:
    """One way in which a subject is packaged; `when` holds the accepted values of the pool's facts."""

    title: str
    when: Mapping[str, tuple[str, ...]]
    roots: tuple[Root, ...]


def _pinned(pin: str, *names: str) -> tuple[Root, ...]:
    return tuple(Root(name, pin) for name in names)


def _pinned_if_there(pin: str, *names: str) -> tuple[Root, ...]:
    return tuple(Root(name, pin, required=False) for name in names)


def _any_if_there(*names: str) -> tuple[Root, ...]:
    return tuple(Root(name, required=False) for name in names)


_DRIVER = "nvidia_driver.version"
_DKMS_OPEN = {"modules": ("open",), "build": ("dkms",)}
_DKMS_PROPRIETARY = {"modules": ("proprietary",), "build": ("dkms",)}
_PREBUILT_OPEN = {"modules": ("open",), "build": ("prebuilt",)}
_PREBUILT_PROPRIETARY = {"modules": ("proprietary",), "build": ("prebuilt",)}

# persistenced and modprobe are sources of their own in Debian, with versions of their own
_DAEMONS = _any_if_there("nvidia-persistenced", "nvidia-modprobe")
# NVIDIA's Debian repository and the lab's stand-ins share these names.
_USER_SPACE = ("libcuda1", "libnvidia-ml1", "nvidia-smi", "firmware-nvidia-gsp")
_NVIDIA_DEBIAN = (*_pinned(_DRIVER, "nvidia-driver-cuda"), *_pinned_if_there(_DRIVER, *_USER_SPACE), *_DAEMONS)
_DEBIAN_ARCHIVE = (*_pinned(_DRIVER, *_USER_SPACE), *_DAEMONS)
_DEBIAN_TESLA = (
    _pinned(
        _DRIVER,
        "nvidia-tesla-{branch}-kernel-dkms",
        "libnvidia-tesla-{branch}-cuda1",
        "libnvidia-tesla-{branch}-ml1",
        "nvidia-tesla-{branch}-smi",
        "firmware-nvidia-tesla-{branch}-gsp",
    )
    + _DAEMONS
)
_UBUNTU_SERVER = _pinned(_DRIVER, "nvidia-utils-{branch}-server", "libnvidia-compute-{branch}-server", "nvidia-kernel-common-{branch}-server")
_UBUNTU_NVIDIA = _pinned(_DRIVER, "nvidia-utils-{branch}", "libnvidia-compute-{branch}", "nvidia-kernel-common-{branch}")
# From branch 590 NVIDIA's Ubuntu packages carry no branch in their names (driver installation guide 590).
_UBUNTU_NVIDIA_590 = _pinned(_DRIVER, "libnvidia-compute") + _pinned_if_there(
    _DRIVER, "nvidia-utils", "nvidia-kernel-common", "nvidia-persistenced", "nvidia-modprobe"
)

# NVIDIA's repositories for RHEL, its rebuilds and Amazon Linux; libnvidia-ml and libnvidia-cfg are packages of their own in some branches.
_NVIDIA_RPM = _pinned(_DRIVER, "nvidia-driver-cuda", "nvidia-kmod-common") + _pinned_if_there(
    _DRIVER, "nvidia-driver-cuda-libs", "nvidia-persistenced", "nvidia-modprobe", "libnvidia-ml", "libnvidia-cfg"
)


def _kernel(suffix: str, required: tuple[str, ...], if_there: tuple[str, ...]) -> tuple[Root, ...]:
    """RPM's kernel: names without the release, all of the release that the pin is without its end."""
    pin = "kernel.version"
    return (*(Root(name, pin, suffix=suffix) for name in required), *(Root(name, pin, required=False, suffix=suffix) for name in if_there))


# Subject -> its families, the preferred first. A subject is named after its key in the pins ("engine": whichever engine is pinned);
# the first family that fits the pool's facts and that one origin offers whole at the pinned versions is taken.
FAMILIES: dict[str, tuple[Family, ...]] = {
    "kernel": (
        Family("Debian kernel", {"distribution": DEBIAN}, (Root("linux-image-{kernel}"), Root("linux-headers-{kernel}"))),
        Family(
            "Ubuntu kernel",
            {"distribution": UBUNTU},
            (Root("linux-image-{kernel}"), Root("linux-modules-{kernel}"), Root("linux-headers-{kernel}"), *_any_if_there("linux-modules-extra-{kernel}")),
        ),
        # kernel-modules-core is there from RHEL 9 on
        Family(
            "RHEL kernel",
            {"distribution": RED_HAT},
            _kernel(".{arch}", ("kernel-core", "kernel-modules", "kernel-devel"), ("kernel", "kernel-modules-core", "kernel-modules-extra")),
        ),
        Family(
            "RHEL kernel, 64k pages",
            {"distribution": RED_HAT, "arch": ("aarch64",)},
            _kernel(
                ".{arch}+64k",
                ("kernel-64k-core", "kernel-64k-modules", "kernel-64k-devel"),
                ("kernel-64k", "kernel-64k-modules-core", "kernel-64k-modules-extra"),
            ),
        ),
        Family("Amazon kernel", {"distribution": AMAZON}, _kernel(".{arch}", ("kernel", "kernel-devel"), ("kernel-modules-extra",))),
        Family("Amazon kernel 6.12", {"distribution": AMAZON}, _kernel(".{arch}", ("kernel6.12", "kernel6.12-devel"), ("kernel6.12-modules-extra",))),
    ),
    "nvidia_driver": (
        Family("NVIDIA for Debian, open", {"distribution": DEBIAN, **_DKMS_OPEN}, _pinned(_DRIVER, "nvidia-kernel-open-dkms") + _NVIDIA_DEBIAN),
        Family("NVIDIA for Debian, proprietary", {"distribution": DEBIAN, **_DKMS_PROPRIETARY}, _pinned(_DRIVER, "nvidia-kernel-dkms") + _NVIDIA_DEBIAN),
        Family("Debian archive, open", {"distribution": DEBIAN, **_DKMS_OPEN}, _pinned(_DRIVER, "nvidia-open-kernel-dkms") + _DEBIAN_ARCHIVE),
        Family("Debian archive, proprietary", {"distribution": DEBIAN, **_DKMS_PROPRIETARY}, _pinned(_DRIVER, "nvidia-kernel-dkms") + _DEBIAN_ARCHIVE),
        Family("Debian archive, tesla branch", {"distribution": DEBIAN, **_DKMS_PROPRIETARY}, _DEBIAN_TESLA),
        Family(
            "Ubuntu archive, prebuilt, open",
            {"distribution": UBUNTU, **_PREBUILT_OPEN},
            (*_pinned(_DRIVER, "nvidia-headless-no-dkms-{branch}-server-open"), *_UBUNTU_SERVER, Root("linux-modules-nvidia-{branch}-server-open-{kernel}")),
        ),
        Family(
            "Ubuntu archive, prebuilt, proprietary",
            {"distribution": UBUNTU, **_PREBUILT_PROPRIETARY},
            (*_pinned(_DRIVER, "nvidia-headless-no-dkms-{branch}-server"), *_UBUNTU_SERVER, Root("linux-modules-nvidia-{branch}-server-{kernel}")),
        ),
        Family("Ubuntu archive, DKMS, open", {"distribution": UBUNTU, **_DKMS_OPEN}, _pinned(_DRIVER, "nvidia-dkms-{branch}-server-open") + _UBUNTU_SERVER),
        Family(
            "Ubuntu archive, DKMS, proprietary", {"distribution": UBUNTU, **_DKMS_PROPRIETARY}, _pinned(_DRIVER, "nvidia-dkms-{branch}-server") + _UBUNTU_SERVER
        ),
        Family("NVIDIA for Ubuntu, open", {"distribution": UBUNTU, **_DKMS_OPEN}, _pinned(_DRIVER, "nvidia-dkms-{branch}-open") + _UBUNTU_NVIDIA),
        Family("NVIDIA for Ubuntu, proprietary", {"distribution": UBUNTU, **_DKMS_PROPRIETARY}, _pinned(_DRIVER, "nvidia-dkms-{branch}") + _UBUNTU_NVIDIA),
        Family("NVIDIA for Ubuntu from 590, open", {"distribution": UBUNTU, **_DKMS_OPEN}, _pinned(_DRIVER, "nvidia-dkms-open") + _UBUNTU_NVIDIA_590),
        Family("NVIDIA for Ubuntu from 590, proprietary", {"distribution": UBUNTU, **_DKMS_PROPRIETARY}, _pinned(_DRIVER, "nvidia-dkms") + _UBUNTU_NVIDIA_590),
        Family("NVIDIA for RHEL, DKMS, open", {"distribution": DNF, **_DKMS_OPEN}, _pinned(_DRIVER, "kmod-nvidia-open-dkms") + _NVIDIA_RPM),
        Family("NVIDIA for RHEL, DKMS, proprietary", {"distribution": DNF, **_DKMS_PROPRIETARY}, _pinned(_DRIVER, "kmod-nvidia-latest-dkms") + _NVIDIA_RPM),
        Family(
            "NVIDIA for RHEL, prebuilt, open", {"distribution": RED_HAT, **_PREBUILT_OPEN}, _NVIDIA_RPM + _pinned(_DRIVER, "kmod-nvidia-open-{driver}-{abi}")
        ),
        Family(
            "NVIDIA for RHEL, prebuilt, proprietary",
            {"distribution": RED_HAT, **_PREBUILT_PROPRIETARY},
            _NVIDIA_RPM + _pinned(_DRIVER, "kmod-nvidia-{driver}-{abi}"),
        ),
    ),
    "fabric_manager": (
        Family("fabric manager of a branch", {"distribution": APT}, _pinned("fabric_manager.version", "nvidia-fabricmanager-{branch}")),
        Family("fabric manager", {"distribution": APT + DNF}, _pinned("fabric_manager.version", "nvidia-fabricmanager")),
        Family("fabric manager for RHEL before 580", {"distribution": DNF}, _pinned("fabric_manager.version", "nvidia-fabric-manager")),
    ),
    "nvlsm": (Family("NVLink subnet manager", {"distribution": APT + DNF}, _pinned("nvlsm.version", "nvlsm")),),
    "imex": (
        Family("IMEX of a branch", {"distribution": APT + DNF}, _pinned("imex.version", "nvidia-imex-{branch}")),
        Family("IMEX", {"distribution": APT + DNF}, _pinned("imex.version", "nvidia-imex")),
    ),
    "container_toolkit": (
        # All four at one version, or containers break without a word (NVIDIA/nvidia-container-toolkit#1091).
        Family(
            "NVIDIA container toolkit",
            {"distribution": APT + DNF},
            _pinned(
                "container_toolkit.version",
                "nvidia-container-toolkit",
                "nvidia-container-toolkit-base",
                "libnvidia-container-tools",
                "libnvidia-container1",
            ),
        ),
    ),
    "engine": (
        # containerd.io brings its own runc: the pin of runc is then proven on the node, not resolved.
        Family("docker-ce", {"engine": ("docker",)}, _pinned("docker.version", "docker-ce", "docker-ce-cli") + _pinned("docker.containerd", "containerd.io")),
        Family(
            "docker.io",
            {"distribution": APT, "engine": ("docker",)},
            _pinned("docker.version", "docker.io")
            + _pinned_if_there("docker.version", "docker-cli")
            + _pinned("docker.containerd", "containerd")
            + _pinned("docker.runc", "runc"),
        ),
        Family(
            "docker of Amazon Linux",
            {"distribution": AMAZON, "engine": ("docker",)},
            _pinned("docker.version", "docker") + _pinned("docker.containerd", "containerd") + _pinned("docker.runc", "runc"),
        ),
        Family("containerd.io", {"engine": ("containerd",)}, _pinned("containerd.version", "containerd.io")),
        Family("containerd of the distribution", {"engine": ("containerd",)}, _pinned("containerd.version", "containerd") + _pinned("containerd.runc", "runc")),
        Family("podman", {"distribution": APT, "engine": ("podman",)}, _pinned("podman.version", "podman")),
        # podman needs any OCI runtime there; crun is the one that it takes by itself
        Family("podman with crun", {"distribution": DNF, "engine": ("podman",)}, _pinned("podman.version", "podman") + _any_if_there("crun")),
    ),
}


# One expression first: an archive has 70,000 names, of which some fifty are ours.
_OURS = re.compile("|".join(translate(glob) for glob in [*TOOLS, *(glob for globs in OWNED.values() for glob in globs)]))


def layer_of(name: str) -> str | None:
    """The layer in whose part of the lock a package belongs, None where it is left to the node's package manager (simulated before anything changes)."""
    return (family_layer(name) or _tool_layer(name)) if _OURS.match(name) else None


def is_tool(name: str) -> bool:
    """Whether a package shapes a module without being part of a pinned family."""
    return family_layer(name) is None and _tool_layer(name) is not None


def _tool_layer(name: str) -> str | None:
    return next((layer for glob, layer in TOOLS.items() if fnmatchcase(name, glob)), None)


def module_family(index: int, name: str) -> Family:
    """The family of `extra_modules[index]`: one package, built by DKMS."""
    return Family("another DKMS module", {}, _pinned(f"extra_modules.{index}.version", name))


def families_for(subject: str, facts: Mapping[str, str]) -> list[Family]:
    """The families of a subject that fit a pool's facts, the preferred first."""
    return [family for family in FAMILIES[subject] if all(facts[fact] in accepted for fact, accepted in family.when.items())]
