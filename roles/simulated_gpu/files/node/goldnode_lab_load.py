"""Does for a lab node what a boot does for a real one: picks the kernel, loads the GPU's driver if it loads.

`goldnode-lab-load --boot` starts the kernel that the boot loader would start; without `--boot` it tries, on the kernel
that runs, what `modprobe nvidia` would do; `--unload` is `modprobe -r`. Everything follows from files of the node:
grub.cfg, the kernel stand-in, modules, modprobe.d, firmware, and the hardware in /etc/goldnode-lab/profile.yml.
What the kernel would show in /proc and /sys lies below /run/goldnode-lab, and its log in kernel.log there.
Simpler than the real thing: one checksum (module_layout) stands for all symbols; no initrd; driver, nodes and
/proc appear in one step; a nouveau that is not blacklisted always wins.
"""

import argparse
import hashlib
import json
import lzma
import os
import re
import shutil
import struct
import sys
import time
import uuid
from pathlib import Path

NVIDIA_MAJOR = 195
UVM_MAJORS = range(500, 512)  # dynamic character majors that x86 kernels hand out to nvidia-uvm
CAPS_MAJORS = range(234, 255)
IN_TREE = {"overlay": 217088, "br_netfilter": 36864, "drm": 774144}
VERSION_RECORD = struct.Struct("<Q56s")
SPEEDS = {3: "8.0 GT/s PCIe", 4: "16.0 GT/s PCIe", 5: "32.0 GT/s PCIe"}


class RefusedError(Exception):
    """Why the kernel does not do what was asked, in its own words."""


class Node:
    """The places of one node; everything lies below `root`."""

    def __init__(self, root):
        self.root = root
        self.run = root / "run/goldnode-lab"
        self.proc = self.run / "proc"
        self.driver = self.proc / "driver/nvidia"
        self.sys = self.run / "sys"
        self.pci = self.sys / "bus/pci"
        self.dev = root / "dev"
        self.modules = root / "usr/lib/modules"
        self.inforom = root / "etc/goldnode-lab/inforom.json"
        self.instances = self.run / "instances.json"

    def log(self, *lines):
        """Append to the kernel's log as dmesg prints it; time counts from this boot."""
        started = self.run / "started"
        if not started.exists():
            write(started, f"{time.monotonic()}\n")
        seconds = time.monotonic() - float(started.read_text())
        with (self.run / "kernel.log").open("a") as log:
            log.writelines(f"[{seconds:12.6f}] {line}\n" for line in lines)


def write(path, text):
    """Replace a file by rename: nobody reads half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    new.write_text(text)
    new.replace(path)


def fields(text):
    """`key: value` lines as a mapping."""
    return {key.strip(): value.lstrip(" \t") for key, _, value in (line.partition(":") for line in text.splitlines())}


def aligned(pairs):
    """The same, written."""
    return "".join(f"{key + ':':<20} {value}\n" for key, value in pairs)


# -- the kernel ---------------------------------------------------------------------------------------------------


def default_entry(grub_cfg):
    """(path of the kernel, its command line) of the first menu entry."""
    found = re.search(r"^menuentry .*?^\s*linux\s+(\S+)[ \t]*([^\n]*)", grub_cfg, re.MULTILINE | re.DOTALL)
    if not found:
        raise RefusedError("error: no menu entry in /boot/grub/grub.cfg: this machine would not boot")
    return found[1], found[2]


def kernel_image(node, path):
    """The tables of a kernel stand-in."""
    image = node.root / path.lstrip("/")
    if not image.exists():
        raise RefusedError(f"error: file `{path}' not found: this machine would not boot")
    return fields(image.read_text())


def choice(majors, seed):
    """One of some numbers, another one at each boot."""
    return majors[int(hashlib.sha256(seed.encode()).hexdigest(), 16) % len(majors)]


def free_majors(node, majors):
    """Those that the machine's own kernel has not given to a driver: opening a node of such a one would reach that driver."""
    devices = node.root / "proc/devices"
    characters = devices.read_text().split("Block devices:")[0] if devices.exists() else ""
    taken = {int(number) for number in re.findall(r"^ *(\d+) ", characters, re.MULTILINE)}
    return [major for major in majors if major not in taken]


