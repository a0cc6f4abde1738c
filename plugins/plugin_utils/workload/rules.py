# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The linter's rules: each says what it saw about one workload, or nothing; the decorator's words are its page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ansible_collections.goldnode.gpu.plugins.plugin_utils.workload.model import COMPOSE, KUBERNETES, Mistake, Workload, image_of

ERROR = "error"
WARNING = "warning"
FLOATING = ("latest", "nightly", "main", "master", "dev", "edge", "stable", "devel", "runtime", "base")
TRAINING_SHM = 1 << 30
MOUNT_SHM = {
    COMPOSE: "Set shm_size: 8gb (or ipc: host) in the service.",
    KUBERNETES: "Mount memory: volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 8Gi}}], volumeMounts: [{name: shm, mountPath: /dev/shm}].",
}
# How to ask, by engine, with the versions that need it (docs/workloads.md).
RIGHT_FORM = {
    COMPOSE: "Ask by deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1, capabilities: [gpu]}]}}} (Docker 19.03, Compose 1.28 and "
    "later; Compose 2.30 also takes gpus: [{driver: nvidia, count: 1}]), or by CDI: {driver: cdi, device_ids: ['nvidia.com/gpu=0'], capabilities: [gpu]} "
    "(Docker 28.2 and later, from 25.0 with features.cdi).",
    KUBERNETES: "Ask by resources: {limits: {nvidia.com/gpu: 1}} (MIG strategy mixed: nvidia.com/mig-1g.10gb: 1), with runtimeClassName: nvidia where runc "
    "is the default runtime and CDI is off; from Kubernetes 1.34 also by a ResourceClaim of deviceClassName gpu.nvidia.com.",
}
Look = Callable[[Workload], "Iterator[Mistake]"]


@dataclass(frozen=True)
class WorkloadRule:
    """A rule with the words of its page. `form`: its remedy ends with the right way to ask."""

    id: str
    look: Look
    severity: str
    form: bool
    title: str
    symptom: str
    cause: str
    fix: str
    verify: str
    source: str


WORKLOAD_RULES: dict[str, WorkloadRule] = {}


def rule(identifier: str, *, severity: str, symptom: str, cause: str, fix: str, verify: str, source: str, form: bool = False) -> Callable[[Look], Look]:
    """Registers the decorated function as `workload.<condition>`; its docstring's first line is the page's title."""

    def register(look: Look) -> Look:
        title = (look.__doc__ or "").strip().splitlines()[0]
        WORKLOAD_RULES[f"workload.{identifier}"] = WorkloadRule(f"workload.{identifier}", look, severity, form, title, symptom, cause, fix, verify, source)
        return look

    return register


def remedy(one: WorkloadRule, workload: Workload) -> str:
    """A rule's fix, with the right form for the workload's engine."""
    fix = MOUNT_SHM[workload.engine] if one.id == "workload.shared_memory" else one.fix
    return f"{fix} {RIGHT_FORM[workload.engine]}" if one.form else fix


@rule(
    "request_missing",
    severity=ERROR,
    symptom="The job starts and computes on the CPU, a hundred times slower, or says 'no CUDA-capable device is detected'.",
    cause="The workload needs a GPU and asks for none.",
    fix="Ask for as many GPUs as it needs.",
    verify="nvidia-smi -L in the container lists them.",
    source="docs.docker.com, GPU access with Docker Compose; Kubernetes, Schedule GPUs",
    form=True,
)
def request_missing(workload: Workload) -> Iterator[Mistake]:
    """A workload that needs a GPU asks for one"""
    if workload.wants and not workload.asks and not workload.visible_devices and not workload.request.mistakes and not workload.device_nodes:
        yield Mistake(workload.wants, f"It needs a GPU ({workload.wants}) and asks for none: it gets none, or falls back to the CPU.")


@rule(
    "request_by_environment",
    severity=ERROR,
    symptom="The container sees no GPU, or, where nvidia is the default runtime, all of them, past the scheduler.",
    cause="NVIDIA_VISIBLE_DEVICES is no request: it means something to NVIDIA's runtime only, and no scheduler reads it.",
    fix="Take NVIDIA_VISIBLE_DEVICES out.",
    verify="nvidia-smi -L in the container lists as many GPUs as were asked for.",
    source="NVIDIA/k8s-device-plugin #87; NVIDIA Container Toolkit, docker-specialized",
    form=True,
)
def request_by_environment(workload: Workload) -> Iterator[Mistake]:
    """GPUs are asked for by a request, not by an environment variable"""
    if workload.visible_devices and not workload.asks:
        seen = f"NVIDIA_VISIBLE_DEVICES={workload.visible_devices}"
        yield Mistake(seen, f"{seen} is no request: without the NVIDIA runtime it gives nothing, and with it as default runtime GPUs that nobody reserved.")
    elif workload.visible_devices and workload.engine == KUBERNETES:
        seen = f"NVIDIA_VISIBLE_DEVICES={workload.visible_devices} beside {', '.join(workload.request.forms)}"
        yield Mistake(seen, "The device plugin sets NVIDIA_VISIBLE_DEVICES itself; one in the manifest overrides which GPUs the container sees.")


