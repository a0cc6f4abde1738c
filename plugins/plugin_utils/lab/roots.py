# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Root file systems: templates unpacked once, nodes as btrfs snapshots of them where the kernel can, else as copies.

`<state>/roots/` holds everything: `template-<key>` per base or image, and one directory per node or builder. An overlay would break at
`systemctl soft-reboot` (lab facts); btrfs carries Docker's overlay2 well.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_of, file_digest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import cgroups
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.commands import LabError, locked, missing_programs, run, succeeds
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.identity import STATE_HOME, Lab

SIZE = 60 * 2**30  # of the sparse loop file; it takes what is written
LOOP_MAJOR = 7


def roots_dir(lab: Lab) -> Path:
    return lab.state / "roots"


def _loop_file(lab: Lab) -> Path:
    return lab.state / "roots.btrfs"


def _can_btrfs() -> bool:
    kernel = "btrfs" in Path("/proc/filesystems").read_text() or succeeds(["modprobe", "btrfs"])
    return kernel and Path("/dev/loop-control").exists() and not missing_programs(["mkfs.btrfs", "btrfs"])


def _free_loop_device() -> Path:
    """A container's /dev may lack the node of the device that the kernel offers."""
    device = Path(run(["losetup", "--find"]).strip())
    if not device.exists():
        os.mknod(device, 0o660 | stat.S_IFBLK, os.makedev(LOOP_MAJOR, int(device.name.removeprefix("loop"))))
    return device


def ensure_store(lab: Lab) -> str:
    """`btrfs` or `copy`: how roots are made here. Mounts the loop file again where it was mounted no more."""
    where, file = roots_dir(lab), _loop_file(lab)
    where.mkdir(parents=True, exist_ok=True)
    if where.is_mount():
        return "btrfs"
    if not file.exists() and (any(where.iterdir()) or not _can_btrfs()):
        return "copy"
    if not file.exists():
        _make_loop_file(file)
    # Whatever still runs from an earlier mount must not write to the file beside this one.
    cgroups.clear(lab.prefix)
    _mount(file, where)
    return "btrfs"


def _make_loop_file(file: Path) -> None:
    fresh = file.with_suffix(".new")
    with fresh.open("wb") as stream:
        stream.truncate(SIZE)
    run(["mkfs.btrfs", "--quiet", "--force", fresh])
    fresh.rename(file)


def _mount(file: Path, where: Path) -> None:
    """Other labs may take the device between the question and the mount, so it is asked again."""
    with locked(STATE_HOME):
        for _attempt in range(5):
            words = ["mount", "-t", "btrfs", "-o", f"loop={_free_loop_device()},compress=zstd:1,noatime", str(file), str(where)]
            if succeeds(words):
                return
        run(words)


def _is_btrfs(path: Path) -> bool:
    return run(["stat", "-f", "-c", "%T", path]).strip() == "btrfs"


def _make_empty(path: Path) -> None:
    if _is_btrfs(path.parent):
        run(["btrfs", "subvolume", "create", path])
    else:
        path.mkdir()


def remove(path: Path) -> bool:
    """A root with all that is in it, subvolumes of the node's own making included (systemd-tmpfiles makes some on btrfs)."""
    if not path.exists():
        return False
    if _is_btrfs(path):
        for nested in _subvolumes_below(path):
            run(["btrfs", "subvolume", "delete", nested])
    else:
        shutil.rmtree(path)
    return True


def _subvolumes_below(path: Path) -> list[Path]:
    """Deepest first, `path` last. A subvolume's root directory has inode 256."""
    nested = [Path(folder) for folder, _, _ in os.walk(path) if Path(folder).lstat().st_ino == 256] if path.lstat().st_ino == 256 else []
    return sorted(nested, key=lambda found: len(found.parts), reverse=True)


def template_key(name: str, packages: list[Path]) -> str:
    """A template with other packages is another template."""
    return f"{name}-{digest_of([file_digest(package) for package in packages]).removeprefix('sha256:')[:12]}" if packages else name


def template(lab: Lab, key: str) -> Path:
    return roots_dir(lab) / f"template-{key}"


def ensure_template(lab: Lab, key: str, tar: Path, packages: list[Path]) -> bool:
    """Unpack `tar` (zstd or plain) and install `packages` into it, once per key. Safe for several callers at a time."""
    final = template(lab, key)
    with locked(roots_dir(lab)):
        if final.exists():
            return False
        fresh = final.with_name(f"{final.name}.new")
        remove(fresh)
        _make_empty(fresh)
        _unpack(tar, fresh)
        _install(fresh, packages)
        fresh.rename(final)
    return True


def _unpack(tar: Path, into: Path) -> None:
    if not tar.is_file():
        raise LabError(f"no root file system at {tar}; expected a tar file (plain or .zst). Build it again.")
    run(["tar", "--extract", "--numeric-owner", "--xattrs", "--xattrs-include=*", "--directory", into, "--file", tar])


def _install(root: Path, packages: list[Path]) -> None:
    if not packages:
        return
    inside = root / "var/cache/goldnode-lab"
    inside.mkdir(parents=True)
    for package in packages:
        shutil.copy(package, inside)
    names = [f"/{(inside / package.name).relative_to(root)}" for package in packages]
    run(["chroot", root, "dpkg", "--install", *names], env={"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"})
    shutil.rmtree(inside)


def ensure_root(lab: Lab, name: str, key: str | None, prepare: Callable[[Path], None] = lambda root: None) -> bool:
    """A writable root of its own from a template, through `prepare` before it gets its name; one that is there stays."""
    final = roots_dir(lab) / name
    if final.exists():
        return False
    if key is None:
        raise LabError(f"{name} has no root file system yet; say with template which one it starts from.")
    source = template(lab, key)
    if not source.exists():
        raise LabError(f"no template {source.name} in {roots_dir(lab)} for the root of {name}. Run create_lab, or unpack the image first.")
    fresh = final.with_name(f"{name}.new")
    remove(fresh)
    if _is_btrfs(source):
        run(["btrfs", "subvolume", "snapshot", source, fresh])
    else:
        run(["cp", "--archive", "--reflink=auto", source, fresh])
    prepare(fresh)
    fresh.rename(final)
    return True


def exported(lab: Lab, key: str) -> Path:
    return lab.state / "images" / f"{key}.tar.zst"


def export(lab: Lab, key: str) -> bool:
    """The template as a tar compressed by zstd, written by rename; one that is there stays."""
    tar = exported(lab, key)
    if tar.exists():
        return False
    tar.parent.mkdir(parents=True, exist_ok=True)
    fresh = tar.with_name(f".{tar.name}")
    pack = ["tar", "--create", "--use-compress-program=zstd -1 -T0", "--numeric-owner", "--xattrs", "--xattrs-include=*"]
    run([*pack, "--directory", template(lab, key), "--file", fresh, "."])
    fresh.rename(tar)
    return True