def start_kernel(node, boot_id):
    """What /proc says of a kernel that has just started."""
    path, command_line = default_entry((node.root / "boot/grub/grub.cfg").read_text())
    image = kernel_image(node, path)
    release = image["vermagic"].split(" ")[0]
    write(node.proc / "sys/kernel/osrelease", f"{release}\n")
    write(node.proc / "sys/kernel/random/boot_id", f"{boot_id}\n")
    write(node.proc / "sys/kernel/tainted", "0\n")
    write(node.proc / "version", f"{image['version']}\n")
    write(node.proc / "cmdline", f"BOOT_IMAGE={path} {command_line}\n")
    write(node.proc / "modules", "".join(module_line(name, size) for name, size in IN_TREE.items()))
    write(node.proc / "devices", "Character devices:\n  1 mem\n  5 /dev/tty\n136 pts\n\nBlock devices:\n254 virtblk\n")
    node.log(image["version"], f"Command line: BOOT_IMAGE={path} {command_line}")


def module_line(name, size, users=(), taint=""):
    """One line of /proc/modules."""
    by = "".join(f"{user}," for user in users) or "-"
    return f"{name.replace('-', '_')} {size} {len(users)} {by} Live 0x0000000000000000{taint and f' ({taint})'}\n"


# -- the hardware -------------------------------------------------------------------------------------------------


def read_json(path, otherwise):
    return json.loads(path.read_text()) if path.exists() else otherwise


def hardware(node):
    """The profile of this node, with an address and a UUID for each GPU, both derived from the node's name.

    `mig_modes` is what the GPUs keep of MIG (see keep_mig), `instances` what the driver made since it was loaded; both by minor.
    """
    profile = read_json(node.root / "etc/goldnode-lab/profile.yml", {"count": 0})
    name = profile.get("node", "node")
    profile["mig_modes"] = read_json(node.inforom, {})
    profile["instances"] = read_json(node.instances, {})
    profile["gpus"] = [gpu_identity(name, index) for index in range(profile["count"]) if index not in profile.get("absent", [])]
    switches = profile.get("switches", {"count": 0})
    profile["switch_addresses"] = [f"0000:{0xC0 + index:02x}:00.0" for index in range(switches["count"])]
    return profile


def gpu_identity(node_name, index):
    """Addresses spread over the bus as on a server: one root port for each GPU."""
    first = int(hashlib.sha256(node_name.encode()).hexdigest(), 16) % 15 + 1
    return {
        "minor": index,
        "address": f"0000:{first + index * 0x15:02x}:00.0",
        "uuid": f"GPU-{uuid.uuid5(uuid.NAMESPACE_DNS, f'{index}.{node_name}.goldnode-lab')}",
    }


def slices_of(profile, gpu):
    """The MIG devices of one GPU, with the minors that the driver's capability files name."""
    # The minors of the driver's mig-minors table: 135 for each GPU, 9 for each GPU instance, one for each compute instance.
    for one in profile["instances"].get(str(gpu["minor"]), []):
        instance = 3 + 135 * gpu["minor"] + 9 * one["gpu_instance"]
        identity = uuid.uuid5(uuid.NAMESPACE_DNS, f"{one['gpu_instance']}.{gpu['uuid']}")
        yield {**one, "gi_minor": instance, "ci_minor": instance + 1 + one["compute_instance"], "uuid": f"MIG-{identity}"}


def config_space(device_id, pci_class):
    """The standard header of PCI configuration space, for lspci: vendor, device, class, subsystem."""
    header = bytearray(64)
    struct.pack_into("<HH", header, 0, 0x10DE, device_id)
    header[9:12] = pci_class.to_bytes(3, "little")
    struct.pack_into("<HH", header, 0x2C, 0x10DE, device_id)
    return bytes(header)


