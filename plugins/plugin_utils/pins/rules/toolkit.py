# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The container toolkit against driver, engine and host, and its known-bad releases."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.toolkit_releases import CDI_07_SINCE, CDI_READERS, VULNERABILITIES
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.candidates import newer, older, other_drivers
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.knowledge import engines, toolkits
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.model import NOTE, REFUSAL, WARNING, Change, Found, rule
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.version import number
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.view import PinSet

PLACE = "container_toolkit.version"
CDI = "NVIDIA Container Toolkit 1.19.1 release notes"


def _from(release: str) -> tuple[Change, ...]:
    return newer(PLACE, toolkits.KNOWN, release)


@rule(
    "toolkit_none",
    severity=NOTE,
    why="Without the container toolkit no container gets a GPU; some pools want that.",
    fix="Pin a container_toolkit if containers shall have GPUs.",
    source="docs/pins_and_locks.md",
)
def toolkit_is_there(pins: PinSet) -> Iterator[Found]:
    """A pool with GPUs has the container toolkit"""
    if pins.toolkit is None and pins.gpus:
        yield Found("the pool has no container toolkit, on purpose: no container gets a GPU", "container_toolkit")


@rule(
    "toolkit_release_known",
    severity=NOTE,
    why="The list of releases here ends on a day; a newer release is no fault, a mistyped one is.",
    fix="Compare with the releases of NVIDIA/nvidia-container-toolkit.",
    source=toolkits.NOTES,
)
def toolkit_release_is_known(pins: PinSet) -> Iterator[Found]:
    """The toolkit's release is in the list"""
    if pins.toolkit and not pins.toolkit.is_range and pins.toolkit.upstream not in toolkits.KNOWN:
        yield Found(f"container toolkit {pins.toolkit} is not among the known releases, whose newest is {toolkits.KNOWN[-1]}", PLACE)


@rule(
    "toolkit_known_bad",
    severity=WARNING,
    why="Some releases of the toolkit break containers, isolation or upgrades by themselves.",
    fix="Take the release with the fix.",
    source=toolkits.NOTES,
)
def toolkit_is_sound(pins: PinSet) -> Iterator[Found]:
    """The toolkit's release has no known fault"""
    for bad in toolkits.KNOWN_BAD:
        if pins.toolkit and not pins.toolkit.before(bad.since) and pins.toolkit.before(bad.fixed):
            reason = f"container toolkit {pins.toolkit}: {bad.words}; fixed in {bad.fixed}"
            yield Found(reason, PLACE, bad.source, NOTE if bad.note else WARNING, _from(bad.fixed))


@rule(
    "toolkit_security_floor",
    severity=WARNING,
    why="Older releases have published vulnerabilities by which a container leaves its isolation.",
    fix="Take the fixed release or a later one, all four packages together.",
    source="NVIDIA product-security bulletins",
)
def toolkit_is_fixed(pins: PinSet) -> Iterator[Found]:
    """The toolkit has the fixes of NVIDIA's bulletins"""
    having = [one for one in VULNERABILITIES if pins.toolkit and pins.toolkit.numbers < one.fixed]
    if having:
        newest = max(having, key=lambda one: one.fixed)
        fixed = ".".join(map(str, newest.fixed))
        names = ", ".join(one.identifier for one in having)
        yield Found(f"container toolkit {pins.toolkit} is below the security floor: {names}; fixed in {fixed}", PLACE, newest.source, changes=_from(fixed))


@rule(
    "toolkit_driver",
    severity=REFUSAL,
    why="Since 550 the driver's devices are listed as nvidia in /proc/devices, which older toolkits look for as nvidia-frontend: they create no device nodes.",
    fix="Take toolkit 1.14.6 or later.",
    source=toolkits.NOTES + " 1.14.6",
)
def toolkit_knows_driver(pins: PinSet) -> Iterator[Found]:
    """The toolkit knows the driver's devices"""
    branch, first = toolkits.DRIVER_550
    if pins.toolkit and pins.branch >= branch and pins.toolkit.before(first):
        reason = f"container toolkit {pins.toolkit} does not know the devices of driver {pins.driver}: from {branch} on it must be {first} or later"
        yield Found(reason, PLACE, changes=(*_from(first), *other_drivers(pins, lambda one: number(one)[0] < branch)))