@rule(
    "request_form",
    severity=ERROR,
    symptom="The engine or the API server refuses the file, or the pod stays Pending for a resource that nobody offers.",
    cause="The request for a GPU has a form that its engine does not take.",
    fix="Write the request in a form that the engine takes.",
    verify="docker compose config, or kubectl apply --dry-run=server, accepts it.",
    source="Compose specification, deploy.resources.reservations.devices; moby daemon/devices_nvidia_linux.go; Kubernetes, extended resources",
    form=True,
)
def request_form(workload: Workload) -> Iterator[Mistake]:
    """The request has a form that its engine takes"""
    yield from workload.request.mistakes


@rule(
    "device_nodes",
    severity=ERROR,
    symptom="libcuda.so.1: cannot open shared object file, though /dev/nvidia0 is in the container.",
    cause="Bare device nodes bring no driver libraries, and in Kubernetes they go past the scheduler.",
    fix="Take the /dev/nvidia* nodes out.",
    verify="ldconfig -p in the container lists libcuda.so.1.",
    source="NVIDIA Container Toolkit documentation",
    form=True,
)
def device_nodes(workload: Workload) -> Iterator[Mistake]:
    """No device nodes are passed by hand"""
    if workload.device_nodes:
        seen = ", ".join(workload.device_nodes)
        yield Mistake(seen, f"{seen}: device nodes by hand bring no driver libraries, and nobody reserves the GPU.")


@rule(
    "driver_capabilities",
    severity=ERROR,
    symptom="nvidia-smi works in the container, and CUDA says libcuda.so.1 is missing.",
    cause="The driver capabilities that are asked for leave out compute, so libcuda is not injected.",
    fix="Add compute: capabilities: [gpu, compute, utility], NVIDIA_DRIVER_CAPABILITIES=compute,utility; or name gpu alone and leave the variable out.",
    verify="ldconfig -p in the container lists libcuda.so.1.",
    source="NVIDIA Container Toolkit, driver capabilities",
)
def driver_capabilities(workload: Workload) -> Iterator[Mistake]:
    """The driver's capabilities have compute"""
    asked = {word for word in workload.request.capabilities if word not in ("gpu", "nvidia")}
    named = {word.strip() for word in workload.environment.get("NVIDIA_DRIVER_CAPABILITIES", "").split(",")} - {""}
    for words, where in ((asked, "capabilities"), (named, "NVIDIA_DRIVER_CAPABILITIES")):
        if words and not words & {"compute", "all"} and not any("$" in word for word in words):
            yield Mistake(
                f"{where}: {','.join(sorted(words))}", f"{where} names {', '.join(sorted(words))} and not compute: CUDA's libraries are not injected."
            )


@rule(
    "privileged",
    severity=ERROR,
    symptom="One container sees every GPU and every device of the node, whatever it was given.",
    cause="privileged: true takes all isolation away; a GPU does not need it.",
    fix="Take privileged out and ask for the GPU; profilers need cap_add: [SYS_ADMIN] at most.",
    verify="The workload runs without it, and nvidia-smi -L lists its GPUs alone.",
    source="docker run reference, --privileged; Kubernetes Pod Security Standards",
)
def privileged(workload: Workload) -> Iterator[Mistake]:
    """No GPU workload is privileged"""
    if workload.privileged:
        yield Mistake("privileged: true", "privileged: true gives the container every GPU and every other device of the node; a GPU needs no privilege.")


@rule(
    "all_gpus",
    severity=WARNING,
    symptom="A second job on the node meets GPUs that are taken; a job sees GPUs that were added later.",
    cause="The workload takes all GPUs of the node.",
    fix="Name how many (count: 1) or which (device_ids: ['0']) it needs.",
    verify="nvidia-smi -L in the container lists no more than it needs.",
    source="docs.docker.com, GPU access with Docker Compose",
)
def all_gpus(workload: Workload) -> Iterator[Mistake]:
    """A workload takes the GPUs that it needs, not all"""
    by_environment = "NVIDIA_VISIBLE_DEVICES=all" if workload.engine == COMPOSE and workload.visible_devices == "all" and workload.nvidia_runtime else ""
    seen = workload.request.all_gpus or by_environment
    if seen:
        yield Mistake(seen, f"It takes all GPUs of the node ({seen}).")


