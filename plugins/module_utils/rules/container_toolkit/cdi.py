# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Container toolkit: the CDI specs, against the engine that reads them and the driver that they were made of."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.gpu_requests import UNRESOLVABLE
from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.toolkit_releases import CDI_07_SINCE, CDI_READERS
from ansible_collections.goldnode.gpu.plugins.module_utils.model import CONTAINER_TOOLKIT, DEVICE_NODES, DRIVER
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import needles
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.cdi import CdiSpec
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import Message
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.versions import at_least, numbers
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.container_toolkit.packages import NONE_HERE, without_toolkit
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.quotes import quote
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown

REFRESH = (
    "Generate it again: systemctl restart nvidia-cdi-refresh (1.18 and later), or nvidia-ctk cdi generate --output=/var/run/cdi/nvidia.yaml "
    "(/etc/cdi/nvidia.yaml where nothing writes it at boot); remove a stale copy in /etc/cdi."
)
# A driver's file that an engine could not mount: crun, runc, podman, containerd; the hook's own errors are another thing.
GONE = (
    r"(?m)^(?=[^\n]*no such file)(?![^\n]*nvidia-container-cli)[^\n]*?"
    r"(?P<what>/[^\s`'\":]+?(?:\.so\.(?P<version>\d{3,}\.\d+(?:\.\d+)?)|/nvidia/(?P<firmware>\d{3,}\.[\d.]*\d)/[\w.]+))"
    r"[`'\"]?[^\n]*no such file or directory"
)
# containerd's and podman's CDI library (pkg/cdi/spec.go), which leaves such a file out.
UNREADABLE_SPEC = (
    r"failed to (?:parse|load|unmarshal) CDI Spec[^\n]*(?:unknown field|(?:unsupported|invalid) (?:cdi )?(?:spec )?version|cannot unmarshal)[^\n]*"
)
# nvidia-ctk cdi generate (internal/discover): what it must have, and what few hosts have.
NOT_LOCATED = r"failed to (?:locate|get libraries)[^\n]*?(?P<what>lib(?:cuda|nvidia-ml)\.so[.\w*]*)[^\n]*not found"
NML_PATH = r"Using (?P<folder>/\S+)/libnvidia-ml\.so"
OPTIONAL = r"Could not locate (?P<what>/dev/dri/\S+|\S*(?:persistenced/socket|nvidia-fabricmanager/socket|nvidia-mps|gsp\S*|X11\S*|egl\S*|vulkan\S*|xorg\S*))"
NODE_GONE = r"failed to stat CDI host device \\?\"(?P<what>[^\"\\]+)"


@rule(
    "container_toolkit.cdi_spec_is_readable",
    layer=CONTAINER_TOOLKIT,
    needs=(DRIVER,),
    probes=("cdi_specs", "nvidia_ctk_version", "podman_version", "docker_version", "containerd_version"),
    symptom="'unresolvable CDI devices nvidia.com/gpu=all', though nvidia-ctk cdi list names the device, since the toolkit was upgraded to 1.19.1.",
    cause="The CDI specification has a newer version than the engine's CDI library reads; the engine leaves the file out without a word.",
    fix=(
        "Upgrade the engine (podman 5.1, Docker 26.1, containerd 1.7.16, CRI-O 1.30 read 0.7.0), or write an older spec: nvidia-ctk cdi generate "
        "--feature-flag=no-additional-gids-for-device-nodes --output=/etc/cdi/nvidia.yaml, or stay on toolkit 1.19.0."
    ),
    verify="The same container starts; podman --log-level=debug run … names no CDI error.",
    source="NVIDIA Container Toolkit 1.19.1 release notes; NVIDIA/nvidia-container-toolkit #1940",
)
def cdi_spec_is_readable(facts: Facts, wanted: Wanted) -> Outcome:
    """The engine can read the CDI spec's version"""
    if without_toolkit(facts, wanted):
        return not_applicable(NONE_HERE)
    version, refused = spec_version(facts), facts.engine_said(UNREADABLE_SPEC)
    if refused:
        return _refused(facts, refused)
    if version is None:
        return unknown("the CDI version of the spec is not known")
    floors = next((readers for since, readers in sorted(CDI_READERS.items(), reverse=True) if at_least(version, since)), {})
    old = [f"{engine} {has}" for engine, has in (facts.engine_versions or {}).items() if engine in floors and at_least(has, floors[engine]) is False]
    if not old:
        return passed(f"CDI {version}") if facts.cdi_files else unknown("no spec was seen")
    needed = ", ".join(f"{engine} {'.'.join(map(str, floor))}" for engine, floor in floors.items())
    writer = f", which toolkit {facts.toolkit_version} writes" if facts.toolkit_version else ""
    cause = f"{', '.join(old)} does not read CDI version {version}{writer}: it needs {needed} or later."
    if facts.engine_said(UNRESOLVABLE):
        return failed(f"an engine that reads CDI {version}", ", ".join(old), cause=f"The CDI spec version is too new for the engine: {cause}")
    return passed(f"CDI {version}", cause=f"Containers that ask by CDI would not start there: {cause}") if facts.cdi_files else unknown("no spec was seen")


