# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A builder: one directory in which one run makes one image, on this machine, as root.

    <builders>/<pool>/holder   which process builds here; a dead one leaves a builder that the next run takes over
    <builders>/<pool>/root     the root file system; while it is mounted, roles run in it through the connection `chroot`

Nothing of the machine is mounted into it for writing: `/proc` and `/sys` are read-only, `/dev` is a small file system of its own. So
neither a package's script nor the removal of the tree can reach the machine.
"""

from __future__ import annotations

import os
import shutil
import signal
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.commands import run
from ansible_collections.goldnode.gpu.plugins.plugin_utils.holder import holder_of, is_alive
from filelock import FileLock

DEVICES = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9), "tty": (5, 0)}
LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}
# Debian policy: 101 forbids a package's script to start a service (invoke-rc.d(8)).
POLICY = "#!/bin/sh\nexit 101\n"
# A root that a crash would only have to be built again needs no fsync for each file (dpkg(1)).
DPKG = "force-unsafe-io\n"
TAR = ("tar", "--numeric-owner", "--xattrs", "--xattrs-include=*", "--acls")


class BuilderError(Exception):
    """Why a builder can not be used, in one sentence."""


class Builder:
    """The builder of a pool below a directory of builders."""

    def __init__(self, builders: Path, pool: str) -> None:
        self.builders = builders.resolve()  # mounts and processes are known by their real paths
        self.home = self.builders / pool
        self.root = self.home / "root"

    def claim(self, owner: int) -> None:
        """Takes the builder for a process, and removes what dead owners left here and in other builders."""
        self.builders.mkdir(parents=True, exist_ok=True)
        with FileLock(self.builders / "lock"):
            self._refuse_another(owner)
            for home in (path for path in self.builders.iterdir() if path.is_dir() and (path == self.home or _living_holder(path) is None)):
                remove(home)
            self.home.mkdir()
            (self.home / "holder").write_text(holder_of(owner))

    def unpack(self, base: Path) -> int:
        """Unpacks the base root; returns its newest modification time, in seconds since 1970."""
        if not base.is_file():
            raise BuilderError(f"{base} is not there; image_build_base names the tar of a root file system (in the lab create_lab makes it)")
        self.root.mkdir()
        run([*TAR, "--extract", "--preserve-permissions", "--directory", str(self.root), "--file", str(base)], BuilderError)
        if not (self.root / "etc").is_dir():
            raise BuilderError(f"{base} holds no root file system (there is no etc at its top); give image_build_base another one")
        return int(max(path.lstat().st_mtime for path in _tree(self.root)))

    def mount(self) -> None:
        """Makes the root fit for commands that run in it: kernel file systems, resolver, no starting of services."""
        for name, options in (("proc", "ro,nosuid,nodev,noexec"), ("sysfs", "ro,nosuid,nodev,noexec"), ("tmpfs", "mode=0755,nosuid,size=64m")):
            where = self.root / {"proc": "proc", "sysfs": "sys", "tmpfs": "dev"}[name]
            where.mkdir(exist_ok=True)
            run(["mount", "-t", name, "-o", options, name, str(where)], BuilderError)
        _fill_dev(self.root / "dev")
        policy = self.root / "usr/sbin/policy-rc.d"
        policy.write_text(POLICY)
        policy.chmod(0o755)
        (self.root / "etc/dpkg/dpkg.cfg.d/goldnode-builder").write_text(DPKG)
        resolver = self.root / "etc/resolv.conf"
        resolver.unlink(missing_ok=True)
        shutil.copyfile("/etc/resolv.conf", resolver)

    def unmount(self) -> None:
        """Ends what still runs in the root and unmounts all below it."""
        release(self.root)

    def pack(self, target: Path, newest: int) -> None:
        """A tar whose bytes follow from the tree alone: sorted, numeric owners, times no newer than `newest`.

        Older times stay: compiled Python files name the time of their source.
        """
        if list(mounts_below(self.root)):
            raise BuilderError(f"{self.root} is still mounted; it is packed only when nothing runs in it")
        posix = "--format=posix", "--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime"
        times = f"--mtime=@{newest}", "--clamp-mtime", "--sort=name"
        # two threads, always: the number of threads shows in the bytes
        run([*TAR, *posix, *times, "--use-compress-program=zstd -3 -T2", "--create", "--directory", str(self.root), "--file", str(target), "."], BuilderError)

    def disclaim(self, owner: int) -> None:
        """Removes the builder with all mounts and processes in it, unless another living process has it."""
        self.builders.mkdir(parents=True, exist_ok=True)
        with FileLock(self.builders / "lock"):
            if _living_holder(self.home) in (None, holder_of(owner)):
                remove(self.home)

    def _refuse_another(self, owner: int) -> None:
        holder = _living_holder(self.home)
        if holder not in (None, holder_of(owner)):
            pid = holder.partition(":")[0]
            raise BuilderError(f"builder {self.home} is used by process {pid}; wait until that run ends, or end it, and run this again")


def remove(home: Path) -> None:
    """Removes a builder's directory; nothing outside of it is touched, whatever is mounted below."""
    release(home)
    if list(mounts_below(home)):
        raise BuilderError(f"{home} still has mounts below it; unmount them (findmnt --submounts) and run this again")
    if home.exists():
        shutil.rmtree(home)


def release(top: Path) -> None:
    """Kills the processes whose root lies in `top` and unmounts what lies below it, deepest first."""
    deadline = time.monotonic() + 5
    while running := list(_processes_in(top)):
        if time.monotonic() > deadline:
            raise BuilderError(f"processes {running} in {top} do not end; look what they wait for and run this again")
        for pid in running:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    for target in sorted(mounts_below(top), reverse=True):
        run(["umount", str(target)], BuilderError)


def mounts_below(top: Path) -> Iterator[Path]:
    """Mount points at or below a directory, from the kernel's own list (spaces and the like are escaped as octal there)."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        target = Path(line.split(" ")[4].encode().decode("unicode_escape"))
        if target == top or top in target.parents:
            yield target


def _processes_in(top: Path) -> Iterator[int]:
    for link in Path("/proc").glob("[0-9]*/root"):
        try:
            root = Path(os.readlink(link))
        except OSError:
            continue  # it ended while we looked
        if root != Path("/") and (root == top or top in root.parents):
            yield int(link.parent.name)


def _living_holder(home: Path) -> str | None:
    """The living process that has a builder, as holder_of names it."""
    try:
        holder = (home / "holder").read_text()
    except FileNotFoundError:
        return None
    return holder if holder and is_alive(holder) else None


def _fill_dev(dev: Path) -> None:
    for name, (major, minor) in DEVICES.items():
        os.mknod(dev / name, stat.S_IFCHR | 0o666, os.makedev(major, minor))
        (dev / name).chmod(0o666)
    for name, target in LINKS.items():
        (dev / name).symlink_to(target)
    for name in ("pts", "shm"):
        (dev / name).mkdir()


def _tree(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        yield from (Path(folder) / name for name in (*folders, *files))