@rule(
    "toolkit_cdi_version",
    severity=REFUSAL,
    why="From 1.19.1 on the toolkit writes CDI specifications of version 0.7.0. An engine that reads only older ones leaves the whole "
    "file out: unresolvable CDI devices.",
    fix="Take an engine that reads CDI 0.7 (docker 26.1, containerd 1.7.16, podman 5.1), or toolkit 1.19.0.",
    source=CDI,
)
def engine_reads_cdi(pins: PinSet) -> Iterator[Found]:
    """The engine reads the CDI version that the toolkit writes"""
    if pins.toolkit is None or pins.toolkit.numbers < CDI_07_SINCE:
        return
    engine, first = pins.parts[pins.engine], CDI_READERS[(0, 7)][pins.engine]
    no_cdi_at_all = pins.engine == "docker" and engine.numbers < (25,)
    if engine.numbers < first and not no_cdi_at_all:
        wanted = ".".join(map(str, first))
        place = pins.part_place(pins.engine)
        reason = f"container toolkit {pins.toolkit} writes CDI 0.7.0, and {pins.engine} {engine} does not read it: {wanted} is the first that does"
        workaround = "or generate with --feature-flag=no-additional-gids-for-device-nodes"
        known = engines.KNOWN[pins.engine]
        changes = (*newer(place, known, next(one for one in known if number(one) >= first)), *older(PLACE, toolkits.KNOWN, "1.19.1"))
        # Docker before 28.2 reads no specification until it is told to: a vendor's image that asks by --gpus or --runtime alone works (Amazon's ECS image)
        severity = NOTE if pins.engine == "docker" and pins.is_distributions("docker") else REFUSAL
        yield Found(reason, place, severity=severity, changes=changes, advice=workaround)


@rule(
    "engine_has_cdi",
    severity=WARNING,
    why="Without CDI in the engine GPUs come by the legacy hook alone (--gpus, --runtime=nvidia), which loses them after systemctl daemon-reload.",
    fix="Take docker 25 or later (28.2 has CDI on), containerd 1.7 or later, podman 4.1 or later.",
    source="moby tags; containerd docs/cri/config.md; podman release notes",
)
def engine_has_cdi(pins: PinSet) -> Iterator[Found]:
    """The engine has CDI"""
    first = {"docker": "25.0.0", "containerd": "1.7.0", "podman": "4.1.0"}[pins.engine]
    engine, place = pins.parts[pins.engine], pins.part_place(pins.engine)
    if pins.toolkit and engine.before(first):
        reason = f"{pins.engine} {engine} has no CDI: {first} is the first; --device nvidia.com/gpu=… does not work"
        severity = REFUSAL if pins.engine == "podman" else WARNING
        known = engines.KNOWN[pins.engine]
        yield Found(reason, place, severity=severity, changes=newer(place, known, next(one for one in known if number(one) >= number(first))))


@rule(
    "engine_cdi_off",
    severity=NOTE,
    why="docker 25.0 to 28.1 and containerd 1.7 have CDI, and it is off until their configuration says otherwise.",
    fix='Nothing where the roles configure the engine: they set "features": {"cdi": true} in daemon.json; for containerd enable_cdi = true.',
    source="moby cmd/dockerd/daemon.go; containerd docs/cri/config.md",
)
def engine_has_cdi_on(pins: PinSet) -> Iterator[Found]:
    """CDI is on in the engine by itself"""
    since, on = {"docker": ("25.0.0", "28.2.0"), "containerd": ("1.7.0", "2.0.0"), "podman": ("0", "0")}[pins.engine]
    engine = pins.parts[pins.engine]
    if pins.toolkit and not engine.before(since) and engine.before(on):
        yield Found(f"{pins.engine} {engine} has CDI and has it off by default: it must be switched on", pins.part_place(pins.engine))


@rule(
    "toolkit_containerd_config",
    severity=REFUSAL,
    why="containerd 2 has configuration version 3, with the runtime's section under another name. Older toolkits write version 2 "
    "sections that containerd does not read.",
    fix="Take toolkit 1.17.4 or later.",
    source=toolkits.NOTES + " 1.17.4",
)
def toolkit_writes_containerd_config(pins: PinSet) -> Iterator[Found]:
    """The toolkit writes the configuration that containerd reads"""
    since, first = toolkits.CONTAINERD_2
    if pins.engine == "containerd" and pins.toolkit and pins.parts["containerd"].numbers >= since and pins.toolkit.before(first):
        reason = (
            f"container toolkit {pins.toolkit} cannot write the configuration (version 3) of containerd {pins.parts['containerd']}: "
            f"{first} is the first that does"
        )
        yield Found(reason, PLACE, changes=(*_from(first), *older("containerd.version", engines.KNOWN["containerd"], "2.0.0")))


@rule(
    "toolkit_cgroup",
    severity=REFUSAL,
    why="Under cgroup 2 devices are allowed by a BPF program, which libnvidia-container can since 1.8.0; older ones stop with cgroup "
    "subsystem devices not found.",
    fix="Take toolkit 1.8.0 or later.",
    source=toolkits.NOTES + " 1.8.0",
)
def toolkit_knows_cgroup_2(pins: PinSet) -> Iterator[Found]:
    """The toolkit can allow devices under the pool's cgroup version"""
    if pins.cgroup == 2 and pins.toolkit and pins.toolkit.before(toolkits.CGROUP_2_SINCE):
        reason = f"container toolkit {pins.toolkit} cannot allow devices under cgroup 2: {toolkits.CGROUP_2_SINCE} is the first that can"
        yield Found(reason, PLACE, changes=_from(toolkits.CGROUP_2_SINCE))
