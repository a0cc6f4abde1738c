#!/usr/bin/env python3
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Proves that CUDA computes: runs a kernel on every device through the driver API and compares each number with the CPU's.

The same file runs on a host and in a container: Python 3.6 or newer, standard library only, nothing of ours. It prints one JSON line
(`goldnode.cuda_probe/v1`) and ends with 0 if every device gave the right result, else with 1. Time limits are the caller's.

Nothing here can fall back to a CPU: input and output pass through memory of the device, the output is cleared there first, and the
kernel is handed to the driver as PTX. The input grows out of the nonce, so a judge who knows the nonce knows the checksum as well.
"""

import argparse
import array
import ctypes
import hashlib
import json
import secrets
import string
import sys
import uuid
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_uint, c_uint32, c_uint64, c_void_p
from typing import Any, Dict, List, Optional

SCHEMA = "goldnode.cuda_probe/v1"
LIBRARY = "libcuda.so.1"
# An odd number of elements, so that the last block is a partial one.
ELEMENTS = 65537
BLOCK = 256
SIZE = 4 * ELEMENTS
MULTIPLIER = 2654435761

# CUdevice_attribute and CUmemAttach_flags of cuda.h
COMPUTE_CAPABILITY_MAJOR, COMPUTE_CAPABILITY_MINOR, MANAGED_MEMORY = 75, 76, 83
MEM_ATTACH_GLOBAL = 1

# out[i] = rotl32(in[i] ^ nonce, 7) * 2654435761 + i. ISA 6.0 (CUDA 9.0) for Maxwell: every later driver compiles it for its own devices.
# -1640531535 is 2654435761 as a signed number, which is how PTX writes it.
PTX = b"""\
.version 6.0
.target sm_50
.address_size 64

