# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What engines can do from which release on.

Sources: moby tags v19.03 to docker-v29.7.2, containerd RELEASES.md and docs/cri/config.md, podman release notes; as of 2026-11-30.
"""

from __future__ import annotations

from typing import Tuple

Numbers = Tuple[int, ...]

# docker run --gpus.
GPUS_SINCE = (19, 3)
# CDI in the daemon: there with features.cdi, then on by itself.
CDI_SINCE, CDI_ON_SINCE = (25,), (28, 2)
# --gpus served by CDI first (moby 86f122af27).
JIT_CDI_SINCE = (29, 2)
# podman run --device vendor/class=name.
PODMAN_CDI_SINCE = (4, 1)
# Which config versions containerd reads, by its own version; the CRI plugin has another name in each.
CONTAINERD_CONFIG: tuple[tuple[Numbers, int], ...] = (((2, 3), 4), ((2, 0), 3), ((1, 3), 2), ((1, 0), 1))
# Where distributions of Kubernetes keep the file that their containerd really reads: k3s-io/k3s #4391, NVIDIA/gpu-operator #473, MicroK8s addon gpu.
CONTAINERD_FILES = {
    "k3s": "/var/lib/rancher/k3s/agent/etc/containerd/config.toml.tmpl (config-v3.toml.tmpl with containerd 2); then systemctl restart k3s",
    "rke2": "/var/lib/rancher/rke2/agent/etc/containerd/config.toml.tmpl (config-v3.toml.tmpl with containerd 2); then systemctl restart rke2-agent",
    "microk8s": "/var/snap/microk8s/current/args/containerd-template.toml; then microk8s stop and microk8s start",
    "k0s": "a drop-in below /etc/k0s/containerd.d; then restart k0s",
}