def write_pci_device(node, address, device_id, pci_class, link):
    """One device below /sys/bus/pci/devices."""
    folder = node.pci / "devices" / address
    folder.mkdir(parents=True)
    number = int(device_id, 16)
    values = {
        "vendor": "0x10de",
        "device": f"0x{number:04x}",
        "subsystem_vendor": "0x10de",
        "subsystem_device": f"0x{number:04x}",
        "class": f"0x{pci_class:06x}",
        "revision": "0xa1",
        "irq": "16",
        "enable": "1",
        "numa_node": "0",
        "modalias": f"pci:v000010DEd{number:08X}sv000010DEsd{number:08X}bc{pci_class >> 16:02X}sc{pci_class >> 8 & 0xFF:02X}i00",
        "resource": "\n".join(["0x0000000000000000 0x0000000000000000 0x0000000000000000"] * 7),
        **link_attributes(link),
    }
    for name, value in values.items():
        write(folder / name, f"{value}\n")
    (folder / "config").write_bytes(config_space(number, pci_class))


def link_attributes(link):
    speed, width = SPEEDS[link["generation"]], link["width"]
    return {"current_link_speed": speed, "max_link_speed": speed, "current_link_width": width, "max_link_width": width}


def write_bus(node, profile):
    """The GPUs and NVSwitches on the bus, without a driver yet."""
    shutil.rmtree(node.sys, ignore_errors=True)
    (node.pci / "devices").mkdir(parents=True)
    (node.pci / "drivers").mkdir()
    for gpu in profile["gpus"]:
        write_pci_device(node, gpu["address"], profile["device"], 0x030200, profile["link"])
    for address in profile["switch_addresses"]:
        write_pci_device(node, address, profile["switches"]["device"], 0x068000, {"generation": 4, "width": 2})
    for address in [*(gpu["address"] for gpu in profile["gpus"]), *profile["switch_addresses"]]:
        node.log(f"pci {address}: [10de:{(node.pci / 'devices' / address / 'device').read_text()[2:6]}] type 00 PCIe Endpoint")


def bind(node, driver, addresses):
    """Give devices to a driver, as their `driver` links show."""
    (node.pci / "drivers" / driver).mkdir(parents=True, exist_ok=True)
    for address in addresses:
        (node.pci / "devices" / address / "driver").symlink_to(f"../../drivers/{driver}")


def bound(node, address):
    """The driver that holds a device, or None."""
    link = node.pci / "devices" / address / "driver"
    return Path(os.readlink(link)).name if link.is_symlink() else None


# -- modules ------------------------------------------------------------------------------------------------------


def modprobe_lines(node):
    """All configuration lines of modprobe.d; a file in /etc replaces one of the same name in /usr/lib."""
    files = {}
    for folder in ("usr/lib/modprobe.d", "etc/modprobe.d"):
        files.update({path.name: path for path in (node.root / folder).glob("*.conf")})
    return [line.split() for _, path in sorted(files.items()) for line in path.read_text().splitlines()]


def blacklisted(node, module, command_line):
    """Is a module kept from loading by its alias, in modprobe.d or on the kernel's command line?"""
    words = [value for word in command_line.split() if word.startswith("modprobe.blacklist=") for value in word.split("=")[1].split(",")]
    return module in words or ["blacklist", module] in modprobe_lines(node)


def options(node, module):
    """`options MODULE key=value …` of modprobe.d."""
    words = [word for line in modprobe_lines(node) if line[:2] == ["options", module] for word in line[2:]]
    return dict(word.split("=", 1) for word in words if "=" in word)


def find_module(node, release, name):
    """The file that modprobe would load: updates/dkms goes before the kernel's own."""
    for folder in ("updates/dkms", "kernel/drivers/gpu/drm/nouveau"):
        for suffix in (".ko", ".ko.xz"):
            path = node.modules / release / folder / f"{name}{suffix}"
            if path.exists():
                return path
    return None


def sections(elf):
    """The sections of an ELF64 file: name -> bytes."""
    if elf[:4] != b"\x7fELF":
        raise RefusedError("Invalid ELF header magic: != ELF")
    offset, size, count, names = struct.unpack_from("<Q10xHHH", elf, 40)
    table = [struct.unpack_from("<II8xQQQ", elf, offset + index * size) for index in range(count)]
    text = elf[table[names][3] : table[names][3] + table[names][4]]
    return {text[name : text.index(b"\0", name)].decode(): elf[start : start + length] for name, _, _, start, length in table}


