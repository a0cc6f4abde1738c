# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What Kubernetes, its device plugin and other schedulers say."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import kubernetes
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import fact
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.engine import EngineFacts

_STRATEGY = re.compile(r"""mig[-_ ]?strategy["']?\s*[=:]\s*["']?(none|single|mixed)\b""", re.I)


class OrchestratorFacts(EngineFacts):
    """What Kubernetes, its device plugin and other schedulers say."""

    @fact
    def allocatable(self) -> dict[str, int]:
        """NVIDIA's resources that the kubelet may give to pods."""
        return kubernetes.allocatable(self.need("node_allocatable"))

    @fact
    def capacity(self) -> dict[str, int] | None:
        """NVIDIA's resources that the device plugin has registered, healthy or not."""
        return kubernetes.capacity(self.need("node_allocatable"))

    @fact
    def all_in_mig(self) -> bool:
        """Whether every GPU of the node is in MIG mode."""
        layout = str(self.bundle.stated.get("mig_layout") or "")
        return bool(re.search(r"\ball\b", layout, re.IGNORECASE)) if layout else all(self.known(self.mig_profiles))

    @fact
    def allocatable_gpus(self) -> int:
        """How many GPUs and MIG devices the kubelet may give to pods."""
        return sum(self.known(self.allocatable).values())

    @fact
    def pod(self) -> kubernetes.Pod:
        """What the pod asks for."""
        return kubernetes.pod(self.need("pod_manifest"))

    @fact
    def device_plugin_settings(self) -> dict[str, str]:
        """The device plugin's environment; a stated `device_plugin_env_<name>` counts too, `unset` as empty."""
        prefix = "device_plugin_env_"
        stated = {key[len(prefix) :].upper(): str(value) for key, value in self.bundle.stated.items() if key.startswith(prefix)}
        text = self.bundle.text("device_plugin_env")
        if text is None and not stated:
            return self.known(None)
        return {**kubernetes.settings(text or ""), **{key: "" if value in ("unset", "absent", "none", "None") else value for key, value in stated.items()}}

    @fact
    def mig_strategy(self) -> str | None:
        """The device plugin's MIG strategy, by its environment, its own log or the operator's values."""
        told = (self.device_plugin_settings or {}).get("MIG_STRATEGY")
        texts = [self.bundle.text(name) or "" for name in ("device_plugin_env", "device_plugin_log", "gpu_operator_values", "pod_log")]
        found = _STRATEGY.search("\n".join(texts))
        return told or (found.group(1).lower() if found else None)

    @fact
    def default_runtime(self) -> str | None:
        """The runtime that a container gets when it names none: Docker's, else that of containerd."""
        docker = (self.docker_info or {}).get("DefaultRuntime") or (self.docker_config or {}).get("default-runtime")
        found = re.search(r'^[ \t]*default_runtime_name\s*=\s*"([^"]+)"', self.bundle.text("containerd_config") or "", re.M)
        return docker or (found.group(1) if found else None)
