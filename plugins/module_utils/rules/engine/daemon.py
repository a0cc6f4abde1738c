# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Engine: the daemon that answers, whether it is the host's own, and the file that it reads."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.gpu_requests import NO_GPU_DRIVER, NO_PROGRAM, NO_RUNTIME
from ansible_collections.goldnode.gpu.plugins.module_utils.model import ENGINE
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.docker import daemon_json_fault
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.quotes import quote
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown

NO_DOCKER = "this node has no Docker"
RESTART = "systemctl restart docker (running containers stop unless live-restore is on); journalctl -u docker says why it does not come up."
# docker's client, client/errors.go of moby; podman and nerdctl for theirs.
NO_ANSWER = (
    r"(?:Cannot connect to the Docker daemon|error during connect|permission denied while trying to connect|failed to connect to the docker API"
    r"|cannot access containerd socket|(?<![\w/.-])[\w/.-]*containerd\.sock\\?\"?: connect)[^\n]*"
)
NO_LIBRARY = r"load library failed: (?:libnvidia-ml|libcuda)\.so[^\n]*"
# What a daemon says that has no driver, toolkit or runtime in its own world.
BLIND = rf"(?:{NO_GPU_DRIVER}|{NO_RUNTIME}|{NO_LIBRARY}|nvidia-container-cli: initialization error|{NO_PROGRAM})[^\n]*"
TWO_DAEMONS = {
    "cause": (
        "GPU containers start with sudo docker and not for the user: the user's client talks to another daemon than root's, Docker Desktop "
        "(docker context desktop-linux) "
        "or a rootless one, which reads ~/.config/docker/daemon.json."
    ),
    "decided_by": "docker context ls; docker info --format '{{.OperatingSystem}} {{.SecurityOptions}}'; echo $DOCKER_HOST",
}
FLAGS = r"the following directives (?:are|don't)[^\n]*"
# dockerd names the file in each complaint about it.
CONFIG_WORDS = r"unable to configure the Docker daemon with file (?P<file>\S+): (?P<why>[^\n]+)"


def without_docker(facts: Facts, wanted: Wanted) -> bool:
    """Docker's rules do not apply: another engine is pinned, or nothing is pinned and there is none."""
    pinned = wanted.pin("container_engine")
    return pinned != "docker" if pinned else facts.bundle.absent("docker_info")


@rule(
    "engine.config_is_readable",
    layer=ENGINE,
    probes=("docker_daemon_json", "docker_service"),
    symptom="'Job for docker.service failed', and in its journal: 'unable to configure the Docker daemon with file /etc/docker/daemon.json: …'.",
    cause="/etc/docker/daemon.json is no valid JSON, has a key that dockerd does not know, or repeats what is also given as a flag.",
    fix=(
        "Correct the line (python3 -m json.tool /etc/docker/daemon.json; dockerd --validate), or remove the option from one of the two places "
        "(systemctl cat docker: "
        "--add-runtime, -H, --default-runtime in ExecStart or a drop-in); then systemctl daemon-reload and systemctl restart docker."
    ),
    verify="dockerd --validate --config-file=/etc/docker/daemon.json says configuration OK; systemctl is-active docker",
    source="dockerd(8); NVIDIA/nvidia-docker #712, #749, #761, #787; NVIDIA/k8s-device-plugin #53",
)
def config_is_readable(facts: Facts, wanted: Wanted) -> Outcome:
    """The daemon can read its configuration"""
    if without_docker(facts, wanted):
        return not_applicable(NO_DOCKER)
    said, flags = facts.engine_said(CONFIG_WORDS), facts.engine_said(FLAGS)
    if said or flags:
        return _refused(said[1]["why"] if said else quote(flags) if flags else "")
    text = facts.bundle.text("docker_daemon_json")
    fault = daemon_json_fault(text, facts.bundle.complete("docker_daemon_json")) if text and text.strip() else None
    if fault:
        return failed("valid JSON", fault, cause=f"/etc/docker/daemon.json is not valid JSON ({fault}), so that dockerd does not start with it.")
    both = re.search(r"--add-runtime[= ](\S+)", facts.bundle.text("docker_service") or "")
    if both and "runtimes" in (facts.docker_config or {}):
        return _refused(f"runtimes: from flag --add-runtime {both.group(1)} and from daemon.json")
    return passed("daemon.json") if facts.docker_config is not None else unknown()


