"""Faults that only a booted machine shows: a kernel that is locked down by Secure Boot, and AppArmor in a container. Root; minutes; part of `make nightly`.

The machine has no GPU, so the layers before the fault cannot be judged there: each test judges its own layer alone.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.goldnode.gpu.plugins.module_utils.judge import Judgement, judge
from ansible_collections.goldnode.gpu.plugins.module_utils.model import FAIL, Finding
from ansible_collections.goldnode.gpu.plugins.plugin_utils.payload import payload

from .machine import Machine, build, running

pytestmark = pytest.mark.vm
MODULE = r"""
#include <linux/module.h>
static int __init start(void) { return 0; }
module_init(start);
MODULE_VERSION("550.163.01");
MODULE_LICENSE("Dual MIT/GPL");
"""
COMPILE = """set -e
mkdir -p /usr/src/nvidia-550.163.01 && cd /usr/src/nvidia-550.163.01
cat > nvidia.c
echo 'obj-m := nvidia.o' > Makefile
make -s -C /lib/modules/$(uname -r)/build M=$PWD modules
install -D nvidia.ko /lib/modules/$(uname -r)/updates/dkms/nvidia.ko
depmod
"""
IMAGE = "cd /tmp && mkdir -p i/bin && cp /bin/busybox i/bin/ && tar -C i -c . | docker import - local/busybox"
PROFILE = """profile goldnode-no-gpu flags=(attach_disconnected,mediate_deleted) {
  file, capability, network, signal, ptrace, umount,
  audit deny /dev/nvidia* rw,
}
"""
OPEN = "docker run --rm --network=none --device /dev/nvidia0 {option} local/busybox /bin/busybox head -c 1 /dev/nvidia0"


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="goldnode-vm-") as home:
        build(Path(home))
        with running(Path(home)) as started:
            yield started


def judged(machine: Machine, layer: str) -> tuple[Judgement, dict[str, Any]]:
    """One layer of the live machine, and the evidence."""
    evidence = json.loads(machine.run("python3 -", stdin=payload()).splitlines()[-1])
    return judge(evidence, None, layers=(layer,)), evidence


def finding(judgement: Judgement, rule: str) -> Finding:
    return next(one for one in judgement.findings if one.rule == rule)


def test_an_unsigned_module_is_refused_under_secure_boot_and_the_node_is_told_so(machine: Machine) -> None:
    machine.run(COMPILE, stdin=MODULE)
    assert "Key was rejected" in (said := machine.run("modprobe nvidia", check=False)) or "Operation not permitted" in said
    broken, evidence = judged(machine, "kernel")
    assert "SecureBoot enabled" in evidence["probes"]["mokutil_sb_state"]["stdout"]
    assert (broken.rung, finding(broken, "kernel.module_signature").verdict) == ("booted", FAIL)
    assert "Secure Boot" in finding(broken, "kernel.module_signature").cause

    machine.run("rm -r /lib/modules/$(uname -r)/updates && depmod && dmesg --clear")
    assert finding(judged(machine, "kernel")[0], "kernel.module_signature").verdict != FAIL


def test_a_profile_that_denies_the_gpu_is_named_and_docker_default_does_not(machine: Machine) -> None:
    machine.run(IMAGE)
    machine.run("mknod -m 666 /dev/nvidia0 c 195 0")
    machine.run("cat > /etc/apparmor.d/goldnode-no-gpu && apparmor_parser -r /etc/apparmor.d/goldnode-no-gpu", stdin=PROFILE)
    machine.run("dmesg --clear")
    # Without the driver the kernel knows no such device: what matters is who says no.
    assert "No such device" in machine.run(OPEN.format(option=""), check=False)
    assert finding(judged(machine, "policy")[0], "policy.apparmor_denies_nvidia").verdict != FAIL

    assert "Permission denied" in machine.run(OPEN.format(option="--security-opt apparmor=goldnode-no-gpu"), check=False)
    broken, _evidence = judged(machine, "policy")
    found = finding(broken, "policy.apparmor_denies_nvidia")
    assert (broken.first_broken_layer, found.verdict) == ("policy", FAIL)
    assert "goldnode-no-gpu" in found.observed

    machine.run("apparmor_parser -R /etc/apparmor.d/goldnode-no-gpu && rm /etc/apparmor.d/goldnode-no-gpu && dmesg --clear")
    assert finding(judged(machine, "policy")[0], "policy.apparmor_denies_nvidia").verdict != FAIL
