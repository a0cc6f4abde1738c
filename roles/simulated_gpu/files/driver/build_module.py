"""What the stand-in's dkms.conf runs in place of make: writes kernel objects that dkms, modinfo and depmod accept.

A real build fails without headers and against a kernel that the driver does not know; so does this one. The object
carries what the kernel looks at before it loads a module: `.modinfo` (version, vermagic, licence, aliases) and
`__versions` (the checksum of module_layout from the headers' Module.symvers).
Simpler than the real thing: there is no code in it, and module_layout stands for all symbols.
"""

import argparse
import re
import struct
import sys
from pathlib import Path

# <elf.h>: ELFCLASS64, little endian, version 1, System V; ET_REL, EM_X86_64
IDENT = b"\x7fELF\x02\x01\x01" + bytes(9)
HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
PROGBITS, STRTAB, ALLOC = 1, 3, 2
# include/linux/module.h: struct modversion_info
VERSION = struct.Struct("<Q56s")

GPU_ALIASES = ["pci:v000010DEd*sv*sd*bc03sc02i00*", "pci:v000010DEd*sv*sd*bc03sc00i00*"]
# Some of the options that the real module has (its README, and `modinfo nvidia`).
OPTIONS = {"ModifyDeviceFiles": "int", "DeviceFileUID": "int", "DeviceFileGID": "int", "DeviceFileMode": "int", "EnableGpuFirmware": "int", "EnableMSI": "int"}
NVIDIA_MODULES = {"nvidia": "", "nvidia-modeset": "nvidia", "nvidia-uvm": "nvidia", "nvidia-drm": "nvidia-modeset"}


def elf_object(sections):
    """An ELF64 relocatable file with the given sections: name -> bytes."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in [*sections, ".shstrtab"])
    bodies = {**sections, ".shstrtab": names}
    table, blob, offset = [SECTION.pack(*[0] * 10)], b"", HEADER.size
    for name, body in bodies.items():
        kind = STRTAB if name == ".shstrtab" else PROGBITS
        flags = 0 if name == ".shstrtab" else ALLOC
        table.append(SECTION.pack(names.index(name.encode() + b"\0"), kind, flags, 0, offset + len(blob), len(body), 0, 0, 8, 0))
        blob += body + bytes(-len(body) % 8)
    header = HEADER.pack(IDENT, 1, 62, 1, 0, 0, offset + len(blob), 0, HEADER.size, 0, 0, SECTION.size, len(table), len(table) - 1)
    return header + blob + b"".join(table)


def module_object(info, checksum):
    """A kernel object with these `.modinfo` pairs, built against this checksum of module_layout."""
    modinfo = b"".join(f"{key}={value}".encode() + b"\0" for key, value in info)
    return elf_object({".modinfo": modinfo, "__versions": VERSION.pack(checksum, b"module_layout")})


def module_layout(symvers):
    """The checksum of module_layout in a Module.symvers."""
    for line in symvers.read_text().splitlines():
        checksum, symbol = line.split("\t")[:2]
        if symbol == "module_layout":
            return int(checksum, 16)
    raise SystemExit(f"{symvers}: no module_layout in it")


def kernel_of(headers):
    """(release, vermagic) of a headers folder."""
    release = (headers / "include/config/kernel.release").read_text().strip()
    return release, f"{release} SMP preempt mod_unload modversions "


def compile_error(sources, release):
    """The compiler's message where these sources do not fit this kernel, else None. One `regex<TAB>message` a line."""
    for line in (sources / "incompatible_kernels").read_text().splitlines():
        pattern, message = line.split("\t")
        if re.fullmatch(pattern, release):
            return message
    return None


def module_info(name, version, module_license, vermagic):
    """The `.modinfo` pairs of one of the driver's modules."""
    firmware = [("firmware", f"nvidia/{version}/gsp_{chip}.bin") for chip in ("tu10x", "ga10x")]
    aliases = [("alias", alias) for alias in GPU_ALIASES]
    pairs = [("license", module_license), ("version", version), ("supported", "external")]
    if name == "nvidia":
        options = [("parmtype", f"NVreg_{option}:{kind}") for option, kind in OPTIONS.items()]
        pairs += [*firmware, *aliases, ("alias", "char-major-195-*"), *options]
    return [*pairs, ("depends", NVIDIA_MODULES[name]), ("retpoline", "Y"), ("name", name.replace("-", "_")), ("vermagic", vermagic)]


def build_driver(arguments):
    """Write all of the driver's modules into the working folder, or fail as a compiler does."""
    release, vermagic = kernel_of(arguments.headers)
    checksum = module_layout(arguments.headers / "Module.symvers")
    error = compile_error(Path(__file__).parent, release)
    if error:
        raise SystemExit(f"{error}\nmake[2]: *** [scripts/Makefile.build:229: nvidia] Error 1\nmake: *** [Makefile:120: modules] Error 2")
    for name in NVIDIA_MODULES:
        print(f"  LD [M]  {name}.ko")
        info = module_info(name, arguments.version, arguments.license, vermagic)
        Path(f"{name}.ko").write_bytes(module_object(info, checksum))


def build_nouveau(arguments):
    """Write the kernel's own driver for these GPUs, as the kernel package carries it."""
    info = [("license", "GPL and additional rights"), ("alias", "pci:v000010DEd*sv*sd*bc03sc*i*"), ("intree", "Y"), ("name", "nouveau")]
    vermagic = ("vermagic", f"{arguments.release} SMP preempt mod_unload modversions ")
    arguments.output.write_bytes(module_object([*info, vermagic], arguments.checksum))


def arguments_of(words):
    parser = argparse.ArgumentParser()
    which = parser.add_subparsers(required=True)
    driver = which.add_parser("driver")
    driver.add_argument("--headers", type=Path, required=True)
    driver.add_argument("--version", required=True)
    driver.add_argument("--license", required=True)
    driver.set_defaults(build=build_driver)
    nouveau = which.add_parser("nouveau")
    nouveau.add_argument("--release", required=True)
    nouveau.add_argument("--checksum", type=lambda text: int(text, 16), required=True)
    nouveau.add_argument("--output", type=Path, required=True)
    nouveau.set_defaults(build=build_nouveau)
    return parser.parse_args(words)


if __name__ == "__main__":
    chosen = arguments_of(sys.argv[1:])
    chosen.build(chosen)