def read_module(path):
    """(`.modinfo` pairs, checksum of module_layout that it was built against)."""
    blob = path.read_bytes()
    try:
        parts = sections(lzma.decompress(blob) if path.suffix == ".xz" else blob)
        info = dict(pair.decode().split("=", 1) for pair in parts[".modinfo"].split(b"\0") if b"=" in pair)
        return info, VERSION_RECORD.unpack(parts["__versions"])[0]
    except (lzma.LZMAError, KeyError, IndexError, ValueError, struct.error) as error:
        raise RefusedError(f"module {path.name}: invalid module format ({error})") from error


def check_module(name, info, checksum, image):
    """Raise what the kernel logs when a module was not built for it."""
    if info["vermagic"] != image["vermagic"]:
        raise RefusedError(f"{name}: version magic '{info['vermagic']}' should be '{image['vermagic']}'")
    if checksum != int(image["module_layout"], 16):
        raise RefusedError(f"{name}: disagrees about version of symbol module_layout")


def loadable(node, name):
    """`.modinfo` of a module that loads on the running kernel; None where there is no such module."""
    release = (node.proc / "sys/kernel/osrelease").read_text().strip()
    path = find_module(node, release, name)
    if path is None:
        return None
    info, checksum = read_module(path)
    check_module(name.replace("-", "_"), info, checksum, kernel_image(node, f"/boot/vmlinuz-{release}"))
    return info


# -- the driver ---------------------------------------------------------------------------------------------------


def version_key(version):
    return [int(part) for part in version.split(".")]


def gpu_refusal(profile, info):
    """Why this driver does not take this GPU, in the words of its kernel log; None where it does."""
    is_open = info["license"] != "NVIDIA"
    if is_open and profile["open_modules"] == "unsupported":
        return "not supported by open nvidia.ko because it does not include the required GPU System Processor (GSP)."
    if not is_open and profile["open_modules"] == "required":
        return "requires use of the NVIDIA open kernel modules."
    if version_key(info["version"]) < version_key(profile["min_driver"]):
        return f"not supported by the NVIDIA {info['version']} driver release."
    return None


def log_refusal(node, profile, reason):
    for gpu in profile["gpus"]:
        node.log(
            f"NVRM: The NVIDIA GPU {gpu['address']} (PCI ID: 10de:{profile['device']})",
            f"NVRM: installed in this system {'is ' if reason.startswith('not') else ''}{reason}",
            f"nvidia: probe of {gpu['address']} failed with error -1",
        )
    node.log(f"NVRM: The NVIDIA probe routine failed for {profile['count']} device(s).", "NVRM: None of the NVIDIA devices were initialized.")


def driver_title(info):
    """How this flavour calls itself in its version line."""
    if info["license"] == "NVIDIA":
        return f"NVIDIA UNIX x86_64 Kernel Module  {info['version']}  Tue Apr  8 12:41:17 UTC 2025"
    return f"NVIDIA UNIX Open Kernel Module for x86_64  {info['version']}  Release Build  (dvs-builder@lab)  Tue Apr  8 12:41:17 UTC 2025"


def log_load(node, info, uvm_major):
    taint = [f"nvidia: module license '{info['license']}' taints kernel."] if info["license"] == "NVIDIA" else []
    node.log(
        "nvidia: loading out-of-tree module taints kernel.",
        *taint,
        "nvidia: module verification failed: signature and/or required key missing - tainting kernel",
        f"NVRM: loading {driver_title(info)}",
        f"nvidia-uvm: Loaded the UVM driver, major device number {uvm_major}.",
    )


