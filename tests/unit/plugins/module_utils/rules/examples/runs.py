"""Examples of the rules of the layers container and cuda: evidence in which the rule fails, with words that its cause or remedy must have, and HEALTHY,
in which each passes or, where it knows only a symptom, does not apply.

The messages are the tools' own, as quoted in public reports (the sources of knowledge/container_symptoms.py and cuda_symptoms.py).
"""

from __future__ import annotations

import json
from typing import Any

from ..gpu_runs import DOCKER, GOOD, UUIDS, failing, refused, report, run

SMI = "| NVIDIA-SMI 550.144.03    Driver Version: 550.144.03    CUDA Version: 12.4 |\n"
NO_LIBCUDA = "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory"
NO_CUDA = "RuntimeError: No CUDA GPUs are available"
HOOK = "OCI runtime create failed: error running hook #0: exit status 1, stdout: , stderr: nvidia-container-cli: "
RESERVED = "services:\n  a:\n    image: x\n    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1, capabilities: [gpu]}]}}}\n"


REPORT = {"schema": "goldnode.cuda_probe/v1", "nonce": "5eed", "simulated": True, "library": "libcuda.so.1", "driver_version": 13000, "ok": True, "devices": []}
WELL = {"engine": "docker", "request": "gpus", "payload": "cuda_probe", "stdout": json.dumps(REPORT), "rc": 0}


def app(text: str, **run: Any) -> dict[str, Any]:
    """A program in a container that says this."""
    return {"runs": [{"engine": "docker", "payload": "app", "stderr": text, "rc": 1, **run}]}


def on(evidence: dict[str, Any], stated: dict[str, Any] | None = None, **probes: Any) -> dict[str, Any]:
    """The same with probes and stated values."""
    return {**evidence, "probes": probes, "stated": stated or {}}


def probed(*runs: dict[str, Any]) -> dict[str, Any]:
    """Runs of the canary on a node whose own CUDA probe is well."""
    return {"probes": {**DOCKER, "cuda_probe": GOOD}, "runs": list(runs)}


HEALTHY = probed(run("cdi"), run("gpus"), run("runtime"), run("compose", path="compose"))