def _refused(facts: Facts, said: tuple[Message, re.Match[str]]) -> Outcome:
    """An engine's own words about a spec that it could not read."""
    engines = ", ".join(f"{engine} {version}" for engine, version in (facts.engine_versions or {}).items()) or "the engine"
    cause = f"{engines} cannot read the CDI spec ({quote(said)}): it was written for a newer CDI version than the engine's library knows, or is damaged."
    return failed("a CDI spec that the engine reads", quote(said), cause=cause)


def spec_version(facts: Facts) -> str | None:
    """The newest version among the specs; where none was seen, what the toolkit writes by default."""
    seen = [spec.version for spec in facts.cdi_files or () if spec.version]
    if seen:
        return max(seen, key=lambda version: numbers(version) or ())
    return "0.7.0" if facts.cdi_files is None and at_least(facts.toolkit_version, CDI_07_SINCE) else None


@rule(
    "container_toolkit.cdi_spec_present",
    layer=CONTAINER_TOOLKIT,
    needs=(DRIVER,),
    probes=("cdi_specs", "cdi_list", "cdi_refresh_service"),
    symptom="'CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=all', 'setting up CDI devices: unresolvable CDI devices'.",
    cause="There is no CDI specification for the GPUs: it was not generated, or the refresh at boot ran before the driver was loaded.",
    fix=REFRESH,
    verify="nvidia-ctk cdi list names nvidia.com/gpu=all.",
    source="NVIDIA Container Toolkit, CDI support; NVIDIA/nvidia-container-toolkit #146, #1611",
)
def cdi_spec_present(facts: Facts, wanted: Wanted) -> Outcome:
    """A CDI spec offers the GPUs that are asked for"""
    said = facts.engine_said(UNRESOLVABLE)
    if without_toolkit(facts, wanted):
        return not_applicable(NONE_HERE)
    if facts.cdi_specs is None:
        return _unresolved(facts, said[1]["what"]) if said else unknown()
    refused = refresh_failed(facts)
    offered = {f"{spec.kind}={device}" for spec in facts.cdi_specs for device in spec.devices}
    if any(name.startswith("nvidia.com/gpu=") for name in offered):
        return _not_offered(said[1]["what"], offered) if said and _should_offer(facts, said[1]["what"], offered) else passed(", ".join(sorted(offered)))
    if wanted or said or refused:
        asked = f" and {said[1]['what']} was asked for" if said else ""
        cause = f"There is no CDI spec for the GPUs{asked}: {_why_none(facts)}."
        return failed("a spec of kind nvidia.com/gpu", "none in /etc/cdi or /var/run/cdi", cause=cause)
    return not_applicable("no CDI spec, and nothing asks for one")


def refresh_failed(facts: Facts) -> bool:
    """Whether the service that writes the spec at boot ended with an error."""
    service = facts.service("cdi_refresh_service") or {}
    return service.get("ActiveState") == "failed" or service.get("Result", "success") != "success"


def _why_none(facts: Facts) -> str:
    """What the service that writes it at boot says about itself."""
    words = facts.engine_said(r"failed to generate CDI spec[^\n]*|failed to (?:construct|create) device[^\n]*CDI[^\n]*")
    if refresh_failed(facts) or words:
        why = f" ({quote(words)})" if words else ""
        return f"nvidia-cdi-refresh or nvidia-ctk cdi generate failed{why}, as at a boot at which the driver is not loaded yet"
    return "it was not generated since the boot (/var/run is empty then), or not at all"


