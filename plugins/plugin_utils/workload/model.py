# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""One container that a file declares, in one shape for each engine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

COMPOSE = "compose"
KUBERNETES = "kubernetes"
SHM = "/dev/shm"  # noqa: S108 - a container's path
DEFAULT_SHM = 64 << 20

# Images that are of no use without a GPU, by the repository or the tag; those of the GPU's own infrastructure ask for none on purpose.
_CUDA_IMAGE = re.compile(
    r"nvidia/cuda|nvcr\.io/nvidia/(?!k8s|cloud-native|gpu-operator|driver|vgpu)|(?:^|[/:._-])cuda\d*(?:[._-]|\d|$)|[:._-]gpu(?:$|[._-])|cudnn|vllm/vllm-openai"
    r"|text-generation-inference|tritonserver|rapidsai/|tensorrt|pytorch/pytorch",
    re.I,
)
_CPU_IMAGE = re.compile(r"[:._-]cpu(?:$|[._-])|rocm|-amd(?:$|[._-])|[._-]xpu", re.I)
_INFRASTRUCTURE = re.compile(r"device-plugin|dcgm|gpu-feature-discovery|container-toolkit|mig-manager|gpu-operator|node-feature-discovery|nvidia/driver", re.I)
_CUDA_COMMAND = re.compile(r"\bnvidia-smi\b|\btorchrun\b|\bdeepspeed\b|\baccelerate launch\b|--device[= ]cuda|\bvllm serve\b|--n-gpu-layers", re.I)
_TRAINING = re.compile(
    r"\btorchrun\b|\bdeepspeed\b|\baccelerate launch\b|\bhorovodrun\b|\btorch\.distributed\.(?:run|launch)\b"
    r"|(?:^|[\W_])(?:pre)?train(?:ing|er)?(?:$|[\W_])|fine-?tun",
    re.I,
)


class Image(NamedTuple):
    """A container image's reference; `tag` and `digest` are None where it names none."""

    repository: str
    tag: str | None
    digest: str | None


class Mistake(NamedTuple):
    """Something about a request that the engine refuses or misunderstands: what was seen, why it is wrong."""

    observed: str
    cause: str


@dataclass(frozen=True)
class Request:
    """How GPUs are asked for: each way in which they are, how many (None: not a number), whether that means all; `mistakes` in its form."""

    forms: tuple[str, ...] = ()
    count: int | None = None
    all_gpus: str = ""
    capabilities: tuple[str, ...] = ()
    mistakes: tuple[Mistake, ...] = ()


@dataclass(frozen=True)
class Workload:
    """A container of a file. `shared_memory` is in bytes: None for all of the host's; `durable` are mounts that outlive it."""

    file: str
    name: str
    engine: str
    image: str = ""
    command: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    request: Request = field(default_factory=Request)
    nvidia_runtime: bool = False
    device_nodes: tuple[str, ...] = ()
    privileged: bool = False
    shared_memory: int | None = DEFAULT_SHM
    durable: tuple[str, ...] = ()

    @property
    def visible_devices(self) -> str:
        """NVIDIA_VISIBLE_DEVICES where it asks for something."""
        value = self.environment.get("NVIDIA_VISIBLE_DEVICES", "")
        return "" if value in ("void", "none") else value

    @property
    def asks(self) -> bool:
        """Whether it asks for a GPU in a way that its engine serves."""
        by_runtime = self.engine == COMPOSE and self.nvidia_runtime
        return bool(self.request.forms) or by_runtime

    @property
    def wants(self) -> str:
        """What shows that it needs a GPU; empty where nothing does."""
        if _INFRASTRUCTURE.search(self.image):
            return ""
        if self.environment.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
            return ""
        seen = (
            "runtime nvidia" if self.nvidia_runtime else "",
            f"NVIDIA_VISIBLE_DEVICES={self.visible_devices}" if self.visible_devices else "",
            f"CUDA_VISIBLE_DEVICES={self.environment.get('CUDA_VISIBLE_DEVICES')}" if "CUDA_VISIBLE_DEVICES" in self.environment else "",
            f"image {self.image}" if _CUDA_IMAGE.search(self.image) and not _CPU_IMAGE.search(self.image) else "",
            f"command {self.command[:80]}" if _CUDA_COMMAND.search(self.command) else "",
        )
        return next((words for words in seen if words), "")

    @property
    def uses_gpu(self) -> bool:
        """Whether the linter has anything to say about it."""
        return bool(self.asks or self.wants or self.request.mistakes or self.device_nodes) and not _INFRASTRUCTURE.search(self.image)

    @property
    def trains(self) -> bool:
        """Whether it trains a model, by its command or its name."""
        return bool(_TRAINING.search(self.command) or _TRAINING.search(self.name))


def image_of(reference: str) -> Image:
    """`registry:5000/a/b:tag@sha256:…` in its parts."""
    name, _at, digest = reference.partition("@")
    repository, colon, tag = name.rpartition(":")
    if not colon or "/" in tag:
        return Image(name, None, digest or None)
    return Image(repository, tag, digest or None)


def size_of(text: object) -> int | None:
    """`8gb`, `8Gi`, `64m` or a number, in bytes."""
    found = re.fullmatch(r"\s*(\d{1,18}(?:\.\d{1,18})?)\s*([kmgt]?)i?b?\s*", str(text), re.I)
    return int(float(found.group(1)) * 1024 ** " kmgt".index(found.group(2).lower() or " ")) if found else None


def interpolated(text: str) -> str:
    """Compose's `${NAME:-default}` by its default; a variable without one stays as it is."""
    return re.sub(r"\$\{\w+:?-([^}]*)\}", r"\1", text)
