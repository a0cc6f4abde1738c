# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What engines say when a container with a GPU does not start: text -> cause and remedy.

`path` is false where the text says nothing about the GPU path: then nothing was learnt about it. `layer` is where the cause lies: a container
that does not start for the driver's sake is the driver's fault. Sources: `moby` = error strings of moby
v20.10 to docker-v29.7.2 (daemon/cdi.go, daemon/devices_nvidia_linux.go); `toolkit` = seen with NVIDIA Container Toolkit 1.20.0 on Docker
26.1.5, 2026-11-30; `lab` = seen with Docker 26.1.5 and runc 1.1.15, 2026-11-30; `case N` = public report, tests/cases.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ansible_collections.goldnode.gpu.plugins.module_utils.model import CONTAINER, CONTAINER_TOOLKIT, CUDA, DEVICE_NODES, DRIVER, ENGINE, POLICY


class StartError(NamedTuple):
    """One wording. The first that matches is taken, so the narrow ones stand before the wide ones."""

    pattern: str
    cause: str
    remedy: str
    source: str
    path: bool = True
    layer: str = CONTAINER


REFRESH = "Write the specification anew: systemctl restart nvidia-cdi-refresh.service (or nvidia-ctk cdi generate --output=/var/run/cdi/nvidia.yaml)."
RESTART = "systemctl restart docker"