def _unresolved(facts: Facts, device: str) -> Outcome:
    """Asked for by an engine, and nobody saw the specs: two causes, unless nvidia-ctk finds the device."""
    if device in (facts.cdi_listed or ()):
        cause = (
            f"nvidia-ctk finds {device} in a CDI spec and the engine does not: the engine's user may not read the file (mode 0600 under a rootless "
            "engine), the spec's "
            "cdiVersion is newer than the engine's CDI library, or the engine reads other directories."
        )
        remedy = "chmod a+r /etc/cdi/*.yaml /var/run/cdi/*.yaml; upgrade the engine or generate an older spec; compare the engine's CDI spec directories."
        probe = "ls -l /etc/cdi /var/run/cdi; grep cdiVersion /etc/cdi/* /var/run/cdi/*; podman info or docker info (CDI spec directories)"
        return failed(f"{device} in a spec that the engine reads", device, cause=cause, remedy=remedy, confidence="medium", decided_by=probe)
    return failed(
        f"{device} in a CDI spec",
        f"unresolvable CDI device {device}",
        cause=(
            f"No CDI spec that the engine reads names {device}: it was not generated (nvidia-ctk cdi generate), is stale, or has a newer "
            "cdiVersion than the engine reads."
        ),
        confidence="medium",
        decided_by="ls -l /etc/cdi /var/run/cdi; nvidia-ctk cdi list; grep cdiVersion /etc/cdi/* /var/run/cdi/*",
    )


def _should_offer(facts: Facts, device: str, offered: set[str]) -> bool:
    """Whether a device that is in no spec is one of the host: an index beyond its GPUs is the request's fault."""
    index = re.fullmatch(r"nvidia\.com/gpu=(\d+)", device)
    beyond = index and facts.gpus is not None and int(index.group(1)) >= len(facts.gpus)
    return device not in offered and not beyond


def _not_offered(device: str, offered: set[str]) -> Outcome:
    cause = (
        f"The CDI spec names {', '.join(sorted(offered))} and not {device}: it was generated before MIG or the GPUs were changed, or for other "
        "names (index, UUID)."
    )
    return failed(f"{device} in the spec", ", ".join(sorted(offered)), cause=cause)


@rule(
    "container_toolkit.cdi_spec_is_of_driver",
    layer=CONTAINER_TOOLKIT,
    needs=(DRIVER,),
    probes=("cdi_specs", "proc_driver_nvidia_version"),
    symptom=(
        "After a driver upgrade: 'crun: cannot stat /usr/lib64/libEGL_nvidia.so.<old>', 'error mounting … no such file or directory', exit code 126 or 127."
    ),
    cause="The CDI specification is stale: it was generated for another driver version than the one on the host.",
    fix=REFRESH,
    verify="The library names in the spec end in the version of /proc/driver/nvidia/version.",
    source="NVIDIA/nvidia-container-toolkit #450; Igalia/webkit-container-sdk #23",
)
def cdi_spec_is_of_driver(facts: Facts, wanted: Wanted) -> Outcome:
    """The CDI spec names the libraries of the host's driver"""
    if without_toolkit(facts, wanted):
        return not_applicable(NONE_HERE)
    host, gone = facts.host_driver_version, facts.engine_said(GONE)
    stale = [f"{spec.path}: {', '.join(sorted(spec.driver_versions))}" for spec in facts.cdi_files or () if host and spec.driver_versions - {host}]
    if stale:
        return _stale("; ".join(stale), host)
    if gone:
        return _stale(f"{gone[1]['what']}, which is no longer there", host)
    if not facts.cdi_files or host is None:
        return unknown()
    named = any(spec.driver_versions for spec in facts.cdi_files)
    return passed(host) if named else unknown("no spec names a library with its version")


def _stale(named: str, host: str | None) -> Outcome:
    """The generated file is not that of the driver."""
    now = f"driver {host} is on the host" if host else "the host has another driver version, or not all of its files"
    cause = f"The CDI spec is stale: it was generated for a previous driver and names {named}, while {now}."
    return failed(f"libraries of {host or 'the driver on the host'}", named, cause=cause)