def write_module_list(node, info):
    """Put the driver's modules on top of /proc/modules."""
    taint = "POE" if info["license"] == "NVIDIA" else "OE"
    mine = [
        module_line("nvidia-drm", 122880, taint=taint),
        module_line("nvidia-uvm", 1900544, taint=taint),
        module_line("nvidia-modeset", 1605632, ["nvidia_drm"], taint),
        module_line("nvidia", 60710912, ["nvidia_uvm", "nvidia_modeset"], taint),
    ]
    write(node.proc / "modules", "".join(mine) + without_driver(node.proc / "modules", "nvidia"))
    write(node.proc / "sys/kernel/tainted", "12289\n" if info["license"] == "NVIDIA" else "12288\n")


def without_driver(path, word):
    return "".join(line for line in path.read_text().splitlines(keepends=True) if word not in line)


def write_devices(node, uvm_major, caps_major):
    """The driver's lines of /proc/devices."""
    rest = without_driver(node.proc / "devices", "nvidia")
    mine = {NVIDIA_MAJOR: "nvidia", uvm_major: "nvidia-uvm", caps_major: "nvidia-caps"}
    lines = [f"{major} {name}\n" for major, name in mine.items()] + [f"{NVIDIA_MAJOR} nvidiactl\n", f"{NVIDIA_MAJOR} nvidia-modeset\n"]
    write(node.proc / "devices", rest.replace("\n\nBlock", "\n" + "".join(lines) + "\nBlock", 1))


def number(value):
    """A number as the kernel reads a module's option: 0x hexadecimal, a leading 0 octal."""
    return int(value, 16 if value.startswith("0x") else 8 if value.startswith("0") else 10)


def write_params(node):
    """The parameters that the driver lists, with what modprobe.d sets."""
    params = {"ModifyDeviceFiles": 1, "DeviceFileUID": 0, "DeviceFileGID": 0, "DeviceFileMode": 438, "EnableGpuFirmware": 18, "EnableMSI": 1}
    given = {key.removeprefix("NVreg_"): number(value) for key, value in options(node, "nvidia").items() if re.fullmatch(r"0x[0-9a-f]+|\d+", value)}
    params.update(given)
    write(node.driver / "params", "".join(f"{key}: {value}\n" for key, value in params.items()))
    return params


def write_gpu(node, profile, info, gpu):
    """What the driver shows of one GPU, and beside it what it would answer by ioctl."""
    folder = node.driver / "gpus" / gpu["address"]
    information = [
        ("Model", profile["model"]),
        ("IRQ", 16),
        ("GPU UUID", gpu["uuid"]),
        ("Video BIOS", "94.02.5c.00.04"),
        ("Bus Type", "PCIe"),
        ("DMA Size", "47 bits"),
        ("DMA Mask", "0x7fffffffffff"),
        ("Bus Location", gpu["address"]),
        ("Device Minor", gpu["minor"]),
        ("GPU Firmware", info["version"] if info["license"] != "NVIDIA" else "N/A"),
        ("GPU Excluded", "No"),
    ]
    write(folder / "information", "".join(f"{key + ':':<16} {value}\n" for key, value in information))
    write(folder / "goldnode", aligned(answers(profile, gpu)))


def answers(profile, gpu):
    link = profile["link"]
    return [
        ("Memory Bytes", profile["memory_mib"] << 20),
        ("Memory Used MiB", 0),
        ("Compute Capability", profile["compute_capability"]),
        ("Architecture", profile["architecture"]),
        ("Multiprocessors", profile["multiprocessors"]),
        ("Power Limit", f"{profile['power_limit_w']}.00"),
        ("Power Draw", f"{profile['power_limit_w'] // 6}.00"),
        ("Temperature", 34),
        ("Persistence Mode", "Disabled"),
        ("ECC Mode", "Enabled"),
        ("ECC Uncorrected Volatile", 0),
        ("ECC Corrected Volatile", 0),
        ("Remapped Uncorrectable", 0),
        ("Remapped Pending", "No"),
        ("Remapped Failure", "No"),
        ("Stuck Bit", "None"),
        ("Link Generation", link["generation"]),
        ("Link Width", link["width"]),
        ("MIG Mode", mig_mode(profile, gpu)),
        ("MIG Pending", mig_mode(profile, gpu)),
        ("MIG Needs Reset", "Yes" if profile["architecture"] == "Ampere" else "No"),
        ("MIG Profiles", " ".join(profile.get("mig_profiles", [])) or "None"),
        *slice_lines(profile, gpu),
    ]


