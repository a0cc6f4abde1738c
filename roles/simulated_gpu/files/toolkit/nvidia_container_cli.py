"""A stand-in for nvidia-container-cli: info, list, and configure, which puts GPUs into a container that is being made.

Simpler than the real thing: cgroup v2 only; no requirement checks (NVIDIA_REQUIRE_*); `--load-kmods` asks nvidia-modprobe.
"""

import argparse
import ctypes
import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, "/usr/share/libnvidia-container")
import device_cgroup
import nvml
import toolkit

MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_NOSUID, MS_NODEV, CLONE_NEWNS = 1, 32, 4096, 16384, 2, 4, 0x20000
NO_LIBRARY = "initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory"
_libc = ctypes.CDLL(None, use_errno=True)


def initialised():
    """NVML, or libnvidia-container's words why not."""
    try:
        return nvml.Nvml()
    except OSError as error:
        raise toolkit.ToolkitError(NO_LIBRARY) from error
    except nvml.NvmlError as error:
        raise toolkit.ToolkitError(f"initialization error: nvml error: {str(error).lower()}") from error


def chosen(library, wanted):
    """The nodes of the devices asked for: `all`, or names separated by commas."""
    named = toolkit.device_nodes(library)
    if wanted == "all":
        return toolkit.all_nodes(named)
    for name in wanted.split(","):
        if name not in named:
            raise toolkit.ToolkitError(f"device error: {name}: unknown device")
    return toolkit.all_nodes({name: named[name] for name in wanted.split(",")})


def call(function, *arguments):
    if function(*arguments):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def inside(root, path):
    """The place of a path in the container; its folder exists afterwards, open to the container's user."""
    target = Path(root + path)
    for folder in reversed([one for one in target.parents if not one.exists()]):
        folder.mkdir()
        folder.chmod(0o755)
    return target


def bind(path, root):
    """A read-only bind mount at the same path in the container."""
    target = inside(root, path)
    target.mkdir(exist_ok=True) if Path(path).is_dir() else target.touch()
    call(_libc.mount, path.encode(), bytes(target), None, MS_BIND | MS_REC, None)
    call(_libc.mount, None, bytes(target), None, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV, None)


def copy_node(path, root):
    """Make the node's device node in the container's /dev."""
    node = Path(path).stat()
    target = inside(root, path)
    os.mknod(target, stat.S_IFCHR, node.st_rdev)
    target.chmod(stat.S_IMODE(node.st_mode))


def allow_nodes(pid, bundle_rules, nodes):
    """Let the container's cgroup open the nodes."""
    devices = [Path(path).stat().st_rdev for path in nodes]
    rules = [{"allow": True, "type": "c", "access": "rw", "major": os.major(one), "minor": os.minor(one)} for one in devices]
    device_cgroup.replace_program(device_cgroup.cgroup_of(pid), [*bundle_rules, *rules])


def rules_of():
    """The device rules that the container was made with: in config.json of the bundle that the hook names."""
    config = json.loads(Path(os.environ["OCI_BUNDLE"], "config.json").read_text())
    return config["linux"].get("resources", {}).get("devices", [])


def configure(arguments):
    """Everything for one container, from outside of it; then inside its mount namespace, before its root is entered."""
    if arguments.load_kmods and shutil.which("nvidia-modprobe"):
        subprocess.run(["nvidia-modprobe"], stderr=subprocess.DEVNULL, check=False)
    library = initialised()
    nodes = [path for path in toolkit.CONTROL_NODES if Path(path).exists()] + chosen(library, arguments.device)
    capabilities = [name for name in toolkit.CAPABILITIES if getattr(arguments, name)]
    files = [*toolkit.driver_files(library.driver_version, capabilities), toolkit.DRIVER_ANSWERS]
    if not arguments.no_cgroups:
        allow_nodes(arguments.pid, rules_of(), nodes)
    namespace = os.open(f"/proc/{arguments.pid}/ns/mnt", os.O_RDONLY)
    call(_libc.setns, namespace, CLONE_NEWNS)
    for path in files:
        bind(path, arguments.rootfs)
    for path in nodes:
        copy_node(path, arguments.rootfs)
    program = arguments.ldconfig.lstrip("@")
    if not Path(program).exists():
        raise toolkit.ToolkitError(f"ldcache error: open failed: {program}: no such file or directory")
    subprocess.run([program, "-r", arguments.rootfs], check=True)


def info(_arguments):
    library = initialised()
    print(f"NVRM version:   {library.driver_version}\nCUDA version:   {library.cuda_version}")
    for index, device in enumerate(library.devices()):
        print(
            f"\nDevice Index:   {index}\nDevice Minor:   {device.minor}\nModel:          {device.name}\n"
            f"GPU UUID:       {device.uuid}\nBus Location:   0000{device.address}\nArchitecture:   {device.field('Compute Capability')}"
        )


def listing(_arguments):
    library = initialised()
    for path in [*toolkit.CONTROL_NODES, *toolkit.all_nodes(toolkit.device_nodes(library)), *toolkit.driver_files(library.driver_version)]:
        print(path)


def arguments_of(words):
    parser = argparse.ArgumentParser(prog="nvidia-container-cli")
    parser.add_argument("-V", "--version", action="version", version=f"cli-version: {toolkit.VERSION}\nlib-version: {toolkit.VERSION}")
    parser.add_argument("--load-kmods", action="store_true")
    which = parser.add_subparsers(required=True)
    which.add_parser("info").set_defaults(run=info)
    which.add_parser("list").set_defaults(run=listing)
    one = which.add_parser("configure")
    one.add_argument("--ldconfig", default="@/sbin/ldconfig")
    one.add_argument("--device", default="all")
    one.add_argument("--no-cgroups", action="store_true")
    one.add_argument("--compute", action="store_true")
    one.add_argument("--utility", action="store_true")
    one.add_argument("--pid", type=int, required=True)
    one.add_argument("rootfs")
    one.set_defaults(run=configure)
    return parser.parse_args(words)


if __name__ == "__main__":
    chosen_arguments = arguments_of(sys.argv[1:])
    try:
        chosen_arguments.run(chosen_arguments)
    except (toolkit.ToolkitError, OSError) as problem:
        raise SystemExit(f"nvidia-container-cli: {problem}") from problem
