# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Limits of a container that a GPU program meets: shared memory, and a root that may not be written."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.container_symptoms import READ_ONLY, SHARED_MEMORY
from ansible_collections.goldnode.gpu.plugins.module_utils.model import CONTAINER
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, rule
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.runs import heard, not_seen, without_toolkit

# libnvidia-container nvc_mount.c: file_create on what is a socket of the host, or lies below one.
COVERED = r"mount error: file creation failed: \S*/run/\S*(?:socket|nvidia)\S*: (?:no such device or address|no such file|is a directory|not a directory)"
RUN_MOUNT = r"(?:-v|--volume|--mount)[ =]\S*?((?:/var)?/run:(?:/var)?/run\b)"


def shared_memory_size(facts: Facts) -> str:
    """The size of the container's /dev/shm, where anything says it."""
    table = re.search(r"\bshm\s+([\d.]+[KMG]?)\b|(?<!\S)(\S+)\s+(?:\S+\s+){3}/dev/shm", str(facts.bundle.stated.get("container_df_shm") or ""))
    if table:
        return next(group for group in table.groups() if group)
    requests = facts.gpu_requests
    named = next((request.shared_memory for request in requests if request.shared_memory), "")
    return {"67108864": "64M"}.get(named, named) or ("64M, Docker's default" if requests and not any(request.ipc == "host" for request in requests) else "")


@rule(
    "container.shared_memory",
    layer=CONTAINER,
    probes=(),
    symptom="NCCL cannot create a shared memory segment, a DataLoader worker is killed by a bus error, No space left on device for /dev/shm.",
    cause="The container's /dev/shm is too small: Docker gives 64 MB, and NCCL, PyTorch's DataLoader, Triton and Ray exchange data through it.",
    fix="Start the container with --shm-size=8g (Compose: shm_size: 8g) or --ipc=host; in Kubernetes mount an emptyDir with medium: Memory at /dev/shm.",
    verify="df -h /dev/shm in the container.",
    source="NVIDIA/nccl #290, #342; pytorch/pytorch #5040; vllm-project/vllm #1710; NVIDIA's framework container notes",
)
def shared_memory_suffices(facts: Facts, wanted: Wanted) -> Outcome:
    """The container's shared memory is large enough for its program"""
    said = heard(facts, SHARED_MEMORY)
    if said is None or without_toolkit(wanted):
        return not_seen(facts, wanted)
    size = shared_memory_size(facts)
    cause = (
        f"The container's shared memory /dev/shm is too small{f' ({size})' if size else ', 64 MB by default'}: NCCL, DataLoader workers and their like "
        "exchange data "
        "through it. It is no fault of disk, NCCL or GPU."
    )
    return failed("a /dev/shm of gigabytes", said, cause=cause)


@rule(
    "container.writable_root",
    layer=CONTAINER,
    probes=(),
    symptom="nvidia-container-cli: mount error: … read-only file system.",
    cause="The container's root is read-only (--read-only, readOnlyRootFilesystem), and the legacy hook must create mount points and the linker's cache in it.",
    fix="Ask by CDI (--device nvidia.com/gpu=all), whose mounts the runtime makes itself; or drop --read-only, or bring the mount points in the image.",
    verify="The same command starts.",
    source="NVIDIA/libnvidia-container nvc_mount.c, nvc_ldcache.c",
)
def root_takes_the_mounts(facts: Facts, wanted: Wanted) -> Outcome:
    """The hook can create its mount points in the container's root"""
    said = heard(facts, READ_ONLY)
    return not_seen(facts, wanted) if said is None or without_toolkit(wanted) else failed("a root that takes mounts", said)


@rule(
    "container.run_folder_is_its_own",
    layer=CONTAINER,
    probes=(),
    symptom="nvidia-container-cli: mount error: file creation failed: …/run/nvidia-persistenced/socket: no such device or address (or: no such "
    "file, is a directory).",
    cause="The container bind-mounts a folder over the place where the hook must create the mount point of a driver's socket or file.",
    fix="Do not bind-mount the host's /run or /var/run into the container: mount only the file or socket that is needed (-v "
    "/var/run/docker.sock:/var/run/docker.sock), "
    "or ask by CDI.",
    verify="The same command starts.",
    source="NVIDIA/libnvidia-container nvc_mount.c; NVIDIA/nvidia-docker #1690",
)
def run_folder_is_its_own(facts: Facts, wanted: Wanted) -> Outcome:
    """No bind mount lies over the mount points of the driver's sockets"""
    said = heard(facts, COVERED)
    if said is None or without_toolkit(wanted):
        return not_seen(facts, wanted)
    mounts = [match for run in facts.runs for match in re.findall(RUN_MOUNT, str(run.get("command") or ""))]
    how = f"the volume {mounts[0]} mounts the host's folder" if mounts else "a volume or bind mount of the host's /run (/var/run) lies"
    cause = f"The hook cannot create its mount point below /run in the container: {how} over the container's own /run."
    return failed("a /run of its own", said, cause=cause, confidence="high" if mounts else "medium")
