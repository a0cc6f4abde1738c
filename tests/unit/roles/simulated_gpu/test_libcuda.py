import ctypes
import struct
import subprocess
from ctypes import byref

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.roles.simulated_gpu.gpu_library import WRONG_NODE, ptx

NO_DEVICE, SYSTEM_NOT_READY, SYSTEM_DRIVER_MISMATCH, UNKNOWN = 100, 802, 803, 999
INVALID_VALUE, OUT_OF_MEMORY, NOT_INITIALIZED, INVALID_started = 1, 2, 3, 201
INVALID_PTX, UNSUPPORTED_PTX_VERSION, NO_BINARY_FOR_GPU, ILLEGAL_ADDRESS = 218, 222, 209, 700
WORD = st.integers(0, 2**32 - 1)


def allocated(library, size):
    address = ctypes.c_uint64()
    assert library.cuMemAlloc_v2(byref(address), ctypes.c_size_t(size)) == 0
    return address


def loaded(library, image):
    module = ctypes.c_void_p()
    return library.cuModuleLoadData(byref(module), image), module


def mix(library, values, nonce, threads=128, n=None):
    """The kernel over these values: (code of the launch, what is in the result's memory afterwards)."""
    size = 4 * len(values)
    source, target = allocated(library, size), allocated(library, size)
    assert library.cuMemcpyHtoD_v2(source, struct.pack(f"{len(values)}I", *values), ctypes.c_size_t(size)) == 0
    assert library.cuMemcpyHtoD_v2(target, bytes(size), ctypes.c_size_t(size)) == 0
    function = ctypes.c_void_p()
    assert library.cuModuleGetFunction(byref(function), loaded(library, ptx())[1], b"goldnode_mix") == 0
    arguments = [target, source, ctypes.c_uint32(nonce), ctypes.c_uint32(len(values) if n is None else n)]
    pointers = (ctypes.c_void_p * 4)(*[ctypes.addressof(one) for one in arguments])
    code = library.cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, None, pointers, None)
    out = ctypes.create_string_buffer(size)
    assert library.cuMemcpyDtoH_v2(out, target, ctypes.c_size_t(size)) == 0
    for address in (source, target):
        assert library.cuMemFree_v2(address) == 0
    return code, list(struct.unpack(f"{len(values)}I", out.raw))


def expected(values, nonce):
    turned = [((value ^ nonce) << 7 | (value ^ nonce) >> 25) & 0xFFFFFFFF for value in values]
    return [(value * 2654435761 + index) & 0xFFFFFFFF for index, value in enumerate(turned)]


def test_a_stuck_bit_of_the_memory_is_in_every_result(gpu):
    gpu.gpu("0000:0f:00.0", 0, **{"Stuck Bit": 5})
    code, found = mix(gpu.started(), [1, 2, 3], 7)
    assert (code, found) == (0, [value | 1 << 5 for value in expected([1, 2, 3], 7)])


def test_a_healthy_node_has_its_devices_in_the_order_of_their_addresses(gpu):
    gpu.gpu("0000:01:00.0", 1)
    gpu.node("nvidia1")
    library = gpu.cuda()
    assert library.cuInit(0) == 0
    addresses = []
    for ordinal in (0, 1):
        text = ctypes.create_string_buffer(32)
        library.cuDeviceGetPCIBusId(text, 32, ordinal)
        addresses.append(text.value)
    assert addresses == [b"0000:01:00.0", b"0000:0f:00.0"]


def test_only_devices_whose_node_is_there_count(gpu):
    gpu.gpu("0000:01:00.0", 1)
    library, count = gpu.cuda(), ctypes.c_int()
    assert library.cuInit(0) == 0
    library.cuDeviceGetCount(byref(count))
    assert count.value == 1


@pytest.mark.parametrize(("node", "code"), [("nvidiactl", NO_DEVICE), ("nvidia0", NO_DEVICE), ("nvidia-uvm", UNKNOWN)])
def test_a_removed_node_has_the_documented_code(gpu, node, code):
    gpu.node(node, to=None)
    assert gpu.cuda().cuInit(0) == code


@pytest.mark.parametrize("node", ["nvidiactl", "nvidia0", "nvidia-uvm"])
def test_a_wrong_major_is_an_unknown_error(gpu, node):
    gpu.node(node, to=WRONG_NODE)
    assert gpu.cuda().cuInit(0) == UNKNOWN


def test_a_regular_file_in_place_of_a_node_is_an_unknown_error(gpu):
    gpu.node("nvidia0", to="/etc/hostname")
    assert gpu.cuda().cuInit(0) == UNKNOWN


def test_no_driver_is_no_device(gpu):
    (gpu.folder / "proc/driver/nvidia/version").unlink()
    assert gpu.cuda().cuInit(0) == NO_DEVICE


def test_another_driver_version_is_a_mismatch(gpu):
    gpu.driver("580.178.04")
    assert gpu.cuda().cuInit(0) == SYSTEM_DRIVER_MISMATCH