.visible .entry goldnode_mix(
    .param .u64 goldnode_mix_out,
    .param .u64 goldnode_mix_in,
    .param .u32 goldnode_mix_nonce,
    .param .u32 goldnode_mix_n
)
{
    .reg .pred %p<2>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<8>;

    ld.param.u64 %rd1, [goldnode_mix_out];
    ld.param.u64 %rd2, [goldnode_mix_in];
    ld.param.u32 %r1, [goldnode_mix_nonce];
    ld.param.u32 %r2, [goldnode_mix_n];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.s32 %r6, %r3, %r4, %r5;
    setp.ge.u32 %p1, %r6, %r2;
    @%p1 bra DONE;

    cvta.to.global.u64 %rd3, %rd1;
    cvta.to.global.u64 %rd4, %rd2;
    mul.wide.u32 %rd5, %r6, 4;
    add.s64 %rd6, %rd4, %rd5;
    add.s64 %rd7, %rd3, %rd5;
    ld.global.u32 %r7, [%rd6];
    xor.b32 %r8, %r7, %r1;
    shf.l.wrap.b32 %r9, %r8, %r8, 7;
    mul.lo.s32 %r10, %r9, -1640531535;
    add.s32 %r11, %r10, %r6;
    st.global.u32 [%rd7], %r11;

DONE:
    ret;
}
"""
ENTRY = b"goldnode_mix"

# The argument types of cuda.h: CUdevice is an int, CUdeviceptr 64 bits wide, handles are pointers. Names with _v2 are what the header
# maps the plain ones to; a plain one beside it (UNVERSIONED) is what drivers before that version export.
SIGNATURES: Dict[str, List[Any]] = {
    "cuInit": [c_uint],
    "cuDriverGetVersion": [POINTER(c_int)],
    "cuDeviceGetCount": [POINTER(c_int)],
    "cuDeviceGet": [POINTER(c_int), c_int],
    "cuDeviceGetName": [c_char_p, c_int, c_int],
    "cuDeviceGetUuid": [c_char_p, c_int],
    "cuDeviceGetUuid_v2": [c_char_p, c_int],
    "cuDeviceGetPCIBusId": [c_char_p, c_int, c_int],
    "cuDeviceTotalMem_v2": [POINTER(c_size_t), c_int],
    "cuDeviceGetAttribute": [POINTER(c_int), c_int, c_int],
    "cuDevicePrimaryCtxRetain": [POINTER(c_void_p), c_int],
    "cuDevicePrimaryCtxRelease_v2": [c_int],
    "cuCtxSetCurrent": [c_void_p],
    "cuCtxSynchronize": [],
    "cuMemAlloc_v2": [POINTER(c_uint64), c_size_t],
    "cuMemAllocManaged": [POINTER(c_uint64), c_size_t, c_uint],
    "cuMemFree_v2": [c_uint64],
    "cuMemcpyHtoD_v2": [c_uint64, c_void_p, c_size_t],
    "cuMemcpyDtoH_v2": [c_void_p, c_uint64, c_size_t],
    "cuModuleLoadData": [POINTER(c_void_p), c_char_p],
    "cuModuleGetFunction": [POINTER(c_void_p), c_void_p, c_char_p],
    "cuLaunchKernel": [c_void_p] + 7 * [c_uint] + [c_void_p, POINTER(c_void_p), POINTER(c_void_p)],
}
UNVERSIONED = {
    "cuDeviceGetUuid_v2": "cuDeviceGetUuid",  # CUDA 11.4
    "cuDevicePrimaryCtxRelease_v2": "cuDevicePrimaryCtxRelease",  # CUDA 11.0
}


class StepFailedError(Exception):
    """A step failed: its name (mostly the driver's function), CUresult and its name if there is one, and what to say about it."""

    def __init__(self, step: str, result: Optional[int] = None, result_name: Optional[str] = None, detail: str = "") -> None:
        super().__init__(step)
        self.outcome = outcome(False, step, result, result_name, detail)


def outcome(ok: bool, step: Optional[str] = None, result: Optional[int] = 0, result_name: Optional[str] = "CUDA_SUCCESS", detail: str = "") -> Dict[str, Any]:
    """How a run or a device ended; `step` is the one that failed."""
    return {"ok": ok, "step": step, "result": result, "result_name": result_name, "detail": detail}


class Driver:
    """The CUDA driver library; whatever it does not answer with CUDA_SUCCESS is raised."""

    def __init__(self) -> None:
        try:
            self.library = ctypes.CDLL(LIBRARY)
        except OSError as error:
            raise StepFailedError("load", detail=str(error)) from error

    def function(self, name: str) -> Any:
        """The driver's function with its exact argument types; drivers that are too old for it have it under its first name or not at all."""
        for symbol in (name, UNVERSIONED.get(name, name)):
            if hasattr(self.library, symbol):
                found = getattr(self.library, symbol)
                found.argtypes, found.restype = SIGNATURES[name], c_int
                return found
        raise StepFailedError(name, detail="{} has no symbol {}".format(LIBRARY, name))

    def call(self, name: str, *arguments: Any) -> None:
        """Calls the function; raises StepFailedError unless it returns CUDA_SUCCESS."""
        result = self.function(name)(*arguments)
        if result != 0:
            raise StepFailedError(name, result, self.result_name(result))

    def get(self, kind: Any, name: str, *arguments: Any) -> Any:
        """The value that the function writes through its first argument, a pointer to `kind`."""
        value = kind()
        self.call(name, ctypes.byref(value), *arguments)
        return value.value

    def text(self, name: str, device: int) -> str:
        """The string that the function writes into its first argument."""
        buffer = ctypes.create_string_buffer(256)
        self.call(name, buffer, len(buffer), device)
        return buffer.value.decode("utf-8", "replace")

    def result_name(self, result: int) -> Optional[str]:
        """The driver's own name for a CUresult, if it knows one."""
        if not hasattr(self.library, "cuGetErrorName"):
            return None
        name = c_char_p()
        self.library.cuGetErrorName(c_int(result), ctypes.byref(name))
        return name.value.decode("ascii", "replace") if name.value else None

    def simulated(self) -> bool:
        """True for the lab's stand-in, which always exports this symbol."""
        return hasattr(self.library, "goldnode_simulated")


def mapped_path(maps: str) -> Optional[str]:
    """The file that the library was really loaded from, out of the text of /proc/self/maps."""
    paths = (line.split(None, 5)[5] for line in maps.splitlines() if "/libcuda.so" in line)
    return next(paths, None)


def library_path() -> Optional[str]:
    """The file behind libcuda.so.1 in this process; None where it cannot be seen."""
    try:
        with open("/proc/self/maps") as stream:
            return mapped_path(stream.read())
    except OSError:
        return None


def kernel_nonce(nonce: str) -> int:
    """The last 32 bits of the nonce: the kernel's own argument."""
    return int(nonce, 16) & 0xFFFFFFFF


def input_for(nonce: str) -> bytes:
    """The input: `ELEMENTS` little-endian 32-bit words that nobody can know before the nonce."""
    return hashlib.shake_128(nonce.lower().encode("ascii")).digest(SIZE)


def words(data: bytes) -> "array.array[int]":
    """32-bit words as numbers: `I` has four bytes, little-endian, on every host that CUDA has a driver for."""
    return array.array("I", data)


def mix(data: bytes, nonce: int) -> bytes:
    """What the kernel does, on the CPU."""
    mixed = array.array("I")
    for index, word in enumerate(words(data)):
        word ^= nonce
        mixed.append(((word << 7 | word >> 25) * MULTIPLIER + index) & 0xFFFFFFFF)
    return mixed.tobytes()


def checksum(data: bytes) -> str:
    """The name of a result."""
    return hashlib.sha256(data).hexdigest()


def expected_checksum(nonce: str) -> str:
    """The checksum that every device must reach for this nonce."""
    return checksum(mix(input_for(nonce), kernel_nonce(nonce)))


def difference(actual: bytes, expected: bytes) -> str:
    """Says where two results differ."""
    pairs = list(enumerate(zip(words(actual), words(expected))))
    wrong = [(index, pair) for index, pair in pairs if pair[0] != pair[1]]
    index, (got, want) = wrong[0]
    return "{} of {} elements differ, the first at {}: {:#010x} instead of {:#010x}".format(len(wrong), len(pairs), index, got, want)


def device_uuid(driver: Driver, device: int) -> str:
    """The UUID as nvidia-smi writes it. From CUDA 11.4 on `_v2` names the MIG instance where there is one, and the plain call its GPU."""
    gpu, own = ctypes.create_string_buffer(16), ctypes.create_string_buffer(16)
    driver.call("cuDeviceGetUuid", gpu, device)
    driver.call("cuDeviceGetUuid_v2", own, device)
    return "{}-{}".format("GPU" if own.raw == gpu.raw else "MIG", uuid.UUID(bytes=own.raw))


def attribute(driver: Driver, device: int, which: int) -> int:
    """A device attribute."""
    value = driver.get(c_int, "cuDeviceGetAttribute", which, device)
    return int(value)


def identity(driver: Driver, device: int) -> Dict[str, Any]:
    """Who the device is."""
    capability = [attribute(driver, device, part) for part in (COMPUTE_CAPABILITY_MAJOR, COMPUTE_CAPABILITY_MINOR)]
    return {
        "name": driver.text("cuDeviceGetName", device),
        "uuid": device_uuid(driver, device),
        "pci": driver.text("cuDeviceGetPCIBusId", device),
        "memory_bytes": driver.get(c_size_t, "cuDeviceTotalMem_v2", device),
        "compute_capability": "{}.{}".format(*capability),
    }


def launch(driver: Driver, function: Any, target: int, source: int, nonce: int) -> None:
    """Runs the kernel over all elements and waits for its end."""
    arguments = [c_uint64(target), c_uint64(source), c_uint32(nonce), c_uint32(ELEMENTS)]
    pointers = (c_void_p * len(arguments))(*[ctypes.cast(ctypes.pointer(argument), c_void_p) for argument in arguments])
    blocks = (ELEMENTS + BLOCK - 1) // BLOCK
    driver.call("cuLaunchKernel", function, blocks, 1, 1, BLOCK, 1, 1, 0, None, pointers, None)
    driver.call("cuCtxSynchronize")


def device_result(driver: Driver, function: Any, data: bytes, nonce: int) -> bytes:
    """The kernel's result by device memory and explicit copies."""
    source, target = driver.get(c_uint64, "cuMemAlloc_v2", SIZE), driver.get(c_uint64, "cuMemAlloc_v2", SIZE)
    driver.call("cuMemcpyHtoD_v2", source, data, SIZE)
    driver.call("cuMemcpyHtoD_v2", target, bytes(SIZE), SIZE)
    launch(driver, function, target, source, nonce)
    result = ctypes.create_string_buffer(SIZE)
    driver.call("cuMemcpyDtoH_v2", result, target, SIZE)
    driver.call("cuMemFree_v2", source)
    driver.call("cuMemFree_v2", target)
    return result.raw


def managed_result(driver: Driver, function: Any, data: bytes, nonce: int) -> bytes:
    """The kernel's result by managed memory, which the driver moves by itself (module nvidia-uvm)."""
    source = driver.get(c_uint64, "cuMemAllocManaged", SIZE, MEM_ATTACH_GLOBAL)
    target = driver.get(c_uint64, "cuMemAllocManaged", SIZE, MEM_ATTACH_GLOBAL)
    ctypes.memmove(source, data, SIZE)
    ctypes.memset(target, 0, SIZE)
    launch(driver, function, target, source, nonce)
    result = ctypes.string_at(target, SIZE)
    driver.call("cuMemFree_v2", source)
    driver.call("cuMemFree_v2", target)
    return result


def compare(actual: bytes, expected: bytes, step: str) -> None:
    """Raises StepFailedError unless every element is right."""
    if actual != expected:
        raise StepFailedError(step, 0, "CUDA_SUCCESS", difference(actual, expected))


def compute(driver: Driver, device: int, nonce: str, report: Dict[str, Any]) -> None:
    """Runs the kernel on the device and notes what came of it in `report`."""
    data, number = input_for(nonce), kernel_nonce(nonce)
    expected = mix(data, number)
    report["expected"] = checksum(expected)
    # The primary context, as the CUDA runtime uses it: cuCtxCreate has another signature in each major version.
    driver.call("cuCtxSetCurrent", driver.get(c_void_p, "cuDevicePrimaryCtxRetain", device))
    function = driver.get(c_void_p, "cuModuleGetFunction", driver.get(c_void_p, "cuModuleLoadData", PTX), ENTRY)
    actual = device_result(driver, function, data, number)
    report["checksum"] = checksum(actual)
    compare(actual, expected, "compare")
    if attribute(driver, device, MANAGED_MEMORY):
        compare(managed_result(driver, function, data, number), expected, "compare_managed")
        report["managed"] = True
    driver.call("cuDevicePrimaryCtxRelease_v2", device)


def probe_device(driver: Driver, index: int, nonce: str) -> Dict[str, Any]:
    """One entry of `devices`. `managed`: true if managed memory gave the right result too, false if the device has none or it was not reached."""
    report: Dict[str, Any] = {"index": index, "checksum": None, "expected": None, "managed": False}
    try:
        device = driver.get(c_int, "cuDeviceGet", index)
        report.update(identity(driver, device))
        compute(driver, device, nonce, report)
        report.update(outcome(True))
    except StepFailedError as failure:
        report.update(failure.outcome)
    return report


def probe_devices(driver: Driver, nonce: str, report: Dict[str, Any]) -> None:
    """Starts CUDA and proves every device, noting all that is seen in `report`."""
    report["simulated"], report["library"] = driver.simulated(), library_path()
    driver.call("cuInit", 0)
    report["driver_version"] = driver.get(c_int, "cuDriverGetVersion")
    count = driver.get(c_int, "cuDeviceGetCount")
    if count == 0:
        raise StepFailedError("cuDeviceGetCount", 0, "CUDA_SUCCESS", "the driver sees no device")
    report["devices"] = [probe_device(driver, index, nonce) for index in range(count)]


def probe(nonce: str) -> Dict[str, Any]:
    """The whole report; the end of the first device that failed is the end of the run."""
    report: Dict[str, Any] = {"schema": SCHEMA, "nonce": nonce, "simulated": False, "library": None, "driver_version": None, "devices": []}
    try:
        probe_devices(Driver(), nonce, report)
    except StepFailedError as failure:
        report.update(failure.outcome)
        return report
    failed = [device for device in report["devices"] if not device["ok"]]
    report.update({key: failed[0][key] for key in outcome(False)} if failed else outcome(True))
    return report


def hexadecimal(text: str) -> str:
    """The nonce as it was given, if it is a hexadecimal number."""
    if not text or set(text) - set(string.hexdigits):
        raise argparse.ArgumentTypeError("{!r} is not a hexadecimal number".format(text))
    return text


def main() -> int:
    """Prints the report as one line; 0 if all is right, else 1."""
    parser = argparse.ArgumentParser(description="Run a small kernel on every CUDA device and compare each number with the CPU's.")
    parser.add_argument("--nonce", type=hexadecimal, default=secrets.token_hex(16), help="hexadecimal number that the result depends on (default: random)")
    report = probe(parser.parse_args().nonce)
    print(json.dumps(report, sort_keys=True))
    return 0 if report["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
