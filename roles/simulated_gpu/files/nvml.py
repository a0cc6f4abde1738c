"""NVML by ctypes: what the stand-in programs ask of libnvidia-ml.so.1."""

import ctypes
from typing import NamedTuple


class NvmlError(Exception):
    """A call refused: `code`, NVML's own words, and the device where it was one that refused to be opened."""

    def __init__(self, code, text, device=None):
        super().__init__(text)
        self.code = code
        self.device = device


class Slice(NamedTuple):
    """One MIG device; `minor` is that of its compute instance's capability node."""

    gpu_instance: int
    compute_instance: int
    minor: int
    memory: int
    profile: str
    uuid: str


class Device:
    """One GPU."""

    def __init__(self, nvml, handle):
        self._nvml = nvml
        self._handle = handle

    def _text(self, function, *arguments):
        return self._nvml.text(function, self._handle, *arguments)

    @property
    def name(self):
        return self._text("nvmlDeviceGetName")

    @property
    def uuid(self):
        return self._text("nvmlDeviceGetUUID")

    @property
    def address(self):
        return self._text("goldnode_device_address")

    @property
    def minor(self):
        return int(self.field("Device Minor"))

    def field(self, key, otherwise="N/A"):
        """What driver or lab say about this GPU under a key."""
        try:
            return self._text("goldnode_device_field", key.encode())
        except NvmlError:
            return otherwise

    def slices(self):
        """The MIG devices that this process can open."""
        found = []
        while True:
            try:
                words = self._text("goldnode_device_slice", len(found)).split(" ")
            except NvmlError:
                return found
            found.append(Slice(*map(int, words[:4]), *words[4:]))


class Nvml:
    """An initialised NVML. Raises OSError without the library, NvmlError where it refuses."""

    def __init__(self):
        self._library = ctypes.CDLL("libnvidia-ml.so.1")
        self._library.nvmlErrorString.restype = ctypes.c_char_p
        self._check(self._library.nvmlInit_v2())

    def _check(self, code, device=None):
        if code:
            raise NvmlError(code, self._library.nvmlErrorString(code).decode(), device)

    def text(self, function, *arguments):
        """A call whose last two parameters are a buffer and its size."""
        buffer = ctypes.create_string_buffer(512)
        self._check(getattr(self._library, function)(*arguments, buffer, len(buffer)))
        return buffer.value.decode()

    @property
    def driver_version(self):
        return self.text("nvmlSystemGetDriverVersion")

    @property
    def cuda_version(self):
        number = ctypes.c_int()
        self._check(self._library.nvmlSystemGetCudaDriverVersion_v2(ctypes.byref(number)))
        return f"{number.value // 1000}.{number.value % 1000 // 10}"

    @property
    def count(self):
        number = ctypes.c_uint()
        self._check(self._library.nvmlDeviceGetCount_v2(ctypes.byref(number)))
        return number.value

    def device(self, index):
        handle = ctypes.c_void_p()
        code = self._library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle))
        device = Device(self, handle)
        self._check(code, device)
        return device

    def devices(self):
        return [self.device(index) for index in range(self.count)]


def library_version():
    """The version of the library itself, which needs no driver."""
    library = ctypes.CDLL("libnvidia-ml.so.1")
    buffer = ctypes.create_string_buffer(80)
    library.nvmlSystemGetNVMLVersion(buffer, len(buffer))
    return buffer.value.decode()
