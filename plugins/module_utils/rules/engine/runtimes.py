# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Engine: the runtimes that Docker knows, and whether it runs with what its file says."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.gpu_requests import NO_GPU_DRIVER, NO_PROGRAM, NO_RUNTIME
from ansible_collections.goldnode.gpu.plugins.module_utils.model import ENGINE
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.engine.daemon import NO_DOCKER, RESTART, without_docker
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.quotes import quote
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, equals_pin, failed, not_applicable, passed, rule, unknown

# A runtime's own clock and the file system's differ by less; systemd prints whole seconds.
SAME_MOMENT_S = 2
CONFIGURE = "nvidia-ctk runtime configure --runtime=docker, then: systemctl restart docker"
ROOTLESS = (
    "nvidia-ctk runtime configure --runtime=docker --config=$HOME/.config/docker/daemon.json; systemctl --user restart docker; "
    "nvidia-ctk config --set nvidia-container-cli.no-cgroups --in-place (1.14 and later); or use the rootful daemon: docker context use default"
)


def registered(facts: Facts) -> bool:
    """Whether Docker or its file names NVIDIA's runtime, which the toolkit registers."""
    return "nvidia" in ((facts.docker_config or {}).get("runtimes") or ()) or "nvidia" in ((facts.docker_info or {}).get("Runtimes") or ())


def toolkit_expected(facts: Facts, wanted: Wanted) -> bool:
    """The pin decides; without a lock, whether the toolkit is there."""
    return wanted.pin("container_toolkit") is not None if wanted else facts.toolkit_version is not None


@rule(
    "engine.default_runtime_is_runc",
    layer=ENGINE,
    probes=("docker_info",),
    symptom="Every container, also those that need no GPU, goes through NVIDIA's runtime and fails when that breaks.",
    cause="Docker's default runtime is not runc.",
    fix="Remove default-runtime from /etc/docker/daemon.json (provision_pool does) and restart docker.",
    verify="docker info --format '{{.DefaultRuntime}}' prints runc.",
    source="NVIDIA/gpu-operator #188",
)
def default_runtime_is_runc(facts: Facts, wanted: Wanted) -> Outcome:
    """Docker's default runtime stays runc"""
    if without_docker(facts, wanted) or not wanted:
        return not_applicable("no Docker, or no lock that wants one")
    return equals_pin((facts.docker_info or {}).get("DefaultRuntime"), "runc", "default runtime")


@rule(
    "engine.nvidia_runtime_registered",
    layer=ENGINE,
    probes=("docker_info", "docker_daemon_json", "docker_security_options"),
    symptom="docker run --runtime=nvidia: 'unknown or invalid runtime name: nvidia' (before 23.0: 'Unknown runtime specified nvidia').",
    cause="NVIDIA's runtime is not registered with the daemon that answers.",
    fix=f"Register it in /etc/docker/daemon.json (provision_pool does; by hand {CONFIGURE}).",
    verify="docker info --format '{{json .Runtimes}}' names nvidia.",
    source=(
        "NVIDIA Container Toolkit install guide; NVIDIA/nvidia-docker #501, #838; NVIDIA-ISAAC-ROS/isaac_ros_visual_slam #132; "
        "NVIDIA/nvidia-container-toolkit #150, #378"
    ),
)
def nvidia_runtime_registered(facts: Facts, wanted: Wanted) -> Outcome:
    """NVIDIA's runtime is registered, where it is asked for"""
    said = facts.engine_said(NO_RUNTIME)
    if without_docker(facts, wanted) or (facts.toolkit_absent and not wanted):
        return not_applicable("no Docker or no container toolkit on this node")
    runtimes = (facts.docker_info or {}).get("Runtimes")
    if said and "nvidia" not in (runtimes or ()):
        return _not_registered(facts, quote(said))
    if not said and not (wanted and toolkit_expected(facts, wanted)):
        return not_applicable("nothing asks for the runtime nvidia")
    if runtimes is None:
        return unknown()
    return passed(", ".join(sorted(runtimes))) if "nvidia" in runtimes else _not_registered(facts, f"runtimes {', '.join(sorted(runtimes))}")


def _not_registered(facts: Facts, said: str) -> Outcome:
    """Why the daemon that answers does not know it: another file, an old state, or nobody told it."""
    if facts.rootless:
        cause = (
            "The daemon that answers is a rootless one, which reads ~/.config/docker/daemon.json and not /etc/docker/daemon.json: no runtime "
            f"nvidia is registered there ({said})."
        )
        return failed("runtime nvidia in the rootless daemon", said, cause=cause, remedy=ROOTLESS)
    if "nvidia" in ((facts.docker_config or {}).get("runtimes") or ()):
        return _not_taken_up("nvidia", said)
    known = facts.docker_config is not None
    file = "/etc/docker/daemon.json names no runtime nvidia" if known else "daemon.json names no runtime nvidia, or the daemon was not restarted since it does"
    cause = f"NVIDIA's runtime is not registered with the Docker daemon that answers: {file} ({said})."
    decided_by = "" if known else "cat /etc/docker/daemon.json; docker info --format '{{json .Runtimes}}'; docker context ls"
    return failed("runtime nvidia", said, cause=cause, remedy=f"{CONFIGURE}; the container toolkit must be installed for it.", decided_by=decided_by)


def _not_taken_up(names: str, said: str) -> Outcome:
    cause = (
        f"/etc/docker/daemon.json names the runtime {names}, and the Docker daemon that answers does not know it: it was not restarted since, or "
        f"reads another file ({said})."
    )
    return failed(
        "the runtimes of daemon.json",
        said,
        cause=cause,
        remedy=f"{RESTART} If it stays so: docker context ls, snap list docker, and --config-file in systemctl cat docker.",
    )


