# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A Kubernetes manifest -> workloads: every pod template in it, whatever its kind (Pod, Job, CronJob, List, and those of operators)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.goldnode.gpu.plugins.plugin_utils.workload.compose import items, texts
from ansible_collections.goldnode.gpu.plugins.plugin_utils.workload.model import DEFAULT_SHM, KUBERNETES, SHM, Mistake, Request, Workload, size_of

POD_KINDS = ("Pod", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob")
DURABLE = ("persistentVolumeClaim", "hostPath", "nfs", "csi", "ephemeral", "cephfs", "iscsi", "fc", "azureFile", "glusterfs")
# NVIDIA k8s-device-plugin: gpu, gpu.shared, and mig-<profile> with `.me` for `+me`.
RESOURCE = re.compile(r"nvidia\.com/(?:gpu|mig-\d+g\.\d+gb(?:\.\w+)*)(?:\.shared)?")
MEANT_AS_GPU = re.compile(r"^(?:nvidia\.com/(?!.*(?:hostdev|rdma|vgpu|pgpu|GP|TU|GA)).*|nvidia/.*|gpus?|alpha\.kubernetes\.io/nvidia-gpu|nvidia-gpu|mig-.*)$")


def is_manifest(content: Mapping[str, Any]) -> bool:
    """Whether a document is an object of Kubernetes."""
    return isinstance(content.get("kind"), str) and "apiVersion" in content


def workloads(file: str, content: Mapping[str, Any]) -> Iterator[Workload]:
    """Each container of each pod template of an object."""
    for owner, spec in pods(content, "", set()):
        for container in [*items(spec.get("initContainers")), *items(spec.get("containers"))]:
            if isinstance(container, dict):
                yield workload(file, owner, spec, container)


def pods(value: Any, owner: str, seen: set[int]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every pod specification, with the kind and name of the object that it is in; an alias is followed once."""
    if not isinstance(value, (dict, list)) or id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, dict):
        metadata = value.get("metadata")
        if isinstance(value.get("kind"), str) and isinstance(metadata, dict) and metadata.get("name"):
            owner = f"{value['kind']}/{metadata['name']}"
        if isinstance(value.get("containers"), list):
            yield owner, value
        elif "containers" in value and owner.partition("/")[0] in POD_KINDS:
            raise TypeError(f"the containers of {owner} are no list, which the API server refuses")
    for inner in value.values() if isinstance(value, dict) else value:
        yield from pods(inner, owner, seen)


def workload(file: str, owner: str, spec: Mapping[str, Any], container: Mapping[str, Any]) -> Workload:
    """One container of a pod."""
    volumes = {str(volume.get("name")): volume for volume in items(spec.get("volumes")) if isinstance(volume, dict)}
    mounts = {str(mount.get("mountPath")): volumes.get(str(mount.get("name")), {}) for mount in items(container.get("volumeMounts")) if isinstance(mount, dict)}
    return Workload(
        file=file,
        name=f"{owner or 'Pod'}/{container.get('name') or '?'}",
        engine=KUBERNETES,
        image=str(container.get("image") or ""),
        command=" ".join([*texts(container.get("command")), *texts(container.get("args"))]),
        environment={
            str(entry.get("name")): str(entry.get("value") or "")
            for entry in items(container.get("env"))
            if isinstance(entry, dict) and "valueFrom" not in entry
        },
        request=request(mapping(container.get("resources"))),
        nvidia_runtime=spec.get("runtimeClassName") == "nvidia",
        device_nodes=tuple(sorted(path for volume in mounts.values() if is_device(path := str(mapping(volume.get("hostPath")).get("path") or "")))),
        privileged=mapping(container.get("securityContext")).get("privileged") is True,
        shared_memory=shared_memory(spec, mounts),
        durable=tuple(path for path, volume in mounts.items() if any(kind in volume for kind in DURABLE) and not is_device(path)),
    )


def mapping(value: Any) -> Mapping[str, Any]:
    """A mapping, or an empty one."""
    return value if isinstance(value, dict) else {}


def is_device(path: str) -> bool:
    """The GPU's nodes, or all of /dev."""
    return path.startswith("/dev/nvidia") or path.rstrip("/") == "/dev"


def shared_memory(spec: Mapping[str, Any], mounts: Mapping[str, Mapping[str, Any]]) -> int | None:
    """Shared memory: the host's, a volume of its own, or the 64 MB of the runtime."""
    if spec.get("hostIPC") is True:
        return None
    volume = mounts.get(SHM)
    if volume is None:
        return DEFAULT_SHM
    limit = mapping(volume.get("emptyDir")).get("sizeLimit")
    return size_of(limit) if limit is not None else None


def request(resources: Mapping[str, Any]) -> Request:
    """Limits, requests and claims as one request."""
    limits, requests = mapping(resources.get("limits")), mapping(resources.get("requests"))
    asked = {str(name): value for name, value in limits.items() if RESOURCE.fullmatch(str(name)) and str(value) != "0"}
    claims = bool(items(resources.get("claims")))
    counts = [int(value) for value in asked.values() if re.fullmatch(r"\d{1,9}", str(value))]
    return Request(
        forms=(*(f"limits: {name}" for name in asked), *(["claims"] if claims else [])),
        count=sum(counts) if counts else None,
        mistakes=(*misnamed({**requests, **limits}), *unequal(limits, requests), *fractional(asked)),
    )


def misnamed(resources: Mapping[Any, Any]) -> Iterator[Mistake]:
    """Names that no device plugin of NVIDIA offers."""
    for name in map(str, resources):
        if MEANT_AS_GPU.match(name) and not RESOURCE.fullmatch(name):
            yield Mistake(
                f"resource {name}",
                f"{name} is no resource of NVIDIA's device plugin: it offers nvidia.com/gpu, nvidia.com/gpu.shared and nvidia.com/mig-<n>g.<m>gb.",
            )


def unequal(limits: Mapping[Any, Any], requests: Mapping[Any, Any]) -> Iterator[Mistake]:
    """Extended resources are not overcommitted: a limit is needed, and a request must be equal to it."""
    for name, value in requests.items():
        if RESOURCE.fullmatch(str(name)) and str(limits.get(name)) != str(value):
            seen = f"requests {value}, limits {limits.get(name, 'none')}"
            yield Mistake(f"{name}: {seen}", f"{name} needs a limit, and requests must be equal to it: the API server refuses the pod ({seen}).")


def fractional(asked: Mapping[str, Any]) -> Iterator[Mistake]:
    """A GPU is asked for whole."""
    for name, value in asked.items():
        if not str(value).isdigit():
            yield Mistake(
                f"{name}: {value}", f"{name} is counted in whole units, {value} is none: share a GPU by MIG, time-slicing or MPS in the device plugin instead."
            )
