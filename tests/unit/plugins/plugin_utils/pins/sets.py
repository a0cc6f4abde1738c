"""Pin sets for the tests: a plain one, and how to write others as differences from it."""

import datetime

from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.change import changed
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.check import check

TODAY = datetime.date(2026, 11, 30)
DIGEST = "@sha256:" + "1" * 64
CANARY = {"reference": "registry.example/goldnode/cuda-canary" + DIGEST, "cuda": "9.0"}
DOCKER = {"version": "29.9.0", "containerd": "2.4.1", "runc": "1.5.1"}
BASE = {
    "os": {"distribution": "debian", "release": "13", "arch": "x86_64", "cgroup": 2},
    "gpus": [{"model": "L40S", "count": 4}],
    "kernel": {"version": "6.12.117+deb13-amd64"},
    "nvidia_driver": {"version": "580.178.04", "modules": "open", "build": "dkms"},
    "container_toolkit": {"version": "1.20.0"},
    "container_engine": "docker",
    "docker": DOCKER,
    "canary_image": CANARY,
}
SYSTEMS = {
    "debian12": ("debian", "12", "6.1.0-57-amd64"),
    "debian13": ("debian", "13", "6.12.117+deb13-amd64"),
    "ubuntu2204": ("ubuntu", "22.04", "5.15.0-181-generic"),
    "ubuntu2404": ("ubuntu", "24.04", "6.8.0-101-generic"),
    "ubuntu2604": ("ubuntu", "26.04", "7.0.0-22-generic"),
    "rhel8": ("rhel", "8.10", "4.18.0-553.89.1.el8_10.x86_64"),
    "rhel9": ("rhel", "9.7", "5.14.0-611.5.1.el9_7.x86_64"),
    "rocky9": ("rocky", "9", "5.14.0-611.20.1.el9_7.x86_64"),
    "alma10": ("almalinux", "10.1", "6.12.0-124.8.1.el10_1.x86_64"),
    "sles15": ("sles", "15.7", "6.4.0-150700.53.22-default"),
    "sles16": ("sles", "16.0", "6.12.0-160000.7-default"),
    "amazon2023": ("amazon", "2023", "6.12.58-82.121.amzn2023.x86_64"),
}


def on(system, **kernel):
    """The change that puts a pool on another system; `kernel`: another release of it."""
    distribution, release, default = SYSTEMS[system]
    version = kernel.get("kernel", default)
    arch = "aarch64" if version.endswith(("aarch64", "arm64", "64k")) else "x86_64"
    return {"os.distribution": distribution, "os.release": release, "os.arch": arch, "kernel.version": version}


def gpus(model, count=8, **driver):
    """The change to other GPUs, with another driver where one is given."""
    return {"gpus": [{"model": model, "count": count}], **{f"nvidia_driver.{key}": value for key, value in driver.items()}}


def companions(version, *subjects):
    """fabric_manager and imex at one version; nvlsm has versions of its own."""
    return {f"{subject}.version": "2025.10.8" if subject == "nvlsm" else version for subject in subjects}


def engine(name, **parts):
    """The change to another engine."""
    return {"container_engine": name, **({} if name == "docker" else {"docker": None}), name: parts}


def workload(cuda, framework="", reference="registry.example/app/train:1"):
    """One workload image."""
    one = {"reference": reference + DIGEST, "cuda": cuda, **({"framework": framework} if framework else {})}
    return {"workload_images": [one]}


def pins(*changes):
    """BASE with changes."""
    whole = BASE
    for change in changes:
        whole = changed(whole, change)
    return whole


def said(whole, severities=("refusal", "warning"), today=TODAY):
    """(severity, rule) of what check_pins says."""
    return {(one.severity, one.rule.removeprefix("pins.")) for one in check(whole, today).statements if one.severity in severities}
