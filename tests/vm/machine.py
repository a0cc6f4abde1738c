"""A booted machine: Debian under QEMU with UEFI, Secure Boot and AppArmor, which nspawn nodes cannot show.

No partition, no loop device: the firmware starts shim and GRUB from a FAT disk (ESP with kernel and initrd), the root file system is a second,
whole disk written by mke2fs.
Emulated (TCG): firmware with Secure Boot wants System Management Mode, which nested KVM does not give. A boot takes a minute or two.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.base import SUITE, mirror

TOOLS = ("qemu-system-x86", "ovmf", "mtools", "dosfstools")
PACKAGES = (
    *("linux-image-cloud-amd64", "initramfs-tools", "systemd", "systemd-sysv", "systemd-resolved", "dbus", "udev", "openssh-server", "python3"),
    *("apparmor", "docker.io", "docker-cli", "containerd", "runc", "iptables", "iproute2", "kmod", "mokutil", "procps", "busybox-static"),
    *("grub-efi-amd64-signed", "shim-signed", "linux-headers-cloud-amd64", "gcc", "make"),
)
# With Microsoft's keys enrolled, and Secure Boot on: Debian's shim is signed with one of them.
FIRMWARE = ("/usr/share/OVMF/OVMF_CODE_4M.ms.fd", "/usr/share/OVMF/OVMF_VARS_4M.ms.fd")
GRUB = "linux /vmlinuz root=/dev/vdb rw console=ttyS0 apparmor=1 security=apparmor\ninitrd /initrd.img\nboot\n"
NETWORK = "[Match]\nName=en*\n[Network]\nDHCP=yes\n"
BOOT_SECONDS = 420
DISK_MIB = 4096


class VmError(Exception):
    """The machine could not be made or does not answer; the sentence names its console's log."""