@rule(
    "container_toolkit.cdi_spec_devices",
    layer=CONTAINER_TOOLKIT,
    needs=(DEVICE_NODES,),
    probes=("cdi_specs", "ls_dev_nvidia", "proc_devices", "nvidia_smi_list"),
    symptom="'failed to stat CDI host device', a container misses a GPU that the host has, or cuInit says 999 there while nvidia-smi works.",
    cause="The device nodes, device numbers or UUIDs that the CDI specification names are not those of the host.",
    fix=REFRESH,
    verify="Each /dev/nvidia* path in the spec exists with the same major and minor, and each GPU's node is in the spec.",
    source="Seen with Docker 26.1.5 on lab nodes, 2026-11-30; NVIDIA/nvidia-container-toolkit #885, #1934",
)
def cdi_spec_devices(facts: Facts, wanted: Wanted) -> Outcome:
    """The CDI spec names the devices that the host has"""
    if without_toolkit(facts, wanted):
        return not_applicable(NONE_HERE)
    specs, gone = facts.cdi_files, facts.engine_said(NODE_GONE)
    wrong = [*_not_there(facts, specs or ()), *_other_numbers(facts, specs or ()), *_other_gpus(facts, specs or ())]
    if gone:
        wrong.append(f"not on the host: {gone[1]['what']}")
    if wrong:
        observed = "; ".join(wrong)
        return failed("the host's devices", observed, cause=f"The CDI spec is stale, its devices are not those of the host: {observed}.")
    if not facts.cdi_specs or facts.device_nodes is None:
        return unknown()
    return passed(", ".join(sorted(frozenset().union(*(spec.nodes for spec in facts.cdi_specs)))))


def _not_there(facts: Facts, specs: tuple[CdiSpec, ...]) -> list[str]:
    """Nodes that only the spec or only the host has; the directory of capabilities is another listing."""
    named = frozenset().union(*(spec.nodes for spec in specs))
    have = facts.device_nodes
    if have is None or not named or any(not spec.devices for spec in specs):
        return []
    complete = facts.bundle.complete("ls_dev_nvidia") or facts.bundle.absent("ls_dev_nvidia")
    missing = sorted(path for path in named if complete and path not in have and not path.startswith("/dev/nvidia-caps"))
    unnamed = sorted(path for path in have if re.fullmatch(r"/dev/nvidia\d+", path) and path not in named)
    return [f"{what}: {', '.join(paths)}" for what, paths in (("not on the host", missing), ("not in the spec", unnamed)) if paths]


def _other_numbers(facts: Facts, specs: tuple[CdiSpec, ...]) -> list[str]:
    """Nodes whose major or minor in the spec is not that of the node, or not what the kernel gave out."""
    found = []
    for path, major, minor in sorted({numbered for spec in specs for numbered in spec.numbered}):
        node = (facts.device_nodes or {}).get(path)
        kernel = (facts.majors or {}).get("nvidia-uvm") if path.startswith("/dev/nvidia-uvm") else None
        real = f"{node.major}:{node.minor}" if node and node.major is not None else f"{kernel}:{minor}" if kernel is not None else None
        if real and real != f"{major}:{minor}":
            found.append(f"{path} is {real} on the host and {major}:{minor} in the spec")
    return found


def _other_gpus(facts: Facts, specs: tuple[CdiSpec, ...]) -> list[str]:
    """UUIDs of GPUs and MIG devices that the spec offers and the host no longer has."""
    have = set(re.findall(r"UUID: ([\w-]+)", facts.bundle.text("nvidia_smi_list") or "")) if facts.bundle.rc("nvidia_smi_list") == 0 else set()
    named = {device for spec in specs for device in spec.devices if re.match(r"(?:GPU|MIG)-[0-9a-f]{8}-", device)}
    gone = sorted(named - have) if have else []
    return [f"no longer on the host: {', '.join(gone)}"] if gone else []


@rule(
    "container_toolkit.cdi_specs_agree",
    layer=CONTAINER_TOOLKIT,
    needs=(DRIVER,),
    probes=("cdi_specs",),
    symptom="'unresolvable CDI devices' though two files name the device: 'conflicting device … from /etc/cdi/a.yaml and /etc/cdi/b.yaml'.",
    cause="Two CDI specifications in one directory offer the same device; engines drop a device that is named twice.",
    fix="Keep one of the files: remove the older one, and let one tool write it.",
    verify="nvidia-ctk cdi list names each device once.",
    source="tags.cncf.io/container-device-interface pkg/cdi/cache.go (conflicts of one priority)",
)
def cdi_specs_agree(facts: Facts, wanted: Wanted) -> Outcome:
    """No two CDI specs of one directory offer the same device"""
    if without_toolkit(facts, wanted):
        return not_applicable(NONE_HERE)
    said = facts.engine_said(r"conflicting device[^\n]*")
    owners: dict[tuple[str, str, str], list[str]] = {}
    for spec in facts.cdi_files or ():
        for device in spec.devices:
            owners.setdefault((spec.directory, spec.kind, device), []).append(spec.path)
    twice = [f"{kind}={device} in {' and '.join(paths)}" for (_directory, kind, device), paths in owners.items() if len(paths) > 1]
    if twice or said:
        observed = twice[0] if twice or said is None else quote(said)
        cause = f"Two CDI specs of one directory offer the same device, so that it is unresolvable: {observed}."
        return failed("each device in one file", observed, cause=cause)
    return unknown() if facts.cdi_files is None else passed(", ".join(spec.path for spec in facts.cdi_files) or "no spec")


