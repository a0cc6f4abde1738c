"""A pool of real packages: Debian 13's own kernel, driver and engine from the archive that this machine uses."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.package_families import layer_of
from ansible_collections.goldnode.gpu.plugins.plugin_utils.image_store import ImageStore
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.base import mirror
from debian.deb822 import Deb822

from .loop import CLONE, Loop, StepError

POOL = "trixie"
COMPONENTS = ["main", "contrib", "non-free", "non-free-firmware"]
# Debian has no container toolkit, so the pool has none; ranges take what the archive has today.
PINS = {
    "os": {"distribution": "debian", "release": "13", "arch": "x86_64", "cgroup": 2},
    "gpus": [],
    "kernel": {"version": "6.12.*-cloud-amd64"},
    "nvidia_driver": {"version": "550.*", "modules": "proprietary", "build": "dkms"},
    "container_toolkit": None,
    "container_engine": "docker",
    "docker": {"version": "26.*", "containerd": "1.7.*", "runc": "1.1.*"},
    "canary_image": {"reference": f"registry.example/goldnode/cuda-canary@sha256:{'1' * 64}", "cuda": "9.0"},
}


# What a site's base root has beside the pinned layers (docs/images.md): also a boot menu and a compiler for DKMS.
BASE_PACKAGES = (
    *("systemd", "systemd-sysv", "dbus", "openssh-server", "python3", "python3-apt", "ca-certificates", "kmod", "iproute2", "iptables"),
    *("grub2-common", "grub-pc-bin", "initramfs-tools", "unattended-upgrades", "gcc", "make", "xz-utils"),
)


def make_base(tar: Path) -> None:
    """The bare Debian 13 that images of the pool start from."""
    options = ["--variant=minbase", "--components=main", f"--include={','.join(BASE_PACKAGES)}", '--aptopt=APT::Install-Recommends "false"']
    # apt's sources are the role package_sources' business
    hook = '--customize-hook=rm -f "$1"/etc/apt/sources.list "$1"/etc/apt/sources.list.d/* "$1"/etc/ssh/ssh_host_* "$1"/etc/machine-id'
    subprocess.run(["mmdebstrap", *options, hook, "trixie", str(tar), mirror()], check=True)


def write_inventory(folder: Path, state: Path, base: Path) -> Path:
    """An inventory of the pool `trixie` without hosts below `folder`; returns its hosts.yml."""
    keys = yaml.safe_load((CLONE / "inventories/example/trust.yml").read_text())["goldnode_trust"]["repositories"]
    repository = {
        "name": "debian",
        "uris": [mirror()],
        "suites": ["trixie"],
        "components": COMPONENTS,
        "origin": "Debian",
        "label": "Debian",
        "key": "debian_trixie",
    }
    arms = {f"{POOL}_{arm}": {} for arm in ("canary", "baseline", "production")}
    site = {"goldnode_environment": "real", "goldnode_state_dir": str(state), "image_build_base": str(base)}
    files = {
        "hosts.yml": {"all": {"children": {POOL: {"children": arms}}}},
        "trust.yml": {"goldnode_trust": {"repositories": {"debian_trixie": keys["debian_trixie"]}}},
        f"group_vars/{POOL}/pins.yml": {"goldnode_pins": PINS},
        f"group_vars/{POOL}/package_sources.yml": {"package_sources_repositories": [repository]},
        "group_vars/all/site.yml": site,
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(content, sort_keys=False))
    return folder / "hosts.yml"


def prove(loop: Loop, folder: Path) -> None:
    """Lock twice (the same bytes), build the image (packages installed, module built for the locked kernel), and compare both ways what is in it."""
    with loop.by_hand("A bare Debian 13 by mmdebstrap"):
        make_base(folder / "base.tar")
    pool = Loop(state=folder, report=loop.report / "real", pool=POOL, steps=loop.steps, scene=loop.scene)
    write_inventory(folder / "inventory", folder / "state", folder / "base.tar")
    lock = folder / "inventory" / "locks" / f"{POOL}.lock.yml"
    pool.play("Lock Debian's own packages", "lock_stack", pool=POOL)
    first = lock.read_bytes()
    lock.unlink()
    pool.play("Lock them again", "lock_stack", pool=POOL)
    if lock.read_bytes() != first:
        raise StepError(f"{lock} has other bytes the second time")
    image = pool.play("Build the image: real packages, real module", "build_image", pool=POOL)
    with loop.by_hand("Compare the image with the lock, both ways"):
        found = differing_packages(ImageStore(folder / "state").path(image["image_digest"]), yaml.safe_load(first))
    if found:
        raise StepError(f"the image is not its lock: {', '.join(found)}")
    pool.play("What the archive still has of the lock", "check_expiry", pool=POOL)


def differing_packages(image: Path, lock: dict[str, Any]) -> list[str]:
    """Locked packages that are not installed at their version and held, and installed packages of the owned families that the lock has not."""
    status = subprocess.run(["tar", "--extract", "--to-stdout", "--file", str(image), "./var/lib/dpkg/status"], capture_output=True, check=True).stdout
    there = {one["Package"]: one for one in Deb822.iter_paragraphs(status.decode()) if one["Status"].endswith(" installed")}
    locked = {package["name"]: package["version"] for package in lock["packages"]}
    wrong = [f"{name} {version}" for name, version in locked.items() if name not in there or there[name]["Version"] != version]
    unheld = [f"{name} is not held" for name in locked if name in there and not there[name]["Status"].startswith("hold ")]
    return [*wrong, *unheld, *(f"{name} is extra" for name in there if layer_of(name) and name not in locked)]