@dataclass(frozen=True)
class Machine:
    """A running machine that answers SSH on a port of this machine. `home` holds its disks, keys and console.log."""

    home: Path
    port: int

    @property
    def ssh_options(self) -> list[str]:
        """Key and host key of this machine alone."""
        named = {"UserKnownHostsFile": self.home / "known_hosts", "StrictHostKeyChecking": "yes", "IdentitiesOnly": "yes", "ConnectTimeout": 20}
        return ["-F", "none", "-i", str(self.home / "key"), *(word for name, value in named.items() for word in ("-o", f"{name}={value}"))]

    def run(self, command: str, check: bool = True, stdin: str | None = None) -> str:
        """A shell command on the machine; stdout, and stderr when it fails."""
        argv = ["ssh", *self.ssh_options, "-p", str(self.port), "root@127.0.0.1", command]
        done = subprocess.run(argv, capture_output=True, text=True, input=stdin, timeout=600)
        if check and done.returncode != 0:
            raise VmError(f"{command!r} on the machine ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout if done.returncode == 0 else done.stdout + done.stderr


def tool(*argv: str | Path, **environment: str) -> None:
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode != 0:
        raise VmError(f"{argv[0]} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-800:]}")


def install_tools() -> None:
    """QEMU, firmware and FAT tools from Debian, where they are missing."""
    wanted = [name for name in TOOLS if subprocess.run(["dpkg", "-s", name], capture_output=True).returncode != 0]
    if wanted:
        tool("apt-get", "install", "-q", "-y", "--no-install-recommends", *wanted, DEBIAN_FRONTEND="noninteractive")


def build(home: Path) -> None:
    """Write the disks below `home`: esp.img, root.img, vars.fd; and the keys that belong to them."""
    install_tools()
    root = home / "root"
    tool("mmdebstrap", "--variant=minbase", "--components=main", f"--include={','.join(PACKAGES)}", SUITE, root, mirror())
    make_keys(home, root)
    (root / "etc/hostname").write_text("booted\n")
    (root / "etc/hosts").write_text("127.0.0.1 localhost booted\n")
    (root / "etc/systemd/network/50-vm.network").write_text(NETWORK)
    tool("systemctl", f"--root={root}", "enable", "systemd-networkd", "ssh")
    make_esp(home, root)
    with (home / "root.img").open("wb") as disk:
        disk.truncate(DISK_MIB << 20)
    tool("mke2fs", "-q", "-t", "ext4", "-d", root, home / "root.img")
    shutil.rmtree(root)
    shutil.copy(FIRMWARE[1], home / "vars.fd")


def make_keys(home: Path, root: Path) -> None:
    """A key to log in with, and the machine's own host key, known before its first boot."""
    host = root / "etc/ssh/ssh_host_ed25519_key"
    for path in (*root.glob("etc/ssh/ssh_host_*"),):
        path.unlink()
    for path in (home / "key", host):
        tool("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "goldnode-vm", "-f", path)
    (root / "root/.ssh").mkdir(mode=0o700, exist_ok=True)
    shutil.copy(home / "key.pub", root / "root/.ssh/authorized_keys")
    (home / "host.pub").write_text(host.with_suffix(".pub").read_text())


def make_esp(home: Path, root: Path) -> None:
    """The FAT disk with shim, the signed GRUB, its configuration, kernel and initrd."""
    signed = {
        "BOOTX64.EFI": root / "usr/lib/shim/shimx64.efi.signed",
        "mmx64.efi": root / "usr/lib/shim/mmx64.efi.signed",
        "grubx64.efi": root / "usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed",
    }
    (home / "grub.cfg").write_text(GRUB)
    esp = home / "esp.img"
    with esp.open("wb") as disk:
        disk.truncate(128 << 20)
    tool("mkfs.vfat", esp)
    tool("mmd", "-i", esp, "::EFI", "::EFI/BOOT", "::EFI/debian")
    for name, path in signed.items():
        if path.exists():
            tool("mcopy", "-i", esp, path, f"::EFI/BOOT/{name}")
    tool("mcopy", "-i", esp, home / "grub.cfg", "::EFI/debian/grub.cfg")
    for name in ("vmlinuz", "initrd.img"):
        tool("mcopy", "-i", esp, (root / name).resolve() if not (root / name).is_symlink() else root / os.readlink(root / name).lstrip("/"), f"::{name}")


@contextmanager
def running(home: Path) -> Iterator[Machine]:
    """The machine of `build`, started and waited for; ended and reaped when the block is left, whatever happens."""
    port = free_port()
    (home / "known_hosts").write_text(f"[127.0.0.1]:{port} {(home / 'host.pub').read_text()}")
    with (home / "console.log").open("wb") as console:
        process = subprocess.Popen(qemu(home, port), stdout=console, stderr=console, stdin=subprocess.DEVNULL)
        try:
            machine = Machine(home, port)
            wait(machine, process)
            yield machine
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()


def qemu(home: Path, port: int) -> list[str]:
    """Its command line: two cores, 2 GiB, a network that only forwards one port of loopback to SSH."""
    code, variables = FIRMWARE[0], home / "vars.fd"
    return [
        *(
            "qemu-system-x86_64",
            "-machine",
            "q35,smm=on",
            "-accel",
            "tcg,thread=multi",
            "-cpu",
            "max",
            "-smp",
            "2",
            "-m",
            "2048",
            "-nographic",
            "-monitor",
            "none",
        ),
        *("-global", "driver=cfi.pflash01,property=secure,value=on"),
        *("-drive", f"if=pflash,format=raw,unit=0,readonly=on,file={code}", "-drive", f"if=pflash,format=raw,unit=1,file={variables}"),
        *("-drive", f"if=virtio,format=raw,file={home / 'esp.img'}", "-drive", f"if=virtio,format=raw,file={home / 'root.img'}"),
        *("-nic", f"user,model=virtio-net-pci,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22"),
    ]


def wait(machine: Machine, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + BOOT_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise VmError(f"QEMU ended with {process.returncode}; read {machine.home / 'console.log'}")
        try:
            if machine.run("systemctl is-system-running --wait", check=False).strip() in ("running", "degraded"):
                return
        except subprocess.TimeoutExpired:
            pass
        time.sleep(2)
    raise VmError(f"the machine does not answer SSH after {BOOT_SECONDS} s; read {machine.home / 'console.log'}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
