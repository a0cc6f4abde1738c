# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Driver: virtual GPUs: licence, and guest against host."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.model import DRIVER
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule

LICENCE = r"vgpu software licensed product/license status$|grid licensed product/license status$"
UNLICENSED_SAID = (
    r"nvidia-gridd\S*: [^\n]{0,80}?(?:Failed to acquire|Unlicensed|license (?:state )?expired|not found|failed to (?:get|obtain))[^\n]{0,120}"
    r"|Valid GRID license not found|Failed to acquire/renew license|Acquiring license failed"
)
NOT_LICENSABLE = r"Licensing not supported for GPUs in the system"
VERSIONS = r"Incompatible Guest/Host drivers[^\n.]{0,160}|vGPU version mismatch[^\n.]{0,120}|guest (?:driver|VGX version) (?:is )?(?:in)?compatible[^\n.]{0,80}"
HOST_PACKAGE = re.compile(
    r"vgpu[-_]?(?:kvm|xen\w*|vsphere|hyperv|host)|(?:kvm|rhel|ubuntu|xenserver)[\w.-]*vgpu|nvidia-vgpu-(?:ubuntu|rhel|kvm|host)|NVIDIA-vGPU-", re.I
)
NO_CUDA = (
    r"CUDA driver version is insufficient|returned 35\b|cudaErrorInsufficientDriver|libcuda\.so\S* (?:not found|cannot open)|CUDA Version:\s*N/A"
    r"|CUDA_ERROR_NO_DEVICE"
)


@rule(
    "driver.vgpu_licence",
    layer=DRIVER,
    probes=("nvidia_smi_q",),
    symptom="CUDA: 'all CUDA-capable devices are busy or unavailable' (46), or everything becomes slow some minutes after the start, in a VM with a vGPU.",
    cause="The vGPU is unlicensed: after a grace time it refuses or throttles CUDA.",
    fix="Configure licensing: ServerAddress or a client token in /etc/nvidia/ClientConfigToken, FeatureType in /etc/nvidia/gridd.conf; systemctl enable --now "
    "nvidia-gridd; or use a node image whose GRID driver licenses itself.",
    verify="nvidia-smi -q shows License Status: Licensed.",
    source="NVIDIA vGPU client licensing user guide; Azure/AKS #4870, Azure/aks-gpu #90; NVIDIA/gpu-operator #220",
)
def vgpu_licence(facts: Facts, wanted: Wanted) -> Outcome:
    """A vGPU is licensed"""
    states = [state for log in facts.smi_logs or () if (state := log.value(LICENCE))]
    bad = [state for state in states if re.search(r"unlicensed|expired", state, re.I)]
    said = facts.told(UNLICENSED_SAID)
    if bad or (said and not states):
        seen = f"License Status: {bad[0]}" if bad else said.group(0) if said else ""
        cause = (
            f"The vGPU is unlicensed ({seen}): nvidia-gridd did not get a licence, or does not run, and without one the guest driver refuses CUDA contexts "
            "('busy or unavailable') or throttles the vGPU; no other process holds it."
        )
        return failed("a licensed vGPU", seen, cause=cause)
    return passed(states[0]) if states else not_applicable("no vGPU licence is asked for")


@rule(
    "driver.vgpu_guest_driver",
    layer=DRIVER,
    probes=("nvidia_smi", "cuda_probe", "dpkg_l"),
    symptom="In a VM nvidia-smi works but shows no CUDA version, and CUDA says 'driver version is insufficient' (35) or finds no libcuda.so.",
    cause="The vGPU host package (vGPU manager) is installed, which holds no CUDA.",
    fix="Remove it, and install the GRID guest driver (NVIDIA-Linux-x86_64-<version>-grid.run or nvidia-linux-grid-<branch>) of the same vGPU release "
    "as the host.",
    verify="nvidia-smi in the guest shows a CUDA version.",
    source="NVIDIA vGPU software documentation; DualCoder/vgpu_unlock #51; NVIDIA/gpu-operator #220",
)
def vgpu_guest_driver(facts: Facts, wanted: Wanted) -> Outcome:
    """A machine that shall compute has a driver with CUDA, not the vGPU host package"""
    package = next((name for name in [facts.stated("driver_installer"), *(facts.driver_packages or ())] if HOST_PACKAGE.search(name)), None)
    modules = "nvidia_vgpu_vfio" if "nvidia_vgpu_vfio" in (facts.modules or ()) else None
    if not (package or modules):
        grid = re.search(r"grid", facts.stated("driver_installer"), re.I)
        return passed("GRID guest driver") if grid else not_applicable("no sign of the vGPU host package")
    if not facts.said(NO_CUDA):
        return not_applicable("the vGPU host package is installed, and nothing asks it for CUDA: a vGPU host")
    cause = (
        f"The host-side vGPU manager package ({package or modules}) is installed here, which contains no CUDA driver library (libcuda.so): nvidia-smi works, "
        "but CUDA cannot; the driver is not too old. A guest VM needs the GRID guest driver."
    )
    return failed("the GRID guest driver", package or str(modules), cause=cause)


@rule(
    "driver.vgpu_versions",
    layer=DRIVER,
    probes=("dmesg", "journal"),
    symptom="The guest finds no GPU, or Windows shows Code 43; nvidia-vgpu-mgr on the host: 'Incompatible Guest/Host drivers'.",
    cause="The guest's driver and the host's vGPU manager are of branches that do not work together.",
    fix="Install guest and host driver of the same vGPU release (a guest may be one major release older, never newer, than the host).",
    verify="The host's nvidia-vgpu-mgr logs the guest's version without 'Disabling vGPU'; nvidia-smi -L in the guest lists the vGPU.",
    source="NVIDIA vGPU release notes; open-gpu-kernel-modules, vgpu rpc; mbilker/vgpu_unlock-rs #10",
)
def vgpu_versions(facts: Facts, wanted: Wanted) -> Outcome:
    """Guest driver and vGPU host driver fit each other"""
    match = facts.told(VERSIONS)
    if match:
        cause = f"The vGPU guest driver and the vGPU host driver (vGPU manager) are of versions that do not fit: {match.group(0).strip()}."
        return failed("versions of one vGPU release", match.group(0), cause=cause)
    if any(event.code == 78 for event in facts.xids or ()):
        return failed("a vGPU that starts", "Xid 78", cause="The vGPU did not start (Xid 78): guest and host driver are of vGPU releases that do not fit.")
    bare = facts.told(NOT_LICENSABLE)
    if bare:
        cause = f"The GRID (vGPU) driver runs on a GPU that is no vGPU ({bare.group(0)}): a passthrough or bare-metal GPU needs the data centre driver."
        return not_applicable("the GRID driver runs on a GPU that needs no licence", cause=cause)
    return passed(seen.group(0)) if (seen := facts.told(r"Guest NVIDIA Driver Information")) else not_applicable("nothing speaks of a vGPU host")
