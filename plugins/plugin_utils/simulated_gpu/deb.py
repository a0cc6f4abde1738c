# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Builds one stand-in package with dpkg-deb. Equal sources give equal bytes."""

from __future__ import annotations

import lzma
import sys
from collections.abc import Mapping
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.commands import run
from ansible_collections.goldnode.gpu.plugins.plugin_utils.simulated_gpu.catalogue import Package, fill

# -std=gnu11 without _GNU_SOURCE and no stack protector: nothing newer than glibc 2.14 is needed, so that the libraries
# load in old container images. No build id, no symbols: nothing of the machine that builds gets in.
COMPILER = ("gcc", "-shared", "-fPIC", "-O2", "-s", "-std=gnu11", "-fvisibility=hidden", "-fno-stack-protector", "-Wl,--build-id=none")
WARNINGS = ("-Wall", "-Wextra", "-Werror")


class BuildError(RuntimeError):
    """A tool refused; one sentence with its words."""


def place(path: Path, content: str) -> None:
    """Write a text file; what begins with `#!` is made executable."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(0o755 if content.startswith("#!") else 0o644)


def compile_library(source: Path, target: Path, soname: str, defines: Mapping[str, str]) -> None:
    """Compile one stand-in library; its defines are C expressions."""
    options = [f"-D{name}={value}" for name, value in defines.items()]
    run([*COMPILER, *WARNINGS, *options, f"-Wl,-soname,{soname}", "-o", str(target), str(source)], BuildError)


def library_defines(package: Package) -> dict[str, str]:
    """What a library knows of its driver."""
    words = package.words
    return {"DRIVER_VERSION": f'"{words["version"]}"', "CUDA_VERSION": words["cuda"], "PTX_VERSION": words["ptx"]}


def place_library(package: Package, tree: Path, path: str, source: Path) -> None:
    """`libx.so.<driver version>`, and the link of its soname to it, as the vendor ships them."""
    name = Path(path).name
    target = tree / f"{path[1:]}.{package.words['version']}"
    target.parent.mkdir(parents=True, exist_ok=True)
    compile_library(source, target, f"{name}.1", library_defines(package))
    target.chmod(0o644)
    (target.parent / f"{name}.1").symlink_to(target.name)


def place_nouveau(package: Package, tree: Path, sources: Path) -> None:
    """The kernel's own driver for these GPUs, compressed as Debian's modules are."""
    target = tree / str(package.nouveau)[1:]
    target.parent.mkdir(parents=True)
    plain = target.with_suffix("")
    builder = str(sources / "driver/build_module.py")
    words = package.words
    run([sys.executable, builder, "nouveau", "--release", words["release"], "--checksum", words["image_checksum"], "--output", str(plain)], BuildError)
    target.write_bytes(lzma.compress(plain.read_bytes(), check=lzma.CHECK_CRC32))
    target.chmod(0o644)
    plain.unlink()


def control(package: Package) -> str:
    """The control file."""
    head = {"Package": package.name, "Version": package.version, "Architecture": "amd64", "Priority": "optional"}
    rest = {"Maintainer": "The goldnode founders <goldnode-lab@localhost>", "Origin": "goldnode-lab"}
    return "".join(f"{key}: {value}\n" for key, value in {**head, **rest, **package.fields}.items())


def place_control(package: Package, tree: Path, sources: Path) -> None:
    """DEBIAN/: control, maintainer scripts, conffiles. Every package has the preinst that refuses real machines."""
    place(tree / "DEBIAN/control", control(package))
    for name, source in {"preinst": "preinst", **package.scripts}.items():
        place(tree / "DEBIAN" / name, fill((sources / source).read_text(), package.words))
    if package.conffiles:
        place(tree / "DEBIAN/conffiles", "".join(f"{path}\n" for path in package.conffiles))


def lay_out(package: Package, tree: Path, sources: Path) -> None:
    """The whole tree of one package."""
    for path, source in package.files.items():
        place(tree / path[1:], fill((sources / source).read_text(), package.words))
    # -B: all versions of a source have one time and often one size, so compiled files of another version would be taken for its own.
    for path, source in package.programs.items():
        place(tree / path[1:], f"#!/usr/bin/python3 -B\n{fill((sources / source).read_text(), package.words)}")
    for path, source in package.libraries.items():
        place_library(package, tree, path, sources / source)
    for path, target in package.links.items():
        (tree / path[1:]).parent.mkdir(parents=True, exist_ok=True)
        (tree / path[1:]).symlink_to(target)
    if package.nouveau:
        place_nouveau(package, tree, sources)
    place_control(package, tree, sources)


def build(package: Package, sources: Path, scratch: Path, target: Path, build_time: int) -> Path:
    """Build one package below `target/<repository>/` and return its path. `scratch` is an empty folder."""
    tree = scratch / package.file_name
    tree.mkdir(mode=0o755)
    lay_out(package, tree, sources)
    for folder in [tree, *(path for path in tree.rglob("*") if path.is_dir())]:
        folder.chmod(0o755)  # dpkg-deb refuses anything tighter, and a umask must not show
    path = target / package.repository / package.file_name
    path.parent.mkdir(parents=True, exist_ok=True)
    run(["dpkg-deb", "--root-owner-group", "-Zxz", "-z1", "--build", str(tree), str(path)], BuildError, env={"SOURCE_DATE_EPOCH": str(build_time)})
    return path