FAILING: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("container.gpu_requested", on(app(NO_CUDA), compose_file="services:\n  a:\n    image: x\n"), ("service a", "device request", "reservations")),
    ("container.gpu_requested", app(NO_CUDA, command="docker run --rm torch-app python train.py"), ("--gpus", "Nobody asked")),
    ("container.gpu_requested", app("x", command="docker run --rm ubuntu --gpus all"), ("after the image name",)),
    ("container.gpu_requested", app("The NVIDIA Driver was not detected.  GPU functionality will not be available.", request="none"), ("Nobody asked",)),
    (
        "container.gpu_requested",
        on(
            app(NO_CUDA),
            docker_inspect=json.dumps([{"HostConfig": {"DeviceRequests": None, "Runtime": "runc"}, "Config": {"Env": ["NVIDIA_VISIBLE_DEVICES=all"]}}]),
        ),
        ("NVIDIA_VISIBLE_DEVICES=all is only an environment variable",),
    ),
    ("container.driver_capabilities", on(app(NO_LIBCUDA), compose_file=RESERVED.replace("[gpu]", "[gpu, utility]")), ("utility without compute",)),
    ("container.driver_capabilities", on(app("nvidia-smi: command not found"), {"image_env": "NVIDIA_DRIVER_CAPABILITIES=compute"}), ("without utility",)),
    ("container.driver_capabilities", app("Cannot load libnvidia-encode.so.1"), ("without video", "NVIDIA_DRIVER_CAPABILITIES")),
    (
        "container.driver_capabilities",
        on(app("[hevc_nvenc @ 0x5] Failed to open encoder: hevc_nvenc: Invalid argument"), {"image_env": "NVIDIA_DRIVER_CAPABILITIES=utility,compute"}),
        ("without video", "NVIDIA_DRIVER_CAPABILITIES"),
    ),
    (
        "cuda.jetson_release",
        on(
            app("nvidia-container-cli: mount error: file creation failed: /x/libcudnn_static.a: file exists", image="nvcr.io/nvidia/tritonserver:22.01-py3"),
            {"gpu": "Jetson AGX Xavier"},
        ),
        ("made for servers", "L4T"),
    ),
    ("container.gpu_requested", app(NO_CUDA, engine="enroot", request="none"), ("enroot", "NVIDIA_VISIBLE_DEVICES=all")),
    ("container.driver_capabilities", app("libEGL_nvidia.so.0: cannot open shared object file"), ("without graphics",)),
    (
        "container.nvidia_smi",
        app('runc create failed: unable to start container process: exec: "nvidia-smi": executable file not found in $PATH: unknown.', rc=127),
        ("no GPU was asked for", "utility"),
    ),
    ("container.bare_devices", app(NO_LIBCUDA, command="docker run --device /dev/nvidia0 --device /dev/nvidiactl x"), ("no driver libraries",)),
    ("container.bare_devices", app("CUDA_ERROR_UNKNOWN", command="docker run --device /dev/nvidia0 --device /dev/nvidiactl x"), ("/dev/nvidia-uvm",)),
    ("container.visible_devices", app(NO_CUDA, command="docker run --gpus all -e CUDA_VISIBLE_DEVICES=-1 x"), ("hides every GPU",)),
    ("container.visible_devices", app(NO_CUDA, command="docker run --gpus '\"device=3\"' -e CUDA_VISIBLE_DEVICES=3 x"), ("numbered from 0",)),
    ("container.visible_devices", app("CUDA error: invalid device ordinal", command="docker run --gpus 1 x"), ("beyond the 1 GPU",)),
    ("container.visible_devices", app(NO_CUDA, command="docker run --runtime=nvidia ubuntu nvidia-smi"), ("NVIDIA_VISIBLE_DEVICES unset",)),
    (
        "container.devices_as_requested",
        {
            "runs": [
                {
                    "payload": "nvidia_smi_list",
                    "rc": 0,
                    "stdout": "GPU 0: A (UUID: 1)\nGPU 1: A (UUID: 2)\n",
                    "command": "docker run --privileged --gpus 1 x nvidia-smi -L",
                }
            ]
        },
        ("privileged",),
    ),
    (
        "container.devices_as_requested",
        {"runs": [], "stated": {"service_requested_gpu_count": 1, "service_visible_gpu_count": 8}},
        ("asked for 1 GPU(s) and the container sees 8",),
    ),
    (
        "container.device_order",
        on(
            {"runs": [{"payload": "torch_probe", "rc": 0, "stdout": "cuda:0 NVIDIA A100\ncuda:1 NVIDIA T4\n"}]},
            nvidia_smi_list="GPU 0: NVIDIA T4 (UUID: a)\nGPU 1: NVIDIA A100 (UUID: b)\n",
        ),
        ("CUDA_DEVICE_ORDER",),
    ),
    ("container.device_id", app(HOOK + "device error: 3: unknown device: unknown.", rc=125), ("GPU 3",)),
    ("container.device_id", app(HOOK + "device error: unknown device id: 1", rc=125), ("GPU 1",)),
    (
        "container.device_id",
        on(app("unresolvable CDI devices nvidia.com/gpu=7", rc=125), cdi_list="nvidia.com/gpu=0\nnvidia.com/gpu=all\n"),
        ("nvidia.com/gpu=7", "has not"),
    ),
    ("container.driver_library", app(NO_LIBCUDA), ("libcuda.so.1",)),
    (
        "container.jetson_runtime",
        on(
            app("ImportError: libcudart.so.10.2: cannot open shared object file: No such file or directory", command="docker run --gpus all l4t-app"),
            l4t_version="# R32 (release), REVISION: 7.1, GCID: 29818004, BOARD: t210ref",
        ),
        ("--runtime nvidia", "CSV"),
    ),
    ("container.shared_memory", app("RuntimeError: DataLoader worker (pid 13) is killed by signal: Bus error. "), ("shm", "--shm-size")),
    ("container.shared_memory", app("Error while creating shared memory segment /dev/shm/nccl-pZafXL (size 7340384)"), ("/dev/shm",)),
    ("container.shared_memory", app("unable to open shared memory object </torch_1_2> in read-write mode"), ("/dev/shm",)),
    ("container.writable_root", app(HOOK + "mount error: file creation failed: /usr/bin/nvidia-smi: read-only file system"), ("read-only",)),
    (
        "container.run_folder_is_its_own",
        app(
            HOOK + "mount error: file creation failed: /var/lib/docker/overlay2/x/merged/run/nvidia-persistenced/socket: no such device or address",
            command="docker run --gpus all -v /run:/run x",
        ),
        ("/run:/run", "bind-mount"),
    ),
    ("cuda.gpu_is_used", {"runs": [WELL, *app("CUDA is not available, using CPU", rc=0, request="gpus")["runs"]]}, ("fell back to the CPU", "CPU-only")),
    (
        "container.run_by_cdi",
        probed(refused("cdi", "docker: Error response from daemon: CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=all.\n")),
        ("nvidia.com/gpu=all", "nvidia-cdi-refresh"),
    ),
    (
        "container.run_by_gpus",
        probed(refused("gpus", 'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\n')),
        ("nvidia-container-runtime-hook", "restart docker"),
    ),
    (
        "container.run_by_runtime",
        probed(refused("runtime", "docker: Error response from daemon: unknown or invalid runtime name: nvidia.\n")),
        ("no runtime nvidia", "nvidia-ctk runtime configure"),
    ),
    ("container.devices_differ", probed(run("cdi", report(UUIDS[0]))), ("device",)),
    ("container.run_otherwise", app("docker: Error response from daemon: the moon is full.", rc=125), ("engine",)),
    ("container.run_otherwise", app("cannot set both Count and DeviceIDs on device request", rc=125), ("count",)),
    ("container.run_otherwise", app("services.a.deploy Additional properties are not allowed ('devices' was unexpected)"), ("devices", "docker compose")),
    ("container.run_otherwise", app("Unsupported config option for services.gpu: 'runtime'"), ("runtime", "file format 2.3")),
    ("cuda.architecture", on(app("CUDA error: no kernel image is available for execution on the device"), {"gpu": "Tesla P100"}), ("sm_60", "Pascal", "cu126")),
    (
        "cuda.architecture",
        app("NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation."),
        ("sm_120", "torch", "12.8"),
    ),
    (
        "cuda.architecture",
        app("Found GPU0 Quadro K620 which is of cuda capability 5.0.\nPyTorch no longer supports this GPU because it is too old."),
        ("sm_50", "too old"),
    ),
    (
        "cuda.image_requirement",
        on(app(HOOK + "requirement error: unsatisfied condition: cuda>=12.8, please update your driver"), nvidia_smi=SMI),
        ("cuda>=12.8", "550.144.03", "570.26"),
    ),
    ("cuda.image_requirement", app('requirement error: unsatisfied condition: brand = tesla\\\\n\\""'), ("brand = tesla",)),
    (
        "cuda.driver_too_old",
        on(app("CUDA driver version is insufficient for CUDA runtime version", image="nvidia/cuda:13.0.0-runtime"), nvidia_smi=SMI),
        ("13.0", "580.65.06", "12.4"),
    ),
    ("cuda.driver_too_old", app("The NVIDIA driver on your system is too old (found version 11040)."), ("11.4",)),
    ("cuda.ptx_version", on(app("CUDA error: the provided PTX was compiled with an unsupported toolchain."), nvidia_smi=SMI), ("PTX", "12.4")),
    (
        "cuda.forward_compatibility",
        on(app("Error 804: forward compatibility was attempted on non supported HW"), {"gpu": "GeForce RTX 3060"}),
        ("GeForce RTX 3060", "compat"),
    ),
    ("cuda.driver_combination", on(app("Error 803: system has unsupported display driver / cuda driver combination"), nvidia_smi=SMI), ("libcuda",)),
    ("cuda.framework_build", app("AssertionError: Torch not compiled with CUDA enabled"), ("CPU-only build of torch",)),
    ("cuda.framework_build", {"runs": [{"payload": "torch_probe", "rc": 0, "stdout": "2.1.0+cpu False"}]}, ("torch",)),
    ("cuda.framework_build", {"runs": [], "stated": {"torch_version": "2.1.0+cpu"}}, ("torch",)),
    ("cuda.framework_build", app("An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed."), ("jax",)),
    ("cuda.framework_build", app("CUDAExecutionProvider not available"), ("onnxruntime-gpu",)),
    (
        "cuda.library_missing",
        app("Could not load library libcudnn_ops_infer.so.8. Error: libcudnn_ops_infer.so.8: cannot open shared object file"),
        ("libcudnn_ops_infer.so.8",),
    ),
    ("cuda.library_missing", app("RuntimeError: Library libcublas.so.12 is not found or cannot be loaded"), ("libcublas.so.12",)),
    ("cuda.library_missing", app("Cannot dlopen some GPU libraries. Skipping registering GPU devices..."), ("image",)),
    ("cuda.library_mismatch", app("undefined symbol: __nvJitLinkAddData_12_1, version libnvJitLink.so.12"), ("version",)),
    ("cuda.compiler_missing", app("OSError: CUDA_HOME environment variable is not set."), ("devel",)),
    (
        "cuda.driver_files_in_image",
        app(HOOK + "mount error: file creation failed: /a/merged/usr/lib/x86_64-linux-gnu/libcuda.so.1: file exists: unknown."),
        ("libcuda.so.1", "image"),
    ),
    (
        "cuda.driver_files_in_image",
        on(app("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 565.57"), nvidia_smi=SMI),
        ("image",),
    ),
    ("cuda.c_library", app("/bin/sh: nvidia-smi: not found", image="alpine:3.20"), ("musl", "glibc")),
    ("cuda.c_library", app("Error loading shared library libcuda.so.1: No such file or directory"), ("musl",)),
    ("cuda.jetson_release", on(app("x", image="nvcr.io/nvidia/l4t-ml:r36.2.0-py3"), l4t_version="# R35 (release), REVISION: 4.1, GCID: 3"), ("R36.2", "R35.4")),
    ("cuda.image_platform", on(app("exec /usr/bin/python3: exec format error"), uname_m="aarch64\n"), ("aarch64",)),
    ("cuda.stub_library", app("CUDA driver is a stub library"), ("stubs",)),
    (
        "cuda.out_of_memory",
        on(
            app("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"),
            nvidia_smi=SMI + "|    0   N/A  N/A   1234   C   python   20000MiB |\n",
        ),
        ("1234",),
    ),
    (
        "cuda.device_busy",
        on(app("CUDA error: all CUDA-capable devices are busy or unavailable"), nvidia_smi_q="    Compute Mode : Exclusive_Process\n"),
        ("Exclusive_Process",),
    ),
    ("cuda.mps", app("MPS client failed to connect to the MPS control daemon or the MPS server"), ("MPS",)),
    (
        "cuda.calls_succeed",
        probed(run("gpus", report(devices=[], **failing("cuInit", 802, "CUDA_ERROR_SYSTEM_NOT_READY")), rc=1)),
        ("cuInit", "fabric manager"),
    ),
    ("cuda.wrong_result", probed(run("cdi", report(*UUIDS, **failing("compare", 0, "CUDA_SUCCESS", "1 of 65537 elements differ")), rc=1)), ("wrong number",)),
    ("cuda.nonce", probed(run("cdi", report(*UUIDS, nonce="0badcafe"))), ("another turn",)),
    ("cuda.library_version", probed(run("gpus", report(*UUIDS, library="/usr/local/cuda/compat/libcuda.so.575.57.08"))), ("libcuda", "container image")),
    (
        "cuda.mig_one_instance",
        on(app("Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 1000"), {"mig_layout": "2x 3g.40gb"}),
        ("one MIG instance",),
    ),
]

