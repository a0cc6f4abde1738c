# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Policy: cgroups, SELinux, AppArmor, which can deny what all other layers allow."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.model import POLICY
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, equals_pin, failed, not_applicable, passed, rule, unknown


@rule(
    "policy.cgroup_version",
    layer=POLICY,
    probes=("cgroup_fstype",),
    symptom="GPU containers lose their devices or never get them, after an upgrade or a change of the kernel command line.",
    cause="The node's cgroup hierarchy is not of the pinned version: a change of cgroup mode changes how devices are allowed.",
    fix="Set systemd.unified_cgroup_hierarchy on the kernel command line to what is pinned and reboot, or correct os.cgroup in pins.yml and lock again.",
    verify="stat -fc %T /sys/fs/cgroup prints cgroup2fs for version 2, tmpfs for version 1.",
    source="systemd(1), Linux cgroup-v2.rst",
)
def cgroup_version(facts: Facts, wanted: Wanted) -> Outcome:
    """The cgroup hierarchy has the pinned version"""
    return equals_pin(facts.cgroup_version, wanted.pin("os", "cgroup"), "cgroup version")


@rule(
    "policy.selinux_denies_devices",
    layer=POLICY,
    probes=("getenforce", "getsebool", "docker_info"),
    symptom="In the container nvidia-smi says 'Failed to initialize NVML: Insufficient Permissions'; on the host all is well.",
    cause="SELinux is enforcing, the engine labels its containers, and the boolean that lets containers use devices is off.",
    fix="setsebool -P container_use_devices on",
    verify="getsebool container_use_devices says on, and ausearch -m avc shows no new denial.",
    source="container-selinux, boolean container_use_devices; redhat-et/triton-dev-containers #61",
)
def selinux_denies_devices(facts: Facts, wanted: Wanted) -> Outcome:
    """SELinux does not keep containers from devices"""
    if not facts.bundle.looked("getenforce"):
        return unknown()
    mode = (facts.bundle.text("getenforce") or "absent").strip()
    if mode != "Enforcing":
        return passed(f"SELinux {mode.lower()}")
    if facts.docker_security_options is None:
        return unknown()
    if not any("selinux" in option for option in facts.docker_security_options):
        return passed("enforcing, but the engine does not label containers")
    boolean = facts.bundle.text("getsebool")
    if boolean is None:
        return unknown()
    return passed("container_use_devices on") if "--> on" in boolean else failed("container_use_devices on", boolean.strip())


@rule(
    "policy.apparmor_denies_nvidia",
    layer=POLICY,
    probes=("dmesg",),
    symptom="Opening /dev/nvidia* or mounting in a container fails with 'permission denied', on the host all is well.",
    cause="An AppArmor profile has denied access to an NVIDIA file.",
    fix="Allow the path in the profile that the log line names, or run the container under docker-default.",
    verify='The kernel log shows no new apparmor="DENIED" with an NVIDIA path.',
    source="AppArmor wiki, audit messages; AbdBarho/stable-diffusion-webui-docker #682",
)
def apparmor_denies_nvidia(facts: Facts, wanted: Wanted) -> Outcome:
    """AppArmor has denied nothing of NVIDIA's since boot"""
    if facts.kernel_log is None:
        return unknown()
    lines = tuple(line.strip() for line in facts.kernel_log if re.search(r'apparmor="DENIED".*(?:/dev/nvidia|libcuda|libnvidia|nvidia-container)', line))
    if lines:
        return failed("no denial", lines[0], evidence=lines[:3])
    return passed() if facts.bundle.complete("dmesg") else not_applicable("the kernel log no longer reaches back to boot, and what is left of it shows none")
