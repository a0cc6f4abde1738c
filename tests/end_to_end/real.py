"""A pool of real packages: Debian 13's own kernel, driver and engine from the archive that this machine uses."""

from __future__ import annotations

import subprocess
from pathlib import Path

import yaml
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.base import mirror

from .loop import CLONE

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
