# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What containers with a GPU were asked to get, and what they did."""

from __future__ import annotations

import json
import re
from typing import Any, Callable

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import container_run, cuda_probe, docker, gpu_request
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import Message, fact, first_with, in_lower_case
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.engine import EngineFacts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.gpu_request import GpuRequest

# Container images whose C library is not glibc, or that have none, and no linker cache that a hook could write.
NO_GLIBC = r"(?:^|[/\s:_-])(alpine|busybox|distroless|scratch|musl|wolfi|chainguard|void-musl)\b"


class ContainerFacts(EngineFacts):
    """What containers with a GPU were asked to get, and what they did."""

    @fact
    def container_runs(self) -> tuple[container_run.Run, ...]:
        """The runs of the bundle, with what really served each request on this engine."""
        engine = (self.docker_versions or {}).get("Engine")
        return container_run.runs(self.runs, docker.upstream(engine) if engine else None)

    @fact
    def content(self) -> frozenset[str]:
        """The sources whose whole word is a report of the CUDA probe that ends well: nothing there is a complaint."""
        runs = {f"run {number}" for number, run in enumerate(self.container_runs or (), start=1) if run.report and run.report.end.ok}
        host = cuda_probe.report(self.bundle.text("cuda_probe") or "")
        return frozenset(runs | {"cuda_probe"} if host and host.end.ok else runs)

    @fact
    def complaints(self) -> tuple[Message, ...]:
        """The messages, but for the good reports of the CUDA probe, which most of a live node's are."""
        return tuple(message for message in self.messages or () if message.source not in (self.content or ()))

    @fact
    def complaints_spoken(self) -> str:
        """All complaints in lower case."""
        return in_lower_case(self.complaints)

    def complained(self, pattern: str, sources: Callable[[str], bool]) -> tuple[Message, re.Match[str]] | None:
        """The first complaint of the chosen sources that has the pattern, and where."""
        return first_with(pattern, (message for message in self.complaints or () if sources(message.source)), self.complaints_spoken or "")

    @fact
    def compose_requests(self) -> tuple[GpuRequest, ...]:
        """What each service of the Compose file asks for."""
        return gpu_request.of_compose(self.need("compose_file"))

    @fact
    def inspect_requests(self) -> tuple[GpuRequest, ...]:
        """What each container of `docker inspect` was created with."""
        return gpu_request.of_inspect(self.need("docker_inspect"))

    @fact
    def command_requests(self) -> tuple[GpuRequest, ...]:
        """What the command lines of the runs ask for."""
        commands = (gpu_request.of_command(str(run["command"])) for run in self.runs if run.get("command"))
        return tuple(request for request in commands if request)

    @property
    def gpu_requests(self) -> tuple[GpuRequest, ...]:
        """All requests that are known in full, as the engine was asked."""
        return (*(self.inspect_requests or ()), *(self.compose_requests or ()), *(self.command_requests or ()))

    @fact
    def requested_capabilities(self) -> tuple[str, ...]:
        """The driver's parts that a request or an environment names; empty where none does, and the container image's own choice holds."""
        for request in self.gpu_requests:
            if request.driver_capabilities:
                return request.driver_capabilities
        stated = " ".join(str(value) for name, value in self.bundle.stated.items() if "capabilities" in name and "device_request" in name)
        named = tuple(name for name in re.findall(r"[a-z]\w*", stated) if name not in ("gpu", "nvidia"))
        return named or gpu_request.capabilities((self.container_environment or {}).get("NVIDIA_DRIVER_CAPABILITIES", ""))

    @fact
    def container_environment(self) -> dict[str, str]:
        """The variables that containers run with: the image's, the request's, and those that `env` printed."""
        found = gpu_request.environment(_lines(self.bundle.stated.get("image_env")))
        for request in self.gpu_requests:
            found.update(request.environment)
        for run in self.runs:
            if run.get("payload") == "env":
                found.update(gpu_request.environment(_lines(run.get("stdout"))))
        for name, value in self.bundle.stated.items():
            variable = re.fullmatch(r"(?:container|image)_env_(\w+)", name)
            if variable and str(value).lower() not in ("unset", "absent"):
                found[variable.group(1).upper()] = str(value)
        return found

    @fact
    def container_images(self) -> tuple[str, ...]:
        """The container images' references."""
        named = [str(run.get("image")) for run in self.runs if run.get("image")]
        named += [request.image for request in self.gpu_requests if request.image]
        stated = self.bundle.stated.get("container_base_image")
        return tuple(dict.fromkeys([*named, str(stated)] if stated else named))

    @fact
    def musl(self) -> str:
        """What says that a container image has no glibc: `alpine`, `distroless`, …"""
        stated = " ".join(str(value) for name, value in self.bundle.stated.items() if name.startswith(("container_os", "container_base", "image_base")))
        found = re.search(NO_GLIBC, " ".join((stated, *(self.container_images or ()))), re.I)
        if found:
            return found.group(1).lower()
        loader = self.said(r"ld-musl|Error relocating |Error loading shared library|symbol not found.*musl", from_container)
        return "musl" if loader else self.known(None)

    @fact
    def env_file_variables(self) -> dict[str, str]:
        """The variables of the env file, wherever the report shows it."""
        return gpu_request.environment(_lines(self.bundle.text("env_file") or self.bundle.stated.get("env_file")))


def from_container(source: str) -> bool:
    """Whether a message was said in or about a container."""
    return source.startswith("run ") or source in ("app_log", "pod_log", "pod_events")


def _lines(value: Any) -> Any:
    """Variables in the forms in which reports give them: a mapping, a JSON list, lines."""
    if not isinstance(value, str):
        return value
    return json.loads(value) if value.lstrip().startswith('["') else value.splitlines()