# What belongs to another layer, or is no fault: no rule of these layers may fail.
HARMLESS: list[dict[str, Any]] = [
    app(HOOK + "initialization error: nvml error: driver/library version mismatch: unknown.", rc=125),
    app(HOOK + "initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory: unknown.", rc=125),
    app("docker: Error response from daemon: unknown or invalid runtime name: nvidia."),
    app("unresolvable CDI devices nvidia.com/gpu=all", rc=125),
    on({"runs": [{"request": "cdi", "rc": 0, "stdout": "GPU 0: NVIDIA T4 (UUID: a)\n"}]}, {"image_env": "NVIDIA_VISIBLE_DEVICES=void"}),
    on({"runs": [{"request": "compose", "rc": 0, "stdout": "ready", "payload": "app"}]}, compose_file=RESERVED),
    app("CUDA error: unspecified launch failure"),
    app("done", command="docker run --gpus all trainer python train.py --gpus 2 --device cuda", rc=0),
    {"probes": {"pod_log": NO_LIBCUDA}},
    app("done", command="docker run whisper --device cpu", rc=0),
    app("nvidia-smi: not found", image="nvcr.io/nvidia/l4t-base:r35.2.1") | {"probes": {"l4t_version": "# R35 (release), REVISION: 2.1"}},
]