def test_a_fabric_in_progress_is_a_system_that_is_not_ready(gpu):
    gpu.all_gpus({"Fabric": "In Progress"})
    assert gpu.cuda().cuInit(0) == SYSTEM_NOT_READY
    gpu.all_gpus({"Fabric": "Completed"})
    assert gpu.cuda().cuInit(0) == 0


def test_nothing_works_before_init_and_without_a_context(gpu):
    library, count, address = gpu.cuda(), ctypes.c_int(), ctypes.c_uint64()
    assert library.cuDeviceGetCount(byref(count)) == NOT_INITIALIZED
    assert library.cuInit(0) == 0
    assert library.cuMemAlloc_v2(byref(address), ctypes.c_size_t(4)) == INVALID_started


@given(values=st.lists(WORD, min_size=1, max_size=128), nonce=WORD)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)
def test_the_kernel_computes_what_its_ptx_says(gpu, values, nonce):
    assert mix(gpu.started(), values, nonce) == (0, expected(values, nonce))


def test_threads_that_were_not_started_leave_zeros(gpu):
    _, result = mix(gpu.started(), [5] * 8, 1, threads=4)
    assert result == expected([5] * 4, 1) + [0] * 4


def test_a_kernel_beyond_its_memory_is_an_illegal_address(gpu):
    code, _ = mix(gpu.started(), [1, 2], 1, n=128)
    assert code == ILLEGAL_ADDRESS


@pytest.mark.parametrize(
    ("image", "code"),
    [
        (ptx(), 0),
        (ptx(entry="other"), INVALID_PTX),
        (ptx(last="u64"), INVALID_PTX),
        (b"\x7fELF cubin\0", INVALID_PTX),
        (b"\0", INVALID_PTX),
        (ptx(version="9.1"), UNSUPPORTED_PTX_VERSION),
        (ptx(target="sm_90"), NO_BINARY_FOR_GPU),
    ],
)
def test_only_the_known_ptx_for_this_driver_and_gpu_is_taken(gpu, image, code):
    assert loaded(gpu.started(), image)[0] == code


def test_device_memory_is_as_large_as_the_gpu_s(gpu):
    library, address = gpu.started(), ctypes.c_uint64()
    half = allocated(library, 1 << 19)
    assert library.cuMemAlloc_v2(byref(address), ctypes.c_size_t((1 << 19) + 1)) == OUT_OF_MEMORY
    assert library.cuMemFree_v2(half) == 0
    assert library.cuMemAlloc_v2(byref(address), ctypes.c_size_t(1 << 20)) == 0


def test_host_cannot_copy_past_an_allocation(gpu):
    library = gpu.started()
    assert library.cuMemcpyHtoD_v2(allocated(library, 4), bytes(8), ctypes.c_size_t(8)) == INVALID_VALUE


def test_managed_memory_is_the_host_s_too(gpu):
    library, address = gpu.started(), ctypes.c_uint64()
    assert library.cuMemAllocManaged(byref(address), ctypes.c_size_t(4), 1) == 0
    ctypes.memmove(address.value, b"abcd", 4)
    out = ctypes.create_string_buffer(4)
    assert library.cuMemcpyDtoH_v2(out, address, ctypes.c_size_t(4)) == 0
    assert out.raw == b"abcd"


def test_under_mig_cuda_sees_the_first_slice_it_may_open(gpu):
    slices = {"MIG 0": f"1 0 13 {1 << 18} 3g.40gb MIG-00000000-0000-0000-0000-00000000000a"}
    gpu.gpu("0000:0f:00.0", 0, **slices, **{"MIG 1": f"2 0 22 {1 << 17} 3g.40gb MIG-00000000-0000-0000-0000-00000000000b"})
    gpu.node("nvidia-caps/nvidia-cap22")
    library = gpu.started()
    name, uuid, size = ctypes.create_string_buffer(64), ctypes.create_string_buffer(16), ctypes.c_size_t()
    library.cuDeviceGetName(name, 64, 0)
    library.cuDeviceGetUuid_v2(uuid, 0)
    library.cuDeviceTotalMem_v2(byref(size), 0)
    assert (name.value, uuid.raw[-1], size.value) == (b"NVIDIA A10 MIG 3g.40gb", 0x0B, 1 << 17)


def test_both_libraries_say_that_they_are_simulated(gpu):
    for name in ("libcuda.so.1", "libnvidia-ml.so.1"):
        assert ctypes.c_int.in_dll(ctypes.CDLL(str(gpu.folder / name)), "goldnode_simulated").value == 1


def test_the_library_loads_on_glibc_2_14(gpu):
    table = subprocess.run(["objdump", "-T", gpu.folder / "libcuda.so.1"], capture_output=True, text=True, check=True).stdout
    needed = {tuple(map(int, word.split("_")[1].strip(")").split("."))) for word in table.split() if word.startswith(("GLIBC_", "(GLIBC_"))}
    assert max(needed) <= (2, 14)
