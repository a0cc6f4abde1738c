# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The seal of an image: what must not be in it, because it belongs to one machine, to its builder, or to nobody.

A seal item finds its violations below the directory of a root file system; sealing removes or resets exactly what checking finds, so
the two can not disagree. No link is ever followed: a link in the image may point anywhere on the machine that seals it.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

MACHINE_ID = "etc/machine-id"
RESOLV_CONF = "etc/resolv.conf"
RESOLVED = "usr/lib/systemd/systemd-resolved"
RESOLVED_LINK = "../run/systemd/resolve/stub-resolv.conf"

# item -> what must not exist, as globs below the root. `home` stands for root's and every user's home directory.
ABSENT: dict[str, tuple[str, ...]] = {
    "dbus machine id": ("var/lib/dbus/machine-id",),
    "ssh host keys": ("etc/ssh/ssh_host_*",),
    "host name": ("etc/hostname",),  # mmdebstrap copies the build host's
    "random seed": ("var/lib/systemd/random-seed", "var/lib/urandom/random-seed", "boot/efi/loader/random-seed"),
    "credential secret": ("var/lib/systemd/credential.secret",),
    "cloud-init state": ("var/lib/cloud/*",),
    "dhcp leases": ("var/lib/dhcp/*", "var/lib/dhcpcd/*", "var/lib/systemd/network/*", "var/lib/NetworkManager/*"),
    "network secrets": ("etc/NetworkManager/system-connections/*", "etc/netplan/*"),
    "nvme and iscsi names": ("etc/nvme/hostid", "etc/nvme/hostnqn", "etc/iscsi/initiatorname.iscsi"),
    "histories": ("home/.*_history", "home/.lesshst", "home/.viminfo", "home/.wget-hsts"),
    "user credentials": ("home/.ssh", "home/.netrc", "home/.docker", "home/.config/pip", "home/.pip", "home/.gnupg", "home/.aws", "home/.kube"),
    "system credentials": ("etc/krb5.keytab", "etc/pip.conf", "etc/apt/auth.conf", "etc/apt/auth.conf.d/*", "etc/docker/key.json"),
    "temporary files": ("tmp/*", "tmp/.*", "var/tmp/*", "var/tmp/.*", "run/*"),
    "crash dumps": ("var/crash/*", "var/lib/systemd/coredump/*"),
    "apt caches": ("var/cache/apt/*.bin", "var/cache/apt/archives/*.deb", "var/cache/apt/archives/partial/*"),
    "container data": ("var/lib/docker/*", "var/lib/containerd/*", "var/lib/containers/*"),
    "swap": ("swapfile", "swap.img"),
    "module signing keys": ("var/lib/dkms/mok.*", "var/lib/shim-signed/mok"),
    "dkms build trees": ("var/lib/dkms/*/*/build", "var/lib/dkms/*/*/*/*/log", "var/lib/dkms/*/*/*/log"),
    "back-ups and caches that differ from build to build": (
        "etc/passwd-",
        "etc/group-",
        "etc/shadow-",
        "etc/gshadow-",
        "etc/subuid-",
        "etc/subgid-",
        "var/lib/dpkg/*-old",
        "var/cache/debconf/*-old",
        "var/cache/ldconfig/aux-cache",
    ),
    "lab node profile": ("etc/goldnode-lab/*",),  # the hardware of one node; the directory itself marks the lab
    "builder": ("usr/sbin/policy-rc.d", "etc/dpkg/dpkg.cfg.d/goldnode-builder", "home/.ansible"),
}

# item -> directories whose tree is kept (services need it) and whose files must be gone
EMPTY_TREES: dict[str, tuple[str, ...]] = {
    "logs": ("var/log",),
    "apt lists": ("var/lib/apt/lists",),
}

# Wherever it lies, the private half of a key that can sign kernel modules lets every node sign them.
PRIVATE_KEY_NAMES = frozenset({"mok.key", "mok.priv"})