@rule(
    "engine.restarted_since_change",
    layer=ENGINE,
    probes=("docker_daemon_json", "docker_info", "docker_service"),
    symptom="daemon.json is right, and Docker behaves as if it were not: 'unknown runtime', no CDI.",
    cause="/etc/docker/daemon.json was changed after the daemon started, or the daemon that answers does not read that file.",
    fix=RESTART,
    verify="docker info names the runtimes of daemon.json, and docker.service is younger than the file.",
    source="dockerd(8); Leon-Sander/Local-Multimodal-AI-Chat #31",
)
def restarted_since_change(facts: Facts, wanted: Wanted) -> Outcome:
    """The daemon runs with what daemon.json says"""
    if without_docker(facts, wanted):
        return not_applicable(NO_DOCKER)
    if facts.bundle.stated.get("docker_restarted") is False:
        cause = "The Docker daemon was not restarted since its configuration was changed."
        return failed("a restart since the configuration changed", "Docker was not restarted since", cause=cause)
    if facts.docker_config is None or facts.docker_info is None:
        return unknown()
    running, named = facts.docker_info.get("Runtimes"), set(facts.docker_config.get("runtimes") or ())
    unread = sorted(named - set(running)) if running else []
    if unread and not facts.rootless:
        return _not_taken_up(", ".join(unread), f"docker info: runtimes {', '.join(running or ())}")
    return _younger_than_file(facts)


def _younger_than_file(facts: Facts) -> Outcome:
    """Whether the daemon started after the last change of its file."""
    changed, started = facts.bundle.mtime("docker_daemon_json"), facts.docker_started
    if facts.bundle.absent("docker_daemon_json"):
        return passed("no daemon.json")
    if changed is None or started is None:
        return unknown()
    late = changed - started - SAME_MOMENT_S
    return failed("the daemon started after the change", f"changed {late:.0f} s after the start", confidence="medium") if late > 0 else passed()


@rule(
    "engine.gpu_hook_taken_up",
    layer=ENGINE,
    probes=("docker_service", "nvidia_ctk_version"),
    symptom="docker run --gpus all: 'could not select device driver \"\" with capabilities: [[gpu]]', though the container toolkit is installed.",
    cause=(
        "dockerd looks for nvidia-container-runtime-hook (from 29.2 on also nvidia-cdi-hook) when it starts: it was not restarted since the "
        "toolkit was installed."
    ),
    fix=(
        "systemctl restart docker; where that changes nothing, the program is not on the daemon's PATH (systemctl show docker -p Environment), "
        "or the daemon is a snap."
    ),
    verify="docker run --rm --gpus all <image> nvidia-smi",
    source="moby daemon/devices_nvidia_linux.go; NVIDIA/nvidia-docker #1034, #1243",
)
def gpu_hook_taken_up(facts: Facts, wanted: Wanted) -> Outcome:
    """The daemon was started with the toolkit's hook in place"""
    said = facts.engine_said(NO_GPU_DRIVER)
    if without_docker(facts, wanted) or not said:
        served = any(run.get("engine") == "docker" and run.get("request") == "gpus" and run.get("rc") == 0 for run in facts.runs)
        return passed("--gpus was served") if served else not_applicable("no Docker, or nothing says that it has no GPU driver")
    packages = facts.toolkit_packages or {}
    with_hook = "nvidia-container-toolkit" in packages or (facts.toolkit_version and not packages)
    if facts.toolkit_absent or not (with_hook or registered(facts)):
        return not_applicable("whether the toolkit's hook is installed is the toolkit's question")
    cause = (
        f"The container toolkit {facts.toolkit_version or ''} is installed and dockerd has no GPU driver: the Docker daemon was not restarted "
        "since the toolkit was installed, "
        "or does not find nvidia-container-runtime-hook on its PATH."
    )
    return failed("a GPU device driver in the daemon", quote(said), cause=cause.replace("  ", " "))


@rule(
    "engine.runtime_program_found",
    layer=ENGINE,
    probes=("docker_daemon_json", "docker_info", "containerd_config"),
    symptom="'fork/exec …/nvidia-container-runtime: permission denied' or 'no such file or directory', though the toolkit is installed.",
    cause="The path of the runtime nvidia in the engine's configuration is not that of the installed program.",
    fix=f'Set "path": "nvidia-container-runtime" in daemon.json (BinaryName = "/usr/bin/nvidia-container-runtime" in containerd\'s): {CONFIGURE}',
    verify="ls -l $(command -v nvidia-container-runtime), and the path in docker info --format '{{json .Runtimes}}' is that one.",
    source="NVIDIA/nvidia-docker #1029; NVIDIA/nvidia-container-runtime #89",
)
def runtime_program_found(facts: Facts, wanted: Wanted) -> Outcome:
    """The runtime's program is where the engine looks for it"""
    denied = facts.engine_said(r"(?:fork/exec|exec:?) \\?\"?(?P<what>/\S*nvidia-container-runtime\S*?)\\?\"?: permission denied")
    said = denied or (facts.engine_said(NO_PROGRAM) if facts.toolkit_version else None)
    path = said[1].groupdict().get("what") if said else None
    if path and path.startswith("/"):
        state = "is no program that may be executed" if denied else f"does not exist, while toolkit {facts.toolkit_version} is installed"
        cause = f"The engine's configuration has {path} as path of the runtime nvidia, which {state}."
        return failed("the path of nvidia-container-runtime", path, cause=cause)
    runtimes = (facts.docker_info or {}).get("Runtimes")
    return passed(", ".join(sorted(runtimes))) if runtimes else unknown()