def slice_lines(profile, gpu):
    """`MIG n` of each MIG device: GPU instance, compute instance, minor, bytes, profile, UUID."""
    for index, one in enumerate(slices_of(profile, gpu)):
        yield f"MIG {index}", f"{one['gpu_instance']} {one['compute_instance']} {one['ci_minor']} {one['memory_mib'] << 20} {one['profile']} {one['uuid']}"


def mig_mode(profile, gpu):
    return profile["mig_modes"].get(str(gpu["minor"]), profile["mig_mode"])


def device_nodes(profile, uvm_major, caps_major):
    """(name, major, minor) of each device node that the driver has."""
    yield "nvidiactl", NVIDIA_MAJOR, 255
    yield "nvidia-modeset", NVIDIA_MAJOR, 254
    yield "nvidia-uvm", uvm_major, 0
    yield "nvidia-uvm-tools", uvm_major, 1
    for gpu in profile["gpus"]:
        yield f"nvidia{gpu['minor']}", NVIDIA_MAJOR, gpu["minor"]
    if profile["mig_mode"] != "N/A":
        yield "nvidia-caps/nvidia-cap1", caps_major, 1
        yield "nvidia-caps/nvidia-cap2", caps_major, 2
    for gpu in profile["gpus"]:
        for one in slices_of(profile, gpu):
            yield f"nvidia-caps/nvidia-cap{one['gi_minor']}", caps_major, one["gi_minor"]
            yield f"nvidia-caps/nvidia-cap{one['ci_minor']}", caps_major, one["ci_minor"]


def make_nodes(node, nodes, mode):
    for name, major, minor in nodes:
        path = node.dev / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        os.mknod(path, 0o020000 | mode, os.makedev(major, minor))
        path.chmod(0o444 if "caps" in name else mode)


def make_missing_nodes(node, profile):
    """What nvidia-modprobe does where the driver is loaded."""
    loaded = fields((node.driver / "goldnode").read_text())
    mode = int(fields((node.driver / "params").read_text())["DeviceFileMode"])
    nodes = device_nodes(profile, int(loaded["UVM Major"]), int(loaded["Caps Major"]))
    make_nodes(node, [one for one in nodes if not (node.dev / one[0]).exists()], mode)


def write_capabilities(node, profile):
    """/proc/driver/nvidia/capabilities and the table of their minors."""
    if profile["mig_mode"] == "N/A":
        return
    files = {"mig/config": 1, "mig/monitor": 2}
    for gpu in profile["gpus"]:
        for one in slices_of(profile, gpu):
            instance = f"gpu{gpu['minor']}/mig/gi{one['gpu_instance']}"
            files[f"{instance}/access"] = one["gi_minor"]
            files[f"{instance}/ci{one['compute_instance']}/access"] = one["ci_minor"]
    for name, minor in files.items():
        write(node.driver / "capabilities" / name, f"DeviceFileMinor: {minor}\nDeviceFileMode: 292\nDeviceFileModify: 1\n")
    write(node.proc / "driver/nvidia-caps/mig-minors", "".join(f"{name.replace('/mig/', '/')} {minor}\n" for name, minor in files.items()))


def keep_mig(node, minor, mode, pending, instances):
    """What the driver does when it is told a MIG mode or to make and destroy instances.

    An A100 keeps its mode in its InfoROM, a GPU since Hopper until the driver is unloaded; instances never outlive the driver (MIG user guide,
    "getting started with MIG"). `instances` are `{gpu_instance, compute_instance, profile, memory_mib, start, size}`.
    """
    profile = hardware(node)
    gpu = next(gpu for gpu in profile["gpus"] if gpu["minor"] == minor)
    if profile["architecture"] == "Ampere":
        write(node.inforom, json.dumps({**profile["mig_modes"], str(minor): pending}))
    write(node.instances, json.dumps({**profile["instances"], str(minor): instances}))
    profile = hardware(node)
    facts = node.driver / "gpus" / gpu["address"] / "goldnode"
    kept = [(key, value) for key, value in fields(facts.read_text()).items() if not re.match(r"MIG (?:\d|Mode|Pending)", key)]
    write(facts, aligned([*kept, ("MIG Mode", mode), ("MIG Pending", pending), *slice_lines(profile, gpu)]))
    shutil.rmtree(node.driver / "capabilities", ignore_errors=True)
    write_capabilities(node, profile)
    wanted = {name for name, _major, _minor in device_nodes(profile, 0, 0)}
    for path in (node.dev / "nvidia-caps").glob("nvidia-cap*"):
        if str(path.relative_to(node.dev)) not in wanted:
            path.unlink()
    make_missing_nodes(node, profile)


