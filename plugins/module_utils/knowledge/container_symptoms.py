# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What programs in a container say when the container lacks something: patterns, case ignored, each wide enough for all versions of its tool.

Sources: the tools' own message strings, as quoted in public reports named beside them; collected 2026-12-01.
"""

from __future__ import annotations

# A program found no GPU, or no driver: torch, TensorFlow, JAX, CUDA samples, nvidia-smi, NVIDIA's entry points, ollama, ffmpeg.
NO_GPU = "|".join(
    (
        r"no CUDA-capable device is detected",
        r"CUDA_ERROR_NO_DEVICE|cudaErrorNoDevice",
        r"Found no NVIDIA driver on your system",
        r"No CUDA GPUs are available",
        r"The NVIDIA Driver was not detected",
        r"Failed to detect NVIDIA driver version",
        r"Could not find cuda drivers on your machine",
        r"failed call to cuInit: (?:UNKNOWN ERROR \(303\)|CUDA_ERROR_NO_DEVICE)",
        r"cuda\.is_available\(\)[^\n]{0,12}False|CUDA available\W{1,4}False|cuda is not available",
        r"no (?:compatible |NVIDIA |CUDA )?(?:GPUs?|devices?) (?:were |was |could be )?(?:found|detected|discovered)",
        r"(?:no|unable to (?:detect|find)|could not (?:detect|find)) (?:an? )?(?:NVIDIA|CUDA|usable)[- ](?:capable )?(?:GPU|device|driver)",
        r"(?<!load library failed: )libcuda(?:rt)?\.so[\w.]*: cannot open shared object|Could not (?:load|dlopen) (?:dynamic )?library '?libcuda\.so",
        r"Unable to load (?:cudart|nvcuda|CUDA management) library|unable to load CUDA driver library",
        r"NVIDIA-SMI couldn't find libnvidia-ml|(?<!load library failed: )libnvidia-ml\.so\.1: cannot open shared object|NVML Shared Library Not Found",
        r"NVIDIA-SMI has failed because it couldn't communicate|No devices were found|Failed to initialize NVML: (?:Driver Not Loaded|GPU Not Found)",
        r"falling back to CPU|running on CPU|GPU will not be used|Using (?:device: )?cpu\b|has_gpu\W{1,3}False",
        r"Torch not compiled with CUDA enabled",
        r"nvidia-smi[\"`']?:? (?:executable file |command )?not found",
    )
)

# The driver's libraries miss in the container; "load library failed" is the hook's word about the host.
NO_COMPUTE = (
    r"(?<!load library failed: )libcuda\.so[\w.]*: cannot open shared object|Could not (?:load|dlopen) (?:dynamic )?library '?libcuda\.so"
    r"|libnvidia-(?:ptxjitcompiler|nvvm|opencl)\.so[\w.]*: cannot open|CUDA_ERROR_JIT_COMPILER_NOT_FOUND|PTX JIT compiler library not found"
)
# No nvidia-smi: `utility` was not injected.
NO_NVIDIA_SMI = r"nvidia-smi[\"`']?:? (?:executable file |command )?not found|(?:stat|exec) \S*/nvidia-smi: no such file|\bnvidia-smi: No such file"
NO_UTILITY = NO_NVIDIA_SMI + r"|(?<!load library failed: )libnvidia-ml\.so\.1: cannot open shared object|NVML Shared Library Not Found"
# Encoder and decoder: `video`.
NO_VIDEO = (
    r"(?:Cannot load|cannot open|could not load|failed to load|unable to load)[^\n]{0,60}lib(?:nvidia-encode|nvcuvid|nvidia-opticalflow)"
    r"|lib(?:nvidia-encode|nvcuvid|nvidia-opticalflow)\.so[\w.]*:? (?:cannot open|not found)|Failed loading nvcuvid|nvEncodeAPI(?:CreateInstance)? not found"
)
# OpenGL, EGL, Vulkan, OptiX: `graphics`.
NO_GRAPHICS = (
    r"lib(?:EGL_nvidia|GLX_nvidia|nvidia-gl\w+|nvidia-eglcore|nvoptix|nvidia-rtcore|nvidia-glvkspirv)\.so[\w.]*:? (?:cannot open|not found)"
    r"|VK_ERROR_INCOMPATIBLE_DRIVER|OPTIX_ERROR_LIBRARY_NOT_FOUND|ERROR_INITIALIZATION_FAILED[^\n]*vkEnumeratePhysicalDevices|failed to (?:create"
    r"|initialize) (?:EGL|GLX)"
    r"|Could not find a compatible Vulkan ICD|Found no drivers|(?:EGL|GLX)[^\n]{0,40}(?:no (?:EGL )?devices|failed to initialize)"
    r"|nvidia_icd\.json[^\n]*(?:not found|No such)"
)
CAPABILITIES = (("compute", NO_COMPUTE), ("utility", NO_UTILITY), ("video", NO_VIDEO), ("graphics", NO_GRAPHICS))

# /dev/shm is full: NCCL, PyTorch, Python, Ray, Triton, MPI. NVIDIA/nccl #290, #342; pytorch/pytorch #5040; vllm-project/vllm #1710
SHARED_MEMORY = "|".join(
    (
        r"[Ee]rror while creating shared memory segment|Call to posix_fallocate failed ?: ?No space left|failed to (?:extend|open|create"
        r"|allocate) /dev/shm/\S+",
        r"unable to (?:open|write to|mmap|allocate|resize) [^\n]{0,40}(?:shared memory|</?torch_\d+)|insufficient shared memory|out of shared memory",
        r"worker[^\n]{0,40}killed by signal: Bus error|bus error encountered in worker|\bBus error\b",
        r"(?:No space left on device|Errno 28)[^\n]{0,80}(?:/dev/shm|shm|psm_)|/dev/shm[^\n]{0,80}(?:No space left|is full|too small|has only \d+ bytes)"
        r"|/dev/shm/[\s\S]{0,300}?(?:No space left on device|Errno 28)",
        r"shared memory (?:region|key)[^\n]{0,120}(?:unable|failed|No space)|[Uu]nable to initialize shared memory key"
        r"|increase the (?:available )?shared memory",
        r"ncclShmOpen|shmOpen[^\n]{0,60}(?:failed|error)|shm_open[^\n]{0,60}(?:failed|No space)|SharedMemory[^\n]{0,60}No space",
    )
)

# The container's root may not be written.
READ_ONLY = (
    r"nvidia-container-cli[^\n]*read-only file system|(?:mount|file creation|ldcache)[^\n]{0,60}error[^\n]*[Rr]ead-only file system"
    r"|ld\.so\.cache~?[^\n]*Read-only file system"
)

# A device index that is not there.
ORDINAL = r"invalid device ordinal|CUDA_ERROR_INVALID_DEVICE|cudaErrorInvalidDevice|Invalid device id|device ordinal[^\n]{0,40}(?:out of range|invalid)"