def _refused(why: str) -> Outcome:
    flags = "directive" in why or "flag" in why
    what = "gives an option both as a flag and in the configuration file" if flags else "cannot be read"
    return failed("a configuration that dockerd takes", why, cause=f"dockerd does not start: /etc/docker/daemon.json {what}: {why}.")


@rule(
    "engine.daemon_answers",
    layer=ENGINE,
    probes=("docker_info", "docker_service"),
    symptom=(
        "docker: 'Cannot connect to the Docker daemon', 'permission denied while trying to connect to the Docker daemon socket', or every docker command hangs."
    ),
    cause="The Docker daemon does not answer.",
    fix=RESTART,
    verify="docker info prints a Server section.",
    source="docker-info(1); moby client/errors.go",
)
def daemon_answers(facts: Facts, wanted: Wanted) -> Outcome:
    """The Docker daemon answers"""
    said = facts.engine_said(NO_ANSWER)
    if without_docker(facts, wanted):
        return not_applicable(NO_DOCKER)
    if said and facts.docker_info is None and said[0].source != "docker_info":
        return _silent(quote(said), "unknown")
    if facts.docker_info is not None:
        return passed(f"Docker {facts.docker_info.get('ServerVersion', '')}".strip())
    service = (facts.service("docker_service") or {}).get("ActiveState", "unknown")
    silence = _silence(facts)
    if silence is None and service not in ("failed", "inactive"):
        return unknown()
    return _silent(silence or "no answer", service)


def _silence(facts: Facts) -> str | None:
    """What says that no daemon answers: docker's own words, its absence, or that it had to be killed. None: nothing says so."""
    if facts.bundle.absent("docker_info"):
        return "docker is not installed"
    lines = [line for line in (facts.bundle.output("docker_info") or "").splitlines() if re.search(NO_ANSWER, line)]
    return facts.bundle.error("docker_info") or (lines[-1].strip() if lines else None)


def _silent(said: str, service: str) -> Outcome:
    """Why nobody answers, by the words of the client."""
    observed = f"{said}; docker.service {service}"
    if "permission denied" in said:
        cause = f"The user may not open the Docker daemon's socket (not in group docker, or the group was not taken up since): {said}."
        remedy = "sudo usermod -aG docker $USER and log in again, or use sudo; ls -l /var/run/docker.sock"
        return failed("an answer from the daemon", observed, cause=cause, remedy=remedy)
    if re.search(r"\.docker/(?:desktop|run)/docker\.sock|/run/user/\d+/|tcp://", said):
        cause = f"The docker client asks another daemon than the host's (Docker Desktop, a rootless one or DOCKER_HOST), and that one does not run: {said}."
        return failed("an answer from the daemon", observed, cause=cause, remedy="docker context ls; docker context use default; unset DOCKER_HOST")
    engine = "containerd" if "containerd" in said else "The Docker daemon"
    return failed("an answer from the daemon", observed, cause=f"{engine} does not answer: {said}.")