@dataclass(frozen=True)
class Violation:
    """A path of the image, relative to its root, that a seal item does not allow, and what is wrong with it."""

    item: str
    path: str
    observed: str


def violations(root: Path) -> list[Violation]:
    """All that is wrong with the seal of a root file system, in a stable order."""
    return sorted({*_absent(root), *_files_in_trees(root), *_private_keys(root), *_machine_id(root), *_resolv_conf(root)}, key=_order)


def seal(root: Path) -> list[Violation]:
    """Removes or resets all violations; returns what they were. `violations(root)` is empty afterwards."""
    found = violations(root)
    for violation in found:
        if violation.path == MACHINE_ID:
            _reset(root / MACHINE_ID)
        elif violation.path == RESOLV_CONF:
            _reset(root / RESOLV_CONF, link=RESOLVED_LINK if (root / RESOLVED).exists() else None)
        else:
            _remove(root / violation.path)
    return found


def _order(violation: Violation) -> tuple[str, str]:
    return violation.path, violation.item


def _absent(root: Path) -> Iterator[Violation]:
    for item, patterns in ABSENT.items():
        for pattern in patterns:
            for path in _matches(root, pattern):
                if item != "dbus machine id" or not path.is_symlink():  # a link to /etc/machine-id holds nothing of its own
                    yield Violation(item, str(path.relative_to(root)), "is there")


def _matches(root: Path, pattern: str) -> Iterator[Path]:
    if not pattern.startswith("home/"):
        yield from (path for path in root.glob(pattern) if _unlinked(root, path))
        return
    for home in ("root", "home/*"):
        yield from (path for path in root.glob(home + pattern[len("home") :]) if _unlinked(root, path))


def _unlinked(root: Path, path: Path) -> bool:
    """Whether no directory between root and path is a link, so that path really lies in the image."""
    return not any(parent.is_symlink() for parent in path.parents if parent != root and root in parent.parents)


def _files_in_trees(root: Path) -> Iterator[Violation]:
    for item, trees in EMPTY_TREES.items():
        for tree in trees:
            if _unlinked(root, root / tree / "x"):
                yield from (Violation(item, str(path.relative_to(root)), "is there") for path in _files(root / tree))


def _private_keys(root: Path) -> Iterator[Violation]:
    for path in _files(root):
        if path.name.lower() in PRIVATE_KEY_NAMES:
            yield Violation("module signing keys", str(path.relative_to(root)), "is there")


def _files(top: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(str(top)):  # os.walk does not enter linked directories
        yield from (Path(folder) / name for name in names)


def _machine_id(root: Path) -> Iterator[Violation]:
    """Empty (an id is made at the first boot) or `uninitialized` (and units are preset at the first boot)."""
    path = root / MACHINE_ID
    if path.is_symlink() or not path.is_file():
        yield Violation("machine id", MACHINE_ID, "is no file")
    elif path.read_text(errors="replace").strip() not in ("", "uninitialized"):
        yield Violation("machine id", MACHINE_ID, "holds an id")


def _resolv_conf(root: Path) -> Iterator[Violation]:
    """The link to systemd-resolved's file where that is installed, else an empty file: never the resolver of the build host."""
    path = root / RESOLV_CONF
    if (root / RESOLVED).exists():
        if not path.is_symlink() or os.readlink(path) != RESOLVED_LINK:
            yield Violation("resolver", RESOLV_CONF, f"is no link to {RESOLVED_LINK}")
    elif path.is_symlink() or not path.is_file() or path.stat().st_size:
        yield Violation("resolver", RESOLV_CONF, "is no empty file")


def _reset(path: Path, link: str | None = None) -> None:
    """An empty file, or a link, in place of whatever is at path."""
    _remove(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if link is None:
        path.touch()
        path.chmod(0o644)
    else:
        path.symlink_to(link)


def _remove(path: Path) -> None:
    """Removes a path whatever it is; an earlier violation may have taken it away with its directory."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif path.is_symlink() or path.exists():
        path.unlink()