def firmware_missing(node, info):
    """The open modules run the GPU by firmware of their own version."""
    return info["license"] != "NVIDIA" and not list((node.root / "usr/lib/firmware/nvidia" / info["version"]).glob("gsp_*.bin"))


def log_without_firmware(node, profile, info):
    for gpu in profile["gpus"]:
        node.log(
            f"nvidia {gpu['address']}: Direct firmware load for nvidia/{info['version']}/gsp_ga10x.bin failed with error -2",
            "NVRM: RmFetchGspRmImages: No firmware image found",
            f"NVRM: GPU {gpu['address']}: RmInitAdapter failed! (0x61:0x56:1697)",
        )


def start_driver(node, profile, info):
    """Everything that a loaded driver shows; the version file comes last, since it says that the driver is there."""
    boot_id = (node.proc / "sys/kernel/random/boot_id").read_text()
    uvm_major, caps_major = (choice(free_majors(node, majors), boot_id) for majors in (UVM_MAJORS, CAPS_MAJORS))
    log_load(node, info, uvm_major)
    params = write_params(node)
    write_module_list(node, info)
    write_devices(node, uvm_major, caps_major)
    fabric = "In Progress" if profile["fabric"] else "Not Needed"
    write(node.driver / "goldnode", aligned([("UVM Major", uvm_major), ("Caps Major", caps_major), ("Fabric", fabric)]))
    if firmware_missing(node, info):
        log_without_firmware(node, profile, info)
    else:
        for gpu in profile["gpus"]:
            write_gpu(node, profile, info, gpu)
    write_capabilities(node, profile)
    if params["ModifyDeviceFiles"]:
        make_nodes(node, device_nodes(profile, uvm_major, caps_major), params["DeviceFileMode"])
    bind(node, "nvidia", [gpu["address"] for gpu in profile["gpus"]])
    bind(node, "nvidia-nvswitch", profile["switch_addresses"])
    write(node.driver / "version", f"NVRM version: {driver_title(info)}\nGCC version:  gcc version 14.2.0 (Debian 14.2.0-19)\n")


def load_nouveau(node, profile):
    """Bind nouveau where nothing keeps it away."""
    if blacklisted(node, "nouveau", (node.proc / "cmdline").read_text()) or loadable(node, "nouveau") is None:
        return
    if any(bound(node, gpu["address"]) for gpu in profile["gpus"]):
        return
    write(node.proc / "modules", module_line("nouveau", 3096576) + (node.proc / "modules").read_text())
    bind(node, "nouveau", [gpu["address"] for gpu in profile["gpus"]])
    node.log(*(f"nouveau {gpu['address']}: NVIDIA {profile['architecture']} ({profile['device']})" for gpu in profile["gpus"]))


def load_vfio(node, profile):
    """Bind vfio-pci to the GPUs whose id its options name, as the initial RAM disk of a machine for guests does."""
    ids = options(node, "vfio-pci").get("ids", "").split(",")
    if f"10de:{profile['device']}" not in ids:
        return
    write(node.proc / "modules", module_line("vfio-pci", 16384) + (node.proc / "modules").read_text())
    bind(node, "vfio-pci", [gpu["address"] for gpu in profile["gpus"]])
    node.log(f"vfio_pci: add [10de:{profile['device']}[ffffffff:ffffffff]] class 0x000000/00000000")