@rule(
    "engine.daemon_is_the_hosts",
    layer=ENGINE,
    probes=("docker_context", "docker_info", "snap_list", "docker_host"),
    symptom=(
        "'load library failed: libnvidia-ml.so.1', 'could not select device driver' or 'unknown or invalid runtime name: nvidia', while "
        "nvidia-smi works on the host and "
        "sudo docker may work too."
    ),
    cause="The daemon that answers is not the host's own: Docker Desktop's virtual machine or the snap, which have no driver and no container toolkit.",
    fix=(
        "docker context use default with docker-ce installed (or uninstall Docker Desktop, or use sudo docker); snap remove docker, then install "
        "docker-ce from "
        "download.docker.com and the container toolkit."
    ),
    verify="docker info names the host under Name and Operating System, and /var/lib/docker as Docker Root Dir.",
    source="NVIDIA/nvidia-docker #1637, #1711; NVIDIA/nvidia-container-toolkit #154; canonical/docker-snap #148, #180",
)
def daemon_is_the_hosts(facts: Facts, wanted: Wanted) -> Outcome:
    """The daemon that answers runs on the host and sees its driver"""
    if without_docker(facts, wanted):
        return not_applicable(NO_DOCKER)
    said, stranger = facts.engine_said(BLIND), _stranger(facts)
    if stranger and said:
        cause = f"Containers are asked of {stranger}: {quote(said)}."
        return failed("the host's own Docker daemon", stranger, cause=cause)
    if stranger:
        return unknown(f"{stranger}, and no container says whether it serves GPUs")
    if said and _root_is_served(facts) and not facts.rootless:
        return failed("the host's own Docker daemon", quote(said), **TWO_DAEMONS)
    library = facts.said(NO_LIBRARY, lambda source: source.startswith("run "))
    if library and _host_is_well(facts) and not facts.engine_said(r"nvidia-container-cli\.real") and not on_wsl(facts):
        return failed(
            "a daemon that sees the host's driver",
            quote(library),
            cause=(
                "nvidia-smi works on the host and the daemon's hook does not find the driver's libraries: the daemon that answers runs elsewhere "
                "(Docker Desktop's context "
                "desktop-linux, or the docker snap), or the host's ld.so.cache lacks libnvidia-ml.so.1."
            ),
            confidence="medium",
            decided_by="docker context ls; docker info --format '{{.OperatingSystem}} {{.DockerRootDir}}'; snap list docker; ldconfig -p | grep libnvidia-ml",
        )
    return passed(str(facts.docker_info.get("OperatingSystem", "docker info"))) if facts.docker_info else unknown()


def _root_is_served(facts: Facts) -> bool:
    """The same is served to root: then the user's client talks to another daemon."""
    return any(run.get("engine") == "docker" and run.get("user") == "root" and run.get("rc") == 0 for run in facts.runs)


def _stranger(facts: Facts) -> str | None:
    """What says that the daemon which answers is not the host's own; under WSL Docker Desktop is the usual and right one."""
    info, context = facts.docker_info or {}, facts.bundle.text("docker_context") or ""
    stated = " ".join(f"{name} {value}" for name, value in facts.bundle.stated.items() if "docker" in name).lower()
    where = f"{info.get('OperatingSystem')} {info.get('Name')} {facts.bundle.text('docker_host')} {stated}"
    active = re.search(r"^[ \t]*(desktop-linux)\s*(?:\*|$)|\"Name\": ?\"(desktop-linux)\"", context, re.M)
    if not on_wsl(facts) and (active or re.search(r"docker[ -]desktop|\.docker/desktop", where, re.IGNORECASE)):
        return "Docker Desktop (docker context desktop-linux), whose virtual machine has no NVIDIA driver"
    snap = re.search(r"^docker\s+\S+", facts.bundle.text("snap_list") or "", re.M)
    if str(info.get("DockerRootDir", "")).startswith("/var/snap/docker") or snap or re.search(r"\bsnap\b", stated) or facts.engine_said(r"/snap/docker/"):
        return "Docker from the snap, which is confined and sees neither the host's driver nor its container toolkit nor /etc/docker/daemon.json"
    return None


def on_wsl(facts: Facts) -> bool:
    """Whether the node is a Linux under Windows."""
    words = f"{facts.kernel_release} {facts.bundle.stated.get('platform')}".lower()
    return "wsl" in words or "microsoft" in words


def _host_is_well(facts: Facts) -> bool:
    """nvidia-smi works on the host, so that libnvidia-ml.so.1 is there."""
    return facts.bundle.rc("nvidia_smi") == 0 or bool(facts.gpus)
