# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The base root: a bare Debian that every node starts from, and the Debian packages that the lab offers in its own repository.

Both come from one run of mmdebstrap and are cached together, so that a cached root and the packages for it always fit.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.commands import LabError, locked, run

SUITE = "trixie"
# procps for those who look at a node by hand or by testinfra. dkms recommends a compiler and is not given one: the lab's
# kernel modules are built by a script, and gcc would double the root. dkms with its own needs takes about 90 MB.
PACKAGES = (
    *("systemd", "systemd-sysv", "dbus", "openssh-server", "python3", "python3-apt", "iptables", "iproute2", "ca-certificates"),
    *("kmod", "procps", "unattended-upgrades", "dkms", "tini", "libseccomp2", "libdevmapper1.02.1", "xz-utils"),
)
# Owned by goldnode's roles, so not in the base: they are downloaded, with what they need beyond it, for the repository `os`.
OFFERED = ("docker.io", "docker-cli", "containerd", "runc", "podman")
MARKER = "etc/goldnode-lab"

# Run by mmdebstrap with the root as $1. Debian's own timers would move packages behind the tests' back.
CUSTOMIZE = f"""set -eu
chroot "$1" apt-get clean
chroot "$1" apt-get -qq --no-install-recommends --download-only -y install {" ".join(OFFERED)}
mv "$1"/var/cache/apt/archives/*.deb "$GOLDNODE_DEBS"/
rm -f "$1"/etc/apt/sources.list "$1"/etc/apt/sources.list.d/* "$1"/etc/ssh/ssh_host_* "$1"/etc/machine-id
mkdir -p "$1/{MARKER}"
touch "$1/etc/apt/sources.list"
for timer in apt-daily.timer apt-daily-upgrade.timer; do ln -sf /dev/null "$1/etc/systemd/system/$timer"; done
"""


@dataclass(frozen=True)
class Base:
    key: str
    tar: Path
    debs: Path


def cache_home() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "goldnode"


def recipe_key() -> str:
    """16 hex over all that decides the base root's content, but for the archive's own movement."""
    return digest_of([SUITE, PACKAGES, OFFERED, CUSTOMIZE]).removeprefix("sha256:")[:16]


def mirror_of(targets: str, distribution: str, override: str) -> str:
    """The Debian mirror of this machine out of `apt-get indextargets` lines `URI|origin|component`."""
    if override:
        return override
    if distribution != "debian":
        raise LabError(f"this machine runs {distribution}; the lab's nodes run Debian. Name a mirror: GOLDNODE_DEBIAN_MIRROR=http://…/debian")
    for line in targets.splitlines():
        uri, origin, component = line.split("|")
        if (origin, component) == ("Debian", "main") and "security" not in uri:
            return uri
    raise LabError("apt on this machine has no Debian mirror (apt-get indextargets lists none). Name one: GOLDNODE_DEBIAN_MIRROR=http://…/debian")


def mirror() -> str:
    targets = run(["apt-get", "indextargets", "--format", "$(REPO_URI)|$(ORIGIN)|$(COMPONENT)", "Created-By: Packages"])
    release = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    return mirror_of(targets, release["ID"].strip('"'), os.environ.get("GOLDNODE_DEBIAN_MIRROR", ""))


def cached() -> Base:
    key = recipe_key()
    return Base(key, cache_home() / "roots" / f"{key}.tar.zst", cache_home() / "debs" / key)


def ensure() -> tuple[Base, bool]:
    """The base out of the cache, built if it is not there; shared with other clones under a lock. True if it was built."""
    base = cached()
    with locked(base.tar.parent):
        if base.tar.is_file():
            return base, False
        base.debs.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="goldnode-base-") as work:
            _build(Path(work), base)
    return base, True


def _build(work: Path, base: Base) -> None:
    """The tar is renamed last: where it is, the packages are too."""
    debs, hook, tar = work / "debs", work / "customize", work / "root.tar"
    debs.mkdir()
    hook.write_text(f"#!/bin/sh\n{CUSTOMIZE}")
    hook.chmod(0o755)
    components = ["--components=main", f"--include={','.join(PACKAGES)}", '--aptopt=APT::Install-Recommends "false"', f"--customize-hook={hook}"]
    run(["mmdebstrap", "--variant=minbase", *components, SUITE, tar, mirror()], env={"GOLDNODE_DEBS": str(debs)})
    fresh = base.tar.with_suffix(".new")
    run(["zstd", "-q", "-3", "-T0", "-f", tar, "-o", fresh])
    shutil.rmtree(base.debs, ignore_errors=True)
    shutil.move(debs, base.debs)
    fresh.rename(base.tar)


def keep_packages(base: Base, directory: Path) -> list[Path]:
    """The engine's packages in a place of the lab's own, copied once: a cache that is emptied or built anew must not change a lab."""
    if not directory.is_dir():
        fresh = directory.with_name(f".{directory.name}")
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.copytree(base.debs, fresh)
        fresh.rename(directory)
    return sorted(directory.glob("*.deb"))
