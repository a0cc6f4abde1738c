"""Loads the stand-in programs as modules, and makes nodes for them below a temporary folder."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import yaml

ROLE = Path(__file__).parents[4] / "roles/simulated_gpu"
FILES = ROLE / "files"
PROFILES = yaml.safe_load((ROLE / "vars/main.yml").read_text())["simulated_gpu_profiles"]
DRIVER, OLD_DRIVER = "580.159.03", "550.163.01"


def load(relative, name):
    """A source file of the role as a module."""
    spec = importlib.util.spec_from_file_location(name, FILES / relative)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


nvml = load("nvml.py", "nvml")
toolkit = load("toolkit/toolkit.py", "toolkit")
injection = load("toolkit/injection.py", "injection")
device_cgroup = load("toolkit/device_cgroup.py", "device_cgroup")
build_module = load("driver/build_module.py", "build_module")
boot = load("node/goldnode_lab_load.py", "goldnode_lab_load")


class LabNode:
    """The files of a lab node, and its boots."""

    def __init__(self, root):
        self.root = root
        self.node = boot.Node(root)
        self.device_nodes = {}
        self.boots = 0
        self.install_kernel("6.12.107")
        self.write("usr/lib/modprobe.d/nouveau.conf", "blacklist nouveau\n")
        self.write("usr/lib/firmware/nvidia/580.159.03/gsp_ga10x.bin", "")
        self.hardware("a10")

    def write(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def read(self, path):
        return (self.node.run / path).read_text()

    def hardware(self, profile, name="lab-1"):
        self.write("etc/goldnode-lab/profile.yml", json.dumps({**PROFILES[profile], "node": name}))

    def install_kernel(self, version, checksum=0x11):
        release = f"{version}+deb13-amd64"
        self.write(f"boot/vmlinuz-{release}", f"version: Linux version {release}\nvermagic: {release} SMP \nmodule_layout: {checksum:#x}\n")
        nouveau = self.root / f"usr/lib/modules/{release}/kernel/drivers/gpu/drm/nouveau/nouveau.ko"
        nouveau.parent.mkdir(parents=True)
        nouveau.write_bytes(build_module.module_object([("vermagic", f"{release} SMP ")], checksum))
        self.update_grub()

    def update_grub(self):
        subprocess.run(["sh", FILES / "node/update-grub", "--root", self.root], check=True, capture_output=True)

    def install_module(self, version="6.12.107", checksum=0x11, driver=DRIVER, license="Dual MIT/GPL", built_for=None):
        vermagic = f"{built_for or version}+deb13-amd64 SMP "
        path = self.root / f"usr/lib/modules/{version}+deb13-amd64/updates/dkms/nvidia.ko"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(build_module.module_object([("license", license), ("version", driver), ("vermagic", vermagic)], checksum))

    def boot(self):
        self.boots += 1
        self.device_nodes.clear()
        self.write("proc/sys/kernel/random/boot_id", f"00000000-0000-0000-0000-{self.boots:012}\n")
        boot.main(["--root", str(self.root), "--boot"])

    @property
    def gpu_works(self):
        return (self.node.driver / "version").exists() and (self.root / "dev/nvidia0").exists()
