"""Compiles the stand-in libraries for a temporary /proc and /dev, and calls them as a process would."""

import ctypes
import itertools
import shutil
import subprocess
import sys

from ansible_collections.goldnode.gpu.plugins.plugin_utils.simulated_gpu import deb

from tests.unit.roles.simulated_gpu.simulated_gpu_node import DRIVER, FILES

# Real nodes need root. Here major 1 stands for the driver's: /dev/null, /dev/zero and /dev/full have it, /dev/ptmx has another.
RIGHT_NODE, WRONG_NODE, MAJOR = "/dev/zero", "/dev/ptmx", 1
COPIES = itertools.count()  # a file that a process has mapped must not be written again
PTX = """.version {version}
.target {target}
.address_size 64
.visible .entry {entry}(
    .param .u64 to, .param .u64 from, .param .u32 nonce, .param .{last} n
)
{{
    ret;
}}
"""
VERSION_LINE = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {}  Release Build  (dvs-builder@lab)  Tue Apr  8 2025\n"


def ptx(version="6.0", target="sm_50", entry="goldnode_mix", last="u32"):
    return PTX.format(version=version, target=target, entry=entry, last=last).encode() + b"\0"


def compile_all(folder):
    """Both libraries below `folder`, looking for their node at `folder`/proc and `folder`/dev."""
    places = {"GOLDNODE_PROCFS": f'"{folder}/proc"', "GOLDNODE_DEV": f'"{folder}/dev"', "GOLDNODE_MAJOR": str(MAJOR)}
    driver = {"DRIVER_VERSION": f'"{DRIVER}"', "CUDA_VERSION": "13000", "PTX_VERSION": "90"}
    for source, name in (("libcuda.c", "libcuda.so.1"), ("libnvidia_ml.c", "libnvidia-ml.so.1")):
        deb.compile_library(FILES / "c" / source, folder / name, name, {**driver, **places})


class Gpu:
    """One GPU's node below `folder`, and programs on it."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("proc", "dev"):
            shutil.rmtree(folder / name, ignore_errors=True)
        self.driver(DRIVER)
        self.all_gpus({"Fabric": "Not Needed"})
        self.gpu("0000:0f:00.0", 0)
        for name in ("nvidiactl", "nvidia-uvm", "nvidia0"):
            self.node(name)

    def write(self, path, text):
        target = self.folder / "proc/driver/nvidia" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def driver(self, version):
        self.write("version", VERSION_LINE.format(version))

    def all_gpus(self, facts):
        self.write("goldnode", "".join(f"{key}: {value}\n" for key, value in {"UVM Major": MAJOR, "Caps Major": MAJOR, **facts}.items()))

    def gpu(self, address, minor, **facts):
        self.write(
            f"gpus/{address}/information", f"Model: \t NVIDIA A10\nGPU UUID: \t GPU-0000000{minor}-0203-0405-0607-08090a0b0c0d\nDevice Minor: \t {minor}\n"
        )
        values = {"Memory Bytes": 1 << 20, "Compute Capability": "8.6", "Multiprocessors": 72, "MIG Mode": "N/A", "ECC Mode": "Enabled", **facts}
        self.write(f"gpus/{address}/goldnode", "".join(f"{key}: {value}\n" for key, value in values.items()))

    def node(self, name, to=RIGHT_NODE):
        path = self.folder / "dev" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        if to:
            path.symlink_to(to)

    def cuda(self):
        """libcuda as a new process has it: each call is another copy with its own state."""
        copy = self.folder / f"libcuda.{next(COPIES)}"
        shutil.copy(self.folder / "libcuda.so.1", copy)
        return ctypes.CDLL(str(copy))

    def started(self):
        """libcuda, initialised, with the first device's context current."""
        library = self.cuda()
        assert library.cuInit(0) == 0
        context = ctypes.c_void_p()
        assert library.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
        assert library.cuCtxSetCurrent(context) == 0
        return library

    def run(self, program, *arguments):
        """A stand-in program in a process of its own; programs find their modules beside the role's sources."""
        environment = {"LD_LIBRARY_PATH": str(self.folder), "PYTHONPATH": f"{FILES}:{FILES}/toolkit", "PATH": "/usr/bin:/bin"}
        argv = [sys.executable, str(FILES / program), *arguments]
        return subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)

    def smi(self, *arguments):
        return self.run("driver/nvidia_smi.py", *arguments)