@rule(
    "container_toolkit.cdi_spec_libraries",
    layer=CONTAINER_TOOLKIT,
    needs=(DRIVER,),
    probes=("cdi_specs",),
    symptom="Containers that ask by CDI get the devices and nvidia-smi works, and CUDA programs miss libcuda.so.1; by --gpus they work.",
    cause="The CDI specification mounts no libcuda: it was generated while the driver's compute libraries were not installed, or was edited.",
    fix=REFRESH,
    verify="grep libcuda.so /var/run/cdi/nvidia.yaml names the driver's version.",
    source="NVIDIA/nvidia-container-toolkit pkg/nvcdi/driver-nvml.go; seen on lab nodes, 2026-12-01",
)
def cdi_spec_libraries(facts: Facts, wanted: Wanted) -> Outcome:
    """The CDI spec mounts CUDA's library where it mounts NVML's"""
    if without_toolkit(facts, wanted):
        return not_applicable(NONE_HERE)
    if not wanted:
        return not_applicable("what a report quotes of a spec may be a part")
    bare = [spec.path for spec in facts.cdi_specs or () if spec.kind == "nvidia.com/gpu" and spec.libraries == {"libnvidia-ml"}]
    if bare:
        return failed(
            "libcuda in each spec", f"{bare[0]} mounts libnvidia-ml alone", cause=f"The CDI spec {bare[0]} mounts no libcuda: CUDA programs do not start."
        )
    return unknown() if facts.cdi_specs is None else passed(", ".join(spec.path for spec in facts.cdi_specs))


@rule(
    "container_toolkit.cdi_generates",
    layer=CONTAINER_TOOLKIT,
    needs=(DRIVER,),
    probes=("cdi_generate_log",),
    symptom="nvidia-ctk cdi generate: 'failed to generate CDI spec: … failed to locate libcuda.so…: pattern libcuda.so… not found'.",
    cause="nvidia-ctk does not find the driver's libraries: they lie where neither the linker's cache nor its usual folders lead.",
    fix=(
        "Name the folder: nvidia-ctk cdi generate --library-search-path=<folder> (1.16 and later), or --driver-root where the driver lies below another root; "
        "or add the folder to /etc/ld.so.conf.d and run ldconfig. Where libcuda.so is not on the host at all, install the driver's compute "
        "libraries (libcuda1, "
        "libnvidia-compute-<branch>, nvidia-driver-cuda-libs)."
    ),
    verify="nvidia-ctk cdi generate ends without ERRO, and nvidia-ctk cdi list names nvidia.com/gpu=all.",
    source="NVIDIA/nvidia-container-toolkit internal/discover, pkg/nvcdi/driver-nvml.go; NVIDIA/nvidia-container-toolkit #735",
)
def cdi_generates(facts: Facts, wanted: Wanted) -> Outcome:
    """nvidia-ctk can write the CDI spec"""
    log = facts.bundle.output("cdi_generate_log")
    if not log:
        return not_applicable("no words of nvidia-ctk cdi generate")
    missing, spare = needles.search(NOT_LOCATED, log), needles.search(OPTIONAL, log)
    if missing:
        beside = needles.search(NML_PATH, log)
        where = f" in its search path, though the driver lies in {beside['folder']}" if beside else " by the linker's cache or in its search path"
        cause = f"nvidia-ctk could not generate the CDI spec: the driver library {missing['what']} is not found{where}."
        return failed(
            "the driver's libraries", missing.group(0), cause=cause, decided_by="ls -l /usr/lib*/libcuda.so* and ldconfig -p | grep libcuda on the host"
        )
    if spare:
        cause = (
            f"The warning that {spare['what']} could not be located is harmless: it is an optional file that this host does not have, and is left out of "
            "the spec."
        )
        return passed("no error", cause=cause, remedy="Nothing to do: ignore the warning.")
    return passed("no error") if "level=error" not in log and "ERRO[" not in log else unknown(log.strip().splitlines()[-1])
