# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""CUDA driver API results that a node or its container stack can cause: number, name, what usually lies behind it.

Numbers and names: cuda.h of CUDA 13.5 (PyPI nvidia-cuda-runtime 13.5.37). Causes: a synthesis of NVIDIA's container toolkit
troubleshooting, CUDA compatibility and fabric manager guides, and of docs.nvidia.com/nim/large-language-models/troubleshooting/cuda-driver.md
(802, 803), read 2026-11-30; they are likely, not certain.
"""

from __future__ import annotations

from typing import NamedTuple


class CudaError(NamedTuple):
    """One CUresult."""

    code: int
    name: str
    cause: str


ERRORS = {
    error.code: error
    for error in (
        CudaError(2, "CUDA_ERROR_OUT_OF_MEMORY", "the GPU's memory is taken by other processes"),
        CudaError(3, "CUDA_ERROR_NOT_INITIALIZED", "nvidia-uvm is not loaded or /dev/nvidia-uvm is missing"),
        CudaError(34, "CUDA_ERROR_STUB_LIBRARY", "the link-time stub of libcuda is found in place of the driver's library"),
        CudaError(36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", "the driver is too old for what was called"),
        CudaError(46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "another process holds the GPU exclusively, MIG has no compute instance, or the GPU needs a reset"),
        CudaError(100, "CUDA_ERROR_NO_DEVICE", "no GPU node is there, the module is of the wrong kind for the GPU, or the GPU has fallen off the bus"),
        CudaError(101, "CUDA_ERROR_INVALID_DEVICE", "a device is asked for that is not visible"),
        CudaError(102, "CUDA_ERROR_DEVICE_NOT_LICENSED", "a vGPU guest without a licence"),
        CudaError(209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "the program holds no code for this GPU"),
        CudaError(214, "CUDA_ERROR_ECC_UNCORRECTABLE", "an uncorrectable memory error of the GPU"),
        CudaError(218, "CUDA_ERROR_INVALID_PTX", "the driver's compiler refuses the kernel"),
        CudaError(
            221,
            "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
            "libnvidia-ptxjitcompiler.so.1 was not injected: the capability `compute` or a part of the driver is missing",
        ),
        CudaError(222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the driver is older than CUDA 9.0, which the kernel needs"),
        CudaError(223, "CUDA_ERROR_JIT_COMPILATION_DISABLED", "CUDA_DISABLE_PTX_JIT is set"),
        CudaError(304, "CUDA_ERROR_OPERATING_SYSTEM", "a system call failed: locked memory, /dev/shm or a limit of the control group"),
        CudaError(700, "CUDA_ERROR_ILLEGAL_ADDRESS", "the kernel touched memory that is not its own, or the GPU is faulty: look for an Xid"),
        CudaError(702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the kernel ran longer than the display watchdog allows"),
        CudaError(719, "CUDA_ERROR_LAUNCH_FAILED", "the kernel died on the device: look for an Xid"),
        CudaError(
            802,
            "CUDA_ERROR_SYSTEM_NOT_READY",
            "NVSwitch: the fabric manager does not run, failed, is of another version than the driver, or still trains the fabric",
        ),
        CudaError(
            803,
            "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
            "the driver's library and the loaded module are of different versions, or the container image brings its own libcuda",
        ),
        CudaError(804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "the forward compatibility package is used on a GPU that does not support it"),
        CudaError(805, "CUDA_ERROR_MPS_CONNECTION_FAILED", "the MPS control daemon does not run, or its pipe is not mounted"),
        CudaError(807, "CUDA_ERROR_MPS_SERVER_NOT_READY", "the MPS server recovers from a fault"),
        CudaError(
            999,
            "CUDA_ERROR_UNKNOWN",
            "access to a device node is denied or leads to a wrong major (nvidia-uvm above all), or the GPU is in a bad state after an Xid",
        ),
    )
}


def meaning(code: int | None) -> str:
    """What usually lies behind a CUresult, as the end of a sentence."""
    return ERRORS[code].cause if code in ERRORS else "not in our table: see CUresult in cuda.h"