@rule(
    "floating_tag",
    severity=ERROR,
    symptom="The same file gives another CUDA or framework tomorrow than today, on one node and not on the other.",
    cause="The container image is named by a tag that moves, or by none, which means latest.",
    fix="Name the version and the digest: image: <repository>:<version>@sha256:… (docker buildx imagetools inspect <image> prints it).",
    verify="docker compose config --resolve-image-digests, or the manifest, names a digest.",
    source="docs.docker.com, image digests; docs/canary.md",
)
def floating_tag(workload: Workload) -> Iterator[Mistake]:
    """The container image has a version"""
    image = image_of(workload.image)
    if not workload.image or image.digest or "$" in workload.image:
        return
    if image.tag is None or image.tag in FLOATING or image.tag.endswith(("-latest", "-nightly")):
        yield Mistake(workload.image, f"{workload.image} names {'the tag ' + image.tag if image.tag else 'no tag, which means latest'}: it moves.")


@rule(
    "no_digest",
    severity=WARNING,
    symptom="A tag was pushed again, and nodes that pull later run something else.",
    cause="The container image is named by a version tag, which its owner can move.",
    fix="Add the digest: image: <repository>:<tag>@sha256:… (docker buildx imagetools inspect <image> prints it).",
    verify="The reference holds @sha256:.",
    source="docs.docker.com, image digests",
)
def no_digest(workload: Workload) -> Iterator[Mistake]:
    """The container image is named by its digest"""
    image = image_of(workload.image)
    if image.tag and not image.digest and "$" not in workload.image and not list(floating_tag(workload)):
        yield Mistake(workload.image, f"{workload.image} is named by a tag alone.")


@rule(
    "shared_memory",
    severity=ERROR,
    symptom="Training dies with a bus error, 'unable to mmap', 'No space left on device' from NCCL, or a DataLoader worker is killed.",
    cause="Shared memory (/dev/shm) has the default 64 MB (or less than 1 GiB), too little for data loaders and for NCCL between GPUs.",
    fix=" ".join(MOUNT_SHM.values()),
    verify="df -h /dev/shm in the container.",
    source="NVIDIA NCCL troubleshooting, shared memory; PyTorch README, Docker image",
)
def shared_memory(workload: Workload) -> Iterator[Mistake]:
    """Training has enough shared memory"""
    size = workload.shared_memory
    many = workload.trains or (workload.request.count or 0) > 1
    if many and size is not None and size < TRAINING_SHM:
        yield Mistake(f"{size >> 20} MB", f"Shared memory (/dev/shm) has {size >> 20} MB, too little for data loaders and for NCCL between GPUs.")


@rule(
    "no_checkpoint_volume",
    severity=WARNING,
    symptom="A training run that is restarted or moved begins at step 0, and its result is gone with the container.",
    cause="The workload trains and mounts nothing that outlives its container.",
    fix="Mount a volume for checkpoints and data: volumes: ['checkpoints:/checkpoints'] (Compose), a persistentVolumeClaim (Kubernetes).",
    verify="A file written there is still there after the container was created anew.",
    source="docs.docker.com, volumes; Kubernetes, Persistent Volumes",
)
def no_checkpoint_volume(workload: Workload) -> Iterator[Mistake]:
    """Training keeps its checkpoints on a volume"""
    if workload.trains and not workload.durable:
        yield Mistake("no volume", "It trains and mounts nothing that outlives its container: checkpoints are lost with it.")


@rule(
    "devel_image",
    severity=WARNING,
    symptom="Pulls take minutes, and the image brings compilers into production.",
    cause="The container image is a -devel variant, made for building, with CUDA's headers and compilers.",
    fix="Build in -devel and run on -runtime or -base (a multi-stage Dockerfile).",
    verify="docker image ls shows a third of the size; nvcc is not there.",
    source="NVIDIA CUDA container images, variants base, runtime, devel",
)
def devel_image(workload: Workload) -> Iterator[Mistake]:
    """No -devel image runs in production"""
    if "-devel" in (image_of(workload.image).tag or "") or (image_of(workload.image).tag or "").startswith("devel"):
        yield Mistake(workload.image, f"{workload.image} is a -devel variant, made for building.")
