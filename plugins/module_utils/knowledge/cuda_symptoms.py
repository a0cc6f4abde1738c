# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What programs say when the CUDA user space of their container image does not fit driver or GPU: patterns, case ignored.

Sources: the tools' own message strings, as quoted in public reports, collected 2026-12-01: PyTorch c10/cuda and torch/cuda/__init__.py, TensorFlow
cuda_diagnostics and gpu_device, JAX xla_bridge, ONNX Runtime provider bridge, llama.cpp, CTranslate2, glibc and musl loaders, nvcc, cuda.h.
"""

from __future__ import annotations

from typing import NamedTuple

REQUIREMENT = r"unsatisfied condition: (?P<what>[^\n]*?)(?:,? please update|, or use an earlier|[:\\]? ?unknown|\\n|\"|$)"
BUILT_FOR_DRIVER = (
    r"container was built for (?:NVIDIA Driver Release|CUDA) (?P<what>[\d.]+)[^\n]*?(?:but|and)[^\n]*?(?:version|detected)[^\n]*?(?P<driver>\d[\d.]+)"
)
TOO_OLD = (
    r"driver version is insufficient for CUDA runtime version|cudaErrorInsufficientDriver"
    r"|NVIDIA driver on your system is too old(?: \(found version (?P<found>\d+)\))?"
    r"|CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER|cudaErrorCallRequiresNewerDriver|API call is not supported in the installed CUDA driver"
    r"|(?:requires|needs|minimum required|at least)[^\n]{0,40}(?:NVIDIA )?driver (?:version )?(?:for nvenc is |>= ?|of )?(?P<needs>\d{3}\.\d+)"
)
PTX = (
    r"provided PTX was compiled with an unsupported toolchain|CUDA_ERROR_UNSUPPORTED_PTX_VERSION|cudaErrorUnsupportedPtxVersion"
    r"|Unsupported \.version \d+\.\d+; current version is|PTX JIT compilation failed|CUDA_ERROR_INVALID_PTX|cudaErrorInvalidPtx"
)
COMPAT = r"forward compatibility was attempted on non supported HW|CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE|cudaErrorCompatNotSupportedOnDevice"
MISMATCH_803 = r"unsupported display driver ?/ ?cuda driver combination|CUDA_ERROR_SYSTEM_DRIVER_MISMATCH|cudaErrorSystemDriverMismatch"
STUB = r"CUDA driver is a stub library|CUDA_ERROR_STUB_LIBRARY|cudaErrorStubLibrary"
NVML_MISMATCH = r"Failed to initialize NVML: Driver/library version mismatch|RM has detected an NVML/RM version mismatch"

NO_KERNEL_IMAGE = "|".join(
    (
        r"no kernel image is available for execution on the device|CUDA_ERROR_NO_BINARY_FOR_GPU|cudaErrorNoKernelImageForDevice",
        r"device kernel image is invalid|CUDA_ERROR_INVALID_(?:IMAGE|SOURCE)",
        r"with CUDA capability (?P<sm>sm_\d+) is not compatible with the current PyTorch installation",
        r"cuda capability (?P<cc>\d+\.\d)\.?[^\n]*\n?[^\n]*(?:PyTorch no longer supports|too old)",
        r"PyTorch no longer supports this GPU because it is too old|minimum cuda capability supported by this library is",
        r"(?:not built with CUDA kernel binaries compatible with compute capability|Minimum required Cuda compute capability"
        r"|CUDA compute capability)[^\n]*\d+\.\d",
        r"[Uu]nsupported gpu architecture|(?:sm_\d+a?' is|'sm_\d+a?') not (?:a recognized|defined)|invalid value for --gpu-architecture"
        r"|gpu-name[^\n]{0,20}not defined",
        r"not compiled with any CUDA arch|compiled for CUDA arch(?:itecture)?s?|no device code compatible|does not support (?:this )?GPU arch",
        r"only supports? (?:Ampere|Turing|Hopper|Volta)[^\n]{0,20}GPUs? or newer|only supported on GPUs? with compute capability",
    )
)
SUPPORTED_LIST = r"(?:install|build) supports CUDA capabilities ((?:(?:sm|compute)_\d+a? ?)+)"

EXEC_FORMAT = (
    r"exec format error|cannot execute binary file: Exec format|requested image's platform \((?P<image>[\w/]+)\) does not match"
    r"|no matching manifest for (?P<host>[\w/]+)"
)
TEGRA_LIBRARIES = r"lib(?:nvrm\w*|nvbufsurface|nvbuf_utils|nvdla\w*|nvcudla|nvscibuf|nvsciipc|nvos|nvmm\w*|nvll\w*|nvtvmr|tegra\w*)\.so"
FILE_EXISTS = r"(?:file creation failed|mount error|failed to create (?:file|symlink))[^\n]*?(?P<what>[^/\s:]+\.so[\w.]*)[^\n]*file exists"

# A library of CUDA's user space that comes with the image and never from the host.
# TensorFlow names TensorRT's libraries (libnvinfer) at each start without them and goes on: no fault. tensorflow/tensorflow #46354, #58681
MISSING_LIBRARY = (
    r"(?<!dynamic library ')(?<!libnvinfer\.so\.\d'; dlerror: )(?<!libnvinfer_plugin\.so\.\d'; dlerror: )"
    r"(?P<what>lib(?:cublas\w*|cudnn\w*|cudart|cufft\w*|curand|cusolver\w*|cusparse\w*|nvrtc[\w-]*"
    r"|nvjitlink|nvtoolsext|nccl|nvinfer\w*|cupti|nppi?\w*|cufile|nvjpeg)\.so[\w.]*)"
    r"['\"]?(?:[^\n]{0,40}(?:cannot open shared object|not found|is not found|cannot be loaded|could not be (?:found|loaded))|; dlerror)"
    r"|(?:[Cc]ould not load|[Uu]nable to load|[Cc]annot (?:load|dlopen)|[Ff]ailed to load|Library)(?:(?!libnvinfer)[^\n]){0,40}?(?P<other>lib(?:cublas|cudnn"
    r"|cudart|cufft|nvrtc)[\w.-]*)"
    r"|Cannot dlopen some GPU libraries|getInferLibVersion symbol not found|Failed to create CUDAExecutionProvider"
    r"|CUDA (?:EP|provider)[^\n]{0,60}(?:Require|require)s? cuDNN"
)
LIBRARY_MISMATCH = (
    r"cuDNN version incompatibility|Loaded runtime CuDNN library: (?P<loaded>[\d.]+)[^\n]*compiled with: (?P<built>[\d.]+)"
    r"|CUDNN_STATUS_(?:SUBLIBRARY_)?VERSION_MISMATCH"
    r"|undefined symbol: \w*(?:nvJitLink|cublas|cudnn|cusparse)\w*|version `?lib(?:cublas|cudart|cudnn|nvJitLink)[\w.]*' not found"
    r"|CUDNN_STATUS_NOT_INITIALIZED|CUDNN_STATUS_ARCH_MISMATCH|CUBLAS_STATUS_ARCH_MISMATCH"
)
NO_COMPILER = (
    r"nvcc: (?:command )?not found|exec: \"nvcc\"|nvcc[^\n]{0,30}(?:No such file|not found)|CUDA_HOME environment variable is not set|Failed to find nvcc"
    r"|Could NOT find CUDA(?:Toolkit)? \("
    r"|CUDA_CUDART_LIBRARY|cuda_runtime(?:_api)?\.h: No such file|cannot find -lcud(?:art|nn)|No CUDA toolset found|Cannot find CUDA_HOME"
)


class CpuBuild(NamedTuple):
    """How a framework says that it was built without CUDA, and what to install instead."""

    framework: str
    pattern: str
    install: str


CPU_BUILDS = (
    CpuBuild(
        "torch",
        r"Torch not compiled with CUDA enabled|torch[=~ \w.-]{0,20}\d\.\d+\.\d+\+cpu|\b\d\.\d+\.\d+\+cpu\b|torch\.version\.cuda\W{1,6}None"
        r"|pytorch[-\w. =]*\bcpu_|pytorch-cpu"
        r"|py3[\d.]+_cpu_\d|cpuonly|Not compiled with GPU support|not compiled with CUDA support.{0,40}torch|CUDA used to build PyTorch: None"
        r"|Could not run 'torchvision::nms'",
        "pip install torch --index-url https://download.pytorch.org/whl/cu126 (or the cu build of the driver's CUDA)",
    ),
    CpuBuild(
        "tensorflow",
        r"tensorflow[-_]cpu|is_built_with_cuda\(?\)?\W{1,6}False|TensorFlow (?:binary|was)[^\n]{0,40}(?:not built with|without) (?:CUDA|GPU)"
        r"|dso_loader[^\n]*skipping[^\n]*CPU",
        "pip install 'tensorflow[and-cuda]', or the image tensorflow/tensorflow:<version>-gpu",
    ),
    CpuBuild(
        "onnxruntime",
        r"CUDAExecutionProvider'? is not in available provider|CUDAExecutionProvider not available"
        r"|Providers?\W{1,6}\[?'?(?:AzureExecutionProvider'?, '?)?CPUExecutionProvider'?\]?"
        r"|GPU package[^\n]{0,20}onnxruntime-gpu",
        "pip uninstall onnxruntime; pip install onnxruntime-gpu",
    ),
    CpuBuild(
        "jax",
        r"CUDA-enabled jaxlib is not installed|No GPU/TPU found, falling back to CPU|Unable to initialize backend 'cuda'|\[CpuDevice\(id=0\)\]"
        r"|Unknown backend:? '?(?:cuda|gpu)",
        "pip install 'jax[cuda12]'",
    ),
    CpuBuild(
        "llama.cpp",
        r"not compiled with (?:GPU offload|CUDA|cuBLAS)[^\n]{0,20}|compiled without (?:GPU|CUDA|cuBLAS) support|no usable GPU found, --gpu-layers"
        r"|\bBLAS = 0\b|ggml_cuda[^\n]*not compiled",
        "build with -DGGML_CUDA=on (CMAKE_ARGS for llama-cpp-python), or take the image's cuda variant",
    ),
    CpuBuild("CTranslate2", r"CTranslate2 package was not compiled with CUDA support", "install a CUDA build of ctranslate2 for this architecture"),
    CpuBuild("bitsandbytes", r"bitsandbytes[^\n]{0,40}compiled without GPU support", "install the CUDA build of bitsandbytes"),
    CpuBuild("PaddlePaddle", r"(?:Paddle|PaddlePaddle)[^\n]{0,60}not (?:be )?compiled with CUDA|compiled without CUDA", "pip install paddlepaddle-gpu"),
    CpuBuild("MXNet", r"Compile with USE_CUDA=1 to enable GPU", "pip install the mxnet-cu build"),
    CpuBuild("XGBoost", r"XGBoost version not compiled with GPU support|not compiled with (?:CUDA|GPU)[^\n]{0,30}xgboost", "install the CUDA build of xgboost"),
    CpuBuild("LightGBM", r"(?:GPU|CUDA) Tree Learner was not enabled in this build", "build LightGBM with -DUSE_CUDA=1"),
    CpuBuild("OpenCV", r"throw_no_cuda|compiled without CUDA support|OpenCV[^\n]{0,40}without CUDA|no CUDA support\)", "build OpenCV with -D WITH_CUDA=ON"),
    CpuBuild("DGL", r"Device API (?:cuda|gpu) is not enabled", "install the CUDA build of dgl"),
    CpuBuild("FAISS", r"module 'faiss' has no attribute '(?:StandardGpuResources|GpuIndex)", "install faiss-gpu"),
    CpuBuild("FFmpeg", r"Unknown (?:encoder '\w+_nvenc|decoder '\w+_cuvid|hwaccel '?cuda)", "use an FFmpeg built with --enable-nvenc --enable-cuvid"),
)
TORCH_FALSE = r"cuda\.is_available\(\)[^\n]{0,12}False|CUDA available\W{1,4}False|is_available\W{1,4}False"
TENSORFLOW_NONE = r"Could not find cuda drivers on your machine|list_physical_devices\(['\"]GPU['\"]\)[^\n]{0,20}\[\]|Num GPUs Available:\s+0"

OUT_OF_MEMORY = (
    r"CUDA out of memory|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|CUDA error: out of memory|CUDA error \d+: out of memory"
    r"|cudaMalloc failed: out of memory"
    r"|OOM when allocating tensor|RESOURCE_EXHAUSTED: (?:Out of memory|OOM)|less than desired GPU memory utilization|Free memory on device[^\n]*is less than"
)
BUSY = (
    r"all CUDA-capable devices are busy or unavailable|CUDA-capable device\(s\) is/are busy or unavailable|CUDA_ERROR_DEVICE_UNAVAILABLE"
    r"|cudaErrorDevicesUnavailable"
)
MPS = (
    r"MPS (?:client failed to connect|server (?:is not ready|failed))"
    r"|(?:cannot|failed to|unable to|could not)[^\n]{0,60}MPS control daemon|CUDA_ERROR_MPS_\w+|cudaErrorMps\w+|maximum number of (?:MPS"
    r"|client) connections"
)
MIG_SEVERAL = (
    r"NCCL[^\n]*(?:MIG|Duplicate GPU detected)|Duplicate GPU detected|(?:MIG|Multi-Instance)[^\n]{0,80}(?:only (?:one|a single)|one (?:instance|device|GPU)"
    r"|not supported)"
    r"|invalid device ordinal|tensor[_ -]parallel[^\n]{0,60}(?:greater|larger|exceeds)[^\n]{0,40}(?:number of|available)"
)
