# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Releases of the NVIDIA Container Toolkit that have a known fault, with the words by which it shows, and the security floor.

Sources: NVIDIA/cloud-native-docs container-toolkit/release-notes.md and NVIDIA/nvidia-container-toolkit CHANGELOG.md (both 2026-08-21), NVIDIA
product-security bulletins, and the public reports named in each row; as of 2026-11-30.
"""

from __future__ import annotations

from typing import NamedTuple, Tuple

Numbers = Tuple[int, ...]


class Fault(NamedTuple):
    """A fault of the releases from `since` up to, not including, `fixed` (None: not fixed in what is known).

    `said` is what shows it. `only_there`: these words come from nothing else, so that they are blamed without a known version too.
    """

    since: Numbers
    fixed: Numbers | None
    said: str
    cause: str
    remedy: str
    source: str
    only_there: bool = False


class Vulnerability(NamedTuple):
    """A published vulnerability: releases older than `fixed` have it."""

    identifier: str
    fixed: Numbers
    source: str


# A failure to do what was asked, for faults whose wording is as various as what they break; the driver's own errors are none of the toolkit's.
CLI_FAILS = (
    r"nvidia-container-cli(?:\.real)?: (?!initialization error|requirement error|detection error: nvml)[^\n]+"
    r"|98-nvidia\.sh exited|signal: segmentation fault|core dumped"
)

FAULTS = (
    Fault(
        (1, 11),
        (1, 12),
        r"nvidia-container-runtime did not terminate successfully",
        "The upgrade to 1.11 split the package nvidia-container-toolkit in two (-base) and left /usr/bin/nvidia-container-runtime broken or missing.",
        "Remove nvidia-container-toolkit and nvidia-container-runtime, then install nvidia-container-toolkit, -base, libnvidia-container-tools and "
        "libnvidia-container1 at one version.",
        "NVIDIA/nvidia-container-toolkit #34, #59",
    ),
    Fault(
        (1, 14),
        (1, 14, 1),
        r"device error: [^\n]*unknown device|failed to initialize nvml: unknown error",
        "1.14.0 ignores what /etc/nvidia-container-runtime/config.toml says and runs with its defaults.",
        "Upgrade all the toolkit's packages to 1.14.1 or later.",
        "NVIDIA/nvidia-container-toolkit #108, #381",
    ),
    Fault(
        (1, 17, 0),
        (1, 17, 1),
        r"failed to create link|failed to check if link exists|unexpected link target",
        "1.17.0's hook create-symlinks refuses links that are already there (its fix of CVE-2024-0134 was too strict).",
        "Upgrade the toolkit's packages to 1.17.1 or later, and generate the CDI specification again.",
        "NVIDIA/nvidia-container-toolkit #772; podman-container-tools/podman #24502",
    ),
    Fault(
        (1, 17, 1),
        None,
        r"create-symlinks[^\n]*(?:file exists|failed)|failed to create link[^\n]*/nvidia/lib(?:gstnv|nv)",
        "From 1.17.1 on the hook create-symlinks fails on Jetson's links when the image already has them (NVIDIA_DRIVER_CAPABILITIES with graphics).",
        "Stay on 1.16.2 or take a release in which it is fixed; stopgap: NVIDIA_DRIVER_CAPABILITIES=compute,utility.",
        "NVIDIA/nvidia-container-toolkit #795",
    ),
    Fault(
        (1, 17, 7),
        (1, 17, 8),
        CLI_FAILS,
        "1.17.7 fails where nvidia-container-cli is called directly (enroot and pyxis, LXC) or beside a libnvidia-container of another version: "
        "it loses the options that it was given.",
        "Upgrade all the toolkit's packages to 1.17.8, or downgrade all to 1.17.6.",
        "NVIDIA/nvidia-container-toolkit #1093, #1101; NVIDIA/enroot #232",
    ),
    Fault(
        (1, 18, 0),
        (1, 18, 2),
        r"(?:nvidia-persistenced|nvidia-mps|fabricmanager)[^\n]*read-only file system",
        "1.18.0 and 1.18.1 mount the driver's IPC sockets read-only.",
        "Upgrade the toolkit's packages to 1.18.2 or later.",
        "NVIDIA/nvidia-container-toolkit pull 1594",
    ),
    Fault(
        (1, 18, 0),
        (1, 20, 0),
        r"container\.Runtime\.Name must be set",
        "The drop-in that nvidia-ctk before 1.20.0 writes for containerd (/etc/containerd/conf.d/99-nvidia.toml) can lack runtime_type.",
        "Upgrade to 1.20.0 and run nvidia-ctk runtime configure --runtime=containerd again, or add "
        'runtime_type = "io.containerd.runc.v2" to the drop-in; restart containerd.',
        "NVIDIA Container Toolkit 1.20.0 release notes",
        only_there=True,
    ),
    Fault(
        (1, 19, 0),
        None,
        r"json: unknown field|error (?:loading|decoding) OCI spec",
        "From 1.19.0 on nvidia-container-runtime decodes the OCI specification strictly and refuses fields that it does not know.",
        "Upgrade the toolkit to a release that knows the engine's fields, or stay on 1.18.2.",
        "NVIDIA Container Toolkit 1.19.0 release notes",
    ),
    Fault(
        (1, 20, 0),
        (1, 20, 1),
        r"failed to create application profiles directory|nvidia-application-profiles-rc\.d: read-only",
        "1.20.0's hook update-application-profile creates a directory below /etc/nvidia in the container and fails where that is a read-only mount.",
        "Downgrade the toolkit's packages to 1.19.1 or take a release after 1.20.0; or mount the configuration somewhere else than /etc/nvidia.",
        "NVIDIA/nvidia-container-toolkit #2026, pull 2028; awslabs/amazon-eks-ami #2790",
        only_there=True,
    ),
)

# Its table of vulnerabilities and the releases that fix them.
OPERATOR_DOCS = "NVIDIA/cloud-native-docs gpu-operator/security.rst, 2026-08-21"

VULNERABILITIES = (
    Vulnerability("CVE-2024-0132", (1, 16, 2), OPERATOR_DOCS),
    Vulnerability("CVE-2024-0134", (1, 17, 0), OPERATOR_DOCS),
    Vulnerability("CVE-2024-0135, -0136 and -0137", (1, 17, 3), OPERATOR_DOCS),
    Vulnerability("CVE-2025-23359", (1, 17, 4), OPERATOR_DOCS),
    Vulnerability("CVE-2025-23266 and -23267", (1, 17, 8), OPERATOR_DOCS),
    Vulnerability("CVE-2026-24260", (1, 19, 1), "NVIDIA bulletin 5850"),
)

# From this release on `nvidia-ctk cdi generate` writes cdiVersion 0.7.0 (additionalGids), unless told --feature-flag=no-additional-gids-for-device-nodes.
CDI_07_SINCE = (1, 19, 1)
# CDI specification version -> engine -> its first release that reads it; older ones leave the whole file out without a word.
CDI_READERS: dict[Numbers, dict[str, Numbers]] = {
    (0, 7): {"docker": (26, 1), "containerd": (1, 7, 16), "podman": (5, 1), "crio": (1, 30)},
}
# jit-cdi became what mode `auto` means, and asked no swarm-resource until this release.
SWARM_LOST, SWARM_BACK = (1, 18), (1, 19)
# NVIDIA/nvidia-container-toolkit #1967: CUDA fails with 999 in containers in which nvidia-smi works; the cause was never stated.
CUINIT_SUSPECTS = ((1, 19, 1), (1, 20, 1))