START_ERRORS = (
    StartError(
        r"(?:cannot set both Count and DeviceIDs on device request|invalid argument \"(?P<what>[^\n]*?)\" for \"--gpus\" flag|[\"']?count[\"']? and "
        r"[\"']?device_ids[\"']? attributes are exclusive)",
        "The GPU request is malformed: --gpus is read as comma-separated fields, a count and ids exclude each other, and {what} mixes them.",
        "Quote a list of ids twice, --gpus '\"device=0,2\"', or give a count alone (--gpus 2); in Compose either count or device_ids.",
        "moby; docker/cli opts/gpus.go; compose-spec",
    ),
    StartError(
        r"unexpected count in CDI device request|could not select device driver \"(?:nvidia\.com/gpu)\"",
        "The Compose file asks for CDI devices in the wrong form: driver cdi takes device_ids and no count, and nvidia.com/gpu is no driver.",
        "Write driver: cdi with device_ids: [nvidia.com/gpu=all] and without count, or driver: nvidia with a count.",
        "moby daemon/cdi.go; mudler/LocalAI discussion 11733",
    ),
    StartError(
        r"(?:Additional propert(?:y|ies) (?P<what>(?:gpus|runtime|devices|device_ids|driver)) (?:is|are) not allowed|\('(?P<unexpected>gpus|runtime|devices"
        r"|device_ids)' (?:was|were) unexpected\)|Unsupported config option for services\.\S+: '(?P<option>gpus"
        r"|runtime)'"
        r"|value 'devices' does not match any of the regexes|contains unsupported option: '(?P<old>gpus|runtime|devices)')",
        "This version of Compose, or docker stack deploy, does not know the GPU request of the Compose file: {what}.",
        "Use the plugin docker compose: 2.30 or later for `gpus:`, v1 1.28 for deploy.resources.reservations.devices, file format 2.3 for `runtime:`; "
        "swarm takes generic resources (node-generic-resources) instead.",
        "docker/compose #6691, #7929; compose-spec",
    ),
    StartError(
        r"contains an invalid value: (?P<what>capabilities)|devices\.\d+ capabilities is required|missing (?P<property>property) 'capabilities'",
        "The device reservation of the Compose file has no capabilities, which Compose demands.",
        "Add capabilities: [gpu] to the device reservation.",
        "compose-spec deploy.md",
    ),
    StartError(
        r"error gathering device information while adding custom device \"(?P<what>/dev/nvidia[^\"]*)\"",
        "The container asks for the device node {what} by --device, which is not on the node.",
        "Load the driver and create its nodes (nvidia-modprobe -u -c=0), or ask by --gpus or CDI, which create what is missing.",
        "moby; seen with Docker 26.1.5, 2026-11-30",
        layer=DEVICE_NODES,
    ),
    StartError(
        r"^killed after (?P<what>[\d.]+ s)",
        "The container did not end within {what}: the engine or the driver hangs.",
        "Look at both without a container: docker info; nvidia-smi.",
        "plugins/module_utils/probe.py",
    ),
    StartError(
        r"unresolvable CDI devices (?P<what>[^\n]*?[^\n:.])[.:]?(?:$|\s)",
        "No CDI specification that the engine reads has {what}.",
        REFRESH,
        "toolkit; moby; NVIDIA/nvidia-container-toolkit #1940",
        layer=CONTAINER_TOOLKIT,
    ),
    StartError(
        r'could not select device driver "?cdi"? with capabilities|no CDI device driver registered',
        "CDI is off in the engine.",
        'Set "features": {"cdi": true} in /etc/docker/daemon.json (Docker 25.0 to 28.1 need it said) and restart Docker.',
        "moby",
        layer=ENGINE,
    ),
    StartError(
        r"failed to stat CDI host device \"(?P<what>[^\"]+)\"",
        "The CDI specification names {what}, which is not a device node on the node.",
        REFRESH,
        "lab",
        layer=CONTAINER_TOOLKIT,
    ),
    StartError(
        r"error mounting \"(?P<what>[^\"]+)\" to rootfs.*no such file or directory|crun: cannot stat `(?P<file>[^`]+)`",
        "The CDI specification is stale: it names {what}, which is no longer on the node, as after a driver upgrade.",
        REFRESH,
        "lab; NVIDIA/nvidia-container-toolkit #450",
        layer=CONTAINER_TOOLKIT,
    ),
    StartError(
        r"error running (?:createContainer )?hook #\d+: fork/exec (?P<what>\S+): no such file",
        "The program {what}, a hook in the CDI specification, is missing.",
        "Install the container toolkit at the locked version, then " + REFRESH[0].lower() + REFRESH[1:],
        "lab",
        layer=CONTAINER_TOOLKIT,
    ),
    StartError(
        r"could not select device driver \"?\w*\"? with capabilities: \[\[gpu",
        "No GPU device driver is registered in Docker: nvidia-container-runtime-hook was not on its PATH when it started.",
        "Install the container toolkit at the locked version, then: " + RESTART,
        "toolkit; lab; OpenBMB/XAgent #273",
        layer=CONTAINER_TOOLKIT,
    ),
    StartError(
        r"exec: \"nvidia-container-runtime-hook\": executable file not found",
        "nvidia-container-runtime-hook was removed while Docker ran.",
        "Install the container toolkit at the locked version, then: " + RESTART,
        "lab",
        layer=CONTAINER_TOOLKIT,
    ),
    StartError(
        r"directly \(e\.g\. specifying the docker --gpus flag\) is not supported",
        "The toolkit's mode is `cdi`, in which its hook refuses --gpus.",
        'Set nvidia-container-runtime.mode = "auto" in /etc/nvidia-container-runtime/config.toml.',
        "toolkit",
        layer=CONTAINER_TOOLKIT,
    ),
    StartError(
        r"unknown or invalid runtime name: (?P<what>\S+?)\.?(?:\s|$)",
        "The daemon that answers has no runtime {what}: daemon.json does not name it, Docker was not restarted since, or another daemon answers.",
        "nvidia-ctk runtime configure --runtime=docker, then: " + RESTART,
        "moby; Leon-Sander/Local-Multimodal-AI-Chat #31; NVIDIA-ISAAC-ROS/isaac_ros_visual_slam #132",
        layer=ENGINE,
    ),
    StartError(
        r"failed to create the automatic CDI modifier",
        "The NVIDIA runtime could not generate a CDI specification: it does not see the driver.",
        "Look at the driver first: nvidia-smi on the node.",
        "toolkit",
        layer=CONTAINER_TOOLKIT,
    ),
    StartError(
        r"nvml error: driver/library version mismatch",
        "The driver's library and the loaded kernel module are of different versions.",
        "Reboot the node, or reload the module.",
        "NVIDIA/nvidia-container-toolkit #394",
        layer=DRIVER,
    ),
    StartError(
        r"nvml error: driver not loaded", "The driver's kernel module is not loaded.", "Look at the driver first: nvidia-smi on the node.", "moby", layer=DRIVER
    ),
    StartError(
        r"load library failed: (?P<what>\S+?):? cannot open",
        "The daemon that answers does not find the driver's library {what}: it runs in a place without driver, or the user space is missing.",
        "docker context ls; install the driver's user space at the locked version.",
        "NVIDIA/nvidia-docker #1711",
        layer=CONTAINER_TOOLKIT,
    ),
    StartError(
        r"driver rpc error: timed out",
        "The driver did not answer in time.",
        "Start nvidia-persistenced and look for Xid lines.",
        "NVIDIA/nvidia-docker #1648; NVIDIA/nvidia-container-toolkit #202",
        layer=DRIVER,
    ),
    StartError(
        r"requirement error: unsatisfied condition: (?P<what>[^,\n]+)",
        "The container image requires {what} (NVIDIA_REQUIRE_CUDA), more than the host's driver can do.",
        "Use a container image for this driver, or a release with a newer driver.",
        "theroyallab/tabbyAPI #324",
        layer=CUDA,
    ),
    StartError(
        r"device error: (?:unknown device id: )?(?P<what>[^\s:]+)(?:: unknown device|:? ?unknown|\s|$)",
        "The container asks for GPU {what}, and there is no such device on the node: ids are indexes from 0 or UUIDs.",
        "Ask for an index or UUID that nvidia-smi -L lists; NVIDIA_VISIBLE_DEVICES, --gpus device=… and CUDA_VISIBLE_DEVICES from another host do not fit "
        "here.",
        "moby",
    ),
    StartError(
        r"mount error: file creation failed: (?P<what>\S+): file exists",
        "The container image brings the driver's library {what} along, where the hook wants to put the host's: a package in the Dockerfile pulled driver "
        "files in.",
        "Rebuild the container image without the driver: no nvidia-driver, libnvidia-compute, nvidia-opencl-dev (ocl-icd-opencl-dev instead); or rm -f "
        "libcuda* libnvidia-* last.",
        "NVIDIA/nvidia-container-toolkit #371",
        layer=CUDA,
    ),
    StartError(
        r"bpf_prog_query\(BPF_CGROUP_DEVICE\) failed",
        "The engine runs in a container that may not change device rules.",
        "Let the outer container nest (LXC: security.nesting), or set no-cgroups = true in config.toml.",
        "NVIDIA/libnvidia-container #154",
        layer=POLICY,
    ),
    StartError(
        r"nvidia-container-cli: (?P<what>.+?)(?:: unknown)?\.?(?:\n|$)",
        "The toolkit could not prepare the container: {what}.",
        "Look at the driver first: nvidia-smi on the node.",
        "NVIDIA/dcgm-exporter #46",
        layer=CONTAINER_TOOLKIT,
    ),
    StartError(
        r"error running (?:prestart )?hook",
        "A hook that injects the GPU failed.",
        "Read its words under observed; nvidia-container-cli -k -d /dev/stderr info",
        "lab",
        layer=CONTAINER_TOOLKIT,
    ),
    StartError(
        r"No such image|[Uu]nable to find image|manifest unknown|pull access denied",
        "The container image is not on the node.",
        "Pull it: ansible-playbook goldnode.gpu.provision_pool (role gpu_canary).",
        "moby",
        path=False,
    ),
    StartError(
        r"[Cc]annot connect to the Docker daemon|permission denied while trying to connect to the (?:Docker daemon|docker API)|containerd\.sock: connect:",
        "The engine does not answer.",
        "systemctl status docker containerd",
        "moby; lab",
        path=False,
    ),
    StartError(
        r"unable to apply apparmor profile",
        "AppArmor's profile could not be applied.",
        "aa-status; load the profile docker-default.",
        "AbdBarho/stable-diffusion-webui-docker #682",
        path=False,
        layer=POLICY,
    ),
    StartError(
        r"Conflict\. The container name",
        "A container of this name is still there.",
        "docker rm -f it; the next turn does so by itself.",
        "moby",
        path=False,
    ),
)


def explain(text: str) -> tuple[StartError, str] | None:
    """The first wording that the text has, and its cause filled in."""
    for error in START_ERRORS:
        found = re.search(error.pattern, text)
        if found:
            return error, error.cause.format(what=next((group for group in found.groups() if group), "it"))
    return None