def load_nvidia(node, profile):
    """`modprobe nvidia`: raises RefusedError where it fails."""
    info = loadable(node, "nvidia")
    if info is None:
        raise RefusedError(f"FATAL: Module nvidia not found in directory /lib/modules/{(node.proc / 'sys/kernel/osrelease').read_text().strip()}")
    taken = [gpu["address"] for gpu in profile["gpus"] if bound(node, gpu["address"])]
    if taken:
        node.log(
            f"NVRM: The NVIDIA probe routine was not called for {len(taken)} device(s).",
            "NVRM: This can occur when another driver was loaded and",
            f"NVRM: obtained ownership of the NVIDIA device(s): {bound(node, taken[0])}.",
        )
        raise RefusedError("ERROR: could not insert 'nvidia': No such device")
    reason = gpu_refusal(profile, info)
    if reason:
        log_refusal(node, profile, reason)
        raise RefusedError("ERROR: could not insert 'nvidia': No such device")
    start_driver(node, profile, info)


def unload(node):
    """`modprobe -r nvidia`: what the driver showed is gone; its device nodes stay, as udev leaves them."""
    shutil.rmtree(node.driver, ignore_errors=True)
    shutil.rmtree(node.proc / "driver/nvidia-caps", ignore_errors=True)
    node.instances.unlink(missing_ok=True)
    for name in ("modules", "devices"):
        write(node.proc / name, without_driver(node.proc / name, "nvidia"))
    for link in (node.pci / "devices").glob("*/driver"):
        link.unlink()


# -- the two ways in ----------------------------------------------------------------------------------------------


def boot(node, boot_id):
    """Start anew. A soft reboot keeps kernel and boot id, so it changes nothing here."""
    seen = node.proc / "sys/kernel/random/boot_id"
    if seen.exists() and seen.read_text().strip() == boot_id:
        return
    shutil.rmtree(node.run, ignore_errors=True)
    node.run.mkdir(parents=True)
    profile = hardware(node)
    start_kernel(node, boot_id)
    write_bus(node, profile)
    if not profile["count"]:
        return
    for name, load in (("vfio-pci", load_vfio), ("nouveau", load_nouveau), ("nvidia", load_nvidia)):
        if name == "nvidia" and (blacklisted(node, name, (node.proc / "cmdline").read_text()) or no_module(node, name)):
            continue
        try:
            load(node, profile)
        except RefusedError as refusal:
            node.log(*[str(refusal)] if not str(refusal).startswith("ERROR") else [])


def no_module(node, name):
    """udev loads what matches by alias and says nothing where there is nothing."""
    return find_module(node, (node.proc / "sys/kernel/osrelease").read_text().strip(), name) is None


def load_now(node):
    """`modprobe nvidia` on the running kernel; where the driver is loaded, only its missing device nodes are made."""
    profile = hardware(node)
    if (node.driver / "version").exists():
        make_missing_nodes(node, profile)
        return
    if not profile["count"]:
        raise RefusedError("ERROR: could not insert 'nvidia': No such device")
    try:
        load_nvidia(node, profile)
    except RefusedError as refusal:
        if not str(refusal).startswith(("ERROR", "FATAL")):
            node.log(str(refusal))
            raise RefusedError(f"ERROR: could not insert 'nvidia': Invalid argument ({refusal})") from refusal
        raise


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path("/"))
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--boot", action="store_true")
    what.add_argument("--unload", action="store_true")
    what.add_argument("--mig", type=json.loads, metavar="JSON", help="minor, mode, pending and instances of a GPU, as nvidia-smi tells the driver")
    arguments = parser.parse_args(words)
    node = Node(arguments.root)
    try:
        if arguments.boot:
            boot(node, (node.root / "proc/sys/kernel/random/boot_id").read_text().strip())
        elif arguments.unload:
            unload(node)
        elif arguments.mig:
            keep_mig(node, **arguments.mig)
        else:
            load_now(node)
    except RefusedError as refusal:
        raise SystemExit(f"goldnode-lab-load: {refusal}") from refusal


if __name__ == "__main__":
    main(sys.argv[1:])
