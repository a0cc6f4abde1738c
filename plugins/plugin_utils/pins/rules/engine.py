# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The container engine and its parts: ends of life, security floors, what fits what."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.versions import DPKG
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.candidates import newer
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.knowledge import engines
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.knowledge.engines import Floor
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.model import NOTE, REFUSAL, WARNING, Change, Found, rule
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.version import Version, number
from ansible_collections.goldnode.gpu.plugins.plugin_utils.pins.view import PinSet


def _line(name: str, part: Version) -> tuple[int, ...]:
    return part.numbers[: engines.LINE_LENGTH[name]]


def _maintained(pins: PinSet, name: str, first: str) -> tuple[Change, ...]:
    """Known releases from one on, those of maintained lines; docker's containerd must follow it."""
    ends = engines.ENDS.get(name, {})
    place = pins.part_place(name)
    fitting = [change for change in newer(place, engines.KNOWN[name], first) if not _ended(pins, ends, name, str(change[place]))]
    if name != "docker":
        return tuple(fitting)
    follow = {"docker.containerd": engines.KNOWN["containerd"][-1]} if pins.parts["containerd"].before(engines.DOCKER_CE_CONTAINERD[1]) else {}
    return tuple({**change, **follow} if number(str(change[place])) >= (29,) else change for change in fitting)


def _ended(pins: PinSet, ends: dict[tuple[int, ...], engines.End], name: str, release: str) -> bool:
    end = ends.get(number(release)[: engines.LINE_LENGTH[name]])
    return end is not None and end.ends < pins.today


@rule(
    "engine_end_of_life",
    severity=WARNING,
    why="A line after its end gets no fixes from its project. What a distribution maintains itself is its own affair.",
    fix="Move to a maintained line: docker 29, containerd 2.0, 2.3 or 2.4.",
    source=engines.ENDOFLIFE,
)
def engine_is_maintained(pins: PinSet) -> Iterator[Found]:
    """The engine's line, and containerd's, is maintained on this day"""
    for name, part in pins.parts.items():
        end = engines.ENDS.get(name, {}).get(_line(name, part))
        if end is None or end.ends >= pins.today:
            continue
        own = pins.is_distributions(name)
        reason = f"{name} {part} is of a line past its end of life ({end.ends})"
        reason += f"; {pins.system} maintains its own package" if own else ""
        yield Found(reason, pins.part_place(name), end.source, NOTE if own else WARNING, _maintained(pins, name, _first_after(name, part)))


def _first_after(name: str, part: Version) -> str:
    known = engines.KNOWN[name]
    return next((one for one in known if number(one) > part.numbers), known[-1])


@rule(
    "engine_security_floor",
    severity=WARNING,
    why="Older releases have published vulnerabilities. An upstream number alone does not tell what a distribution has patched: its "
    "own packages are compared with its own fixes.",
    fix="Take the fixed release of the line, or a maintained line.",
    source="advisories of moby, containerd, runc and podman",
)
def engine_is_fixed(pins: PinSet) -> Iterator[Found]:
    """The engine and its parts have the fixes of published vulnerabilities"""
    for name, part in pins.parts.items():
        place, own = pins.part_place(name), pins.is_distributions(name)
        behind = _behind_distribution(pins, name, part)
        if behind:
            yield Found(f"{name} {part} is older than the fix of {pins.system}, {behind}", place, f"{pins.system} security archive", changes=({place: behind},))
            continue
        having = [floor for floor in engines.FLOORS[name] if not part.is_range and _has(name, part, floor)]
        if having:
            fixed = ", ".join(dict.fromkeys(having[0].fixed.values()))
            reason = f"{name} {part} has {'; '.join(one.identifier for one in having)}: fixed in {fixed}"
            reason += f", unless {pins.system} has patched its own package" if own else ""
            changes = _maintained(pins, name, _fix_of_line(name, part, having[0]))
            yield Found(reason, place, having[0].source, NOTE if own else WARNING, changes)


def _has(name: str, part: Version, floor: Floor) -> bool:
    """Whether a version has a vulnerability: below its line's fix, or of a line without one that is older than the newest with one."""
    line = _line(name, part)
    patched_on = engines.LONG_LINES.get(name, {}).get(line)
    if part.numbers < floor.since or (patched_on and part.numbers >= patched_on):
        return False
    fixed = floor.fixed.get(line)
    return part.before(fixed) if fixed else line < max(floor.fixed) and not _fixed_since(name, part, floor)


def _fixed_since(name: str, part: Version, floor: Floor) -> bool:
    """Whether a release has the fix of a later vulnerability, and with it those before: their lists need not name every line."""
    newer = engines.FLOORS[name][: engines.FLOORS[name].index(floor)]
    fixes = [one.fixed[_line(name, part)] for one in newer if _line(name, part) in one.fixed]
    return any(not part.before(fixed) for fixed in fixes)


def _fix_of_line(name: str, part: Version, floor: Floor) -> str:
    line = _line(name, part)
    return floor.fixed.get(line) or floor.fixed[min(one for one in floor.fixed if one > line)]


def _behind_distribution(pins: PinSet, name: str, part: Version) -> str:
    """The distribution's own fixed version where a package of it is older."""
    fixed = engines.DISTRIBUTION_FIXED.get((pins.distribution, pins.archive_release, name), "")
    return fixed if fixed and part.is_of(pins.distribution) and DPKG.satisfies(part.text, "<<", fixed) else ""


@rule(
    "docker_gpus_flag",
    severity=REFUSAL,
    why="docker run --gpus exists since 19.03.",
    fix="Take a maintained Docker.",
    source="docs.docker.com, docker run reference",
)
def docker_has_gpus_flag(pins: PinSet) -> Iterator[Found]:
    """Docker knows --gpus"""
    docker = pins.parts.get("docker")
    if docker and docker.before(engines.GPUS_SINCE):
        reason = f"docker {docker} has no --gpus: {engines.GPUS_SINCE} is the first"
        yield Found(reason, "docker.version", changes=_maintained(pins, "docker", engines.KNOWN["docker"][0]))


@rule(
    "docker_containerd",
    severity=REFUSAL,
    why="docker-ce depends on containerd.io 2.1.5 or later since its packages of June 2026 (29.6); from 29.0 on it is built and tested with it.",
    fix="Pin containerd 2.1.5 or later beside docker 29.",
    source=engines.DOCKER_CE_CONTAINERD[2],
)
def docker_has_its_containerd(pins: PinSet) -> Iterator[Found]:
    """Docker has the containerd that it needs"""
    docker, containerd = pins.parts.get("docker"), pins.parts.get("containerd")
    if docker is None or containerd is None or pins.is_distributions("docker"):
        return
    for (since, first, source), severity in ((engines.DOCKER_CE_CONTAINERD, REFUSAL), (engines.DOCKER_29_CONTAINERD, WARNING)):
        if not docker.before(since) and containerd.before(first):
            reason = f"docker {docker} needs containerd {first} or later, and {containerd} is pinned"
            yield Found(reason, "docker.containerd", source, severity, _maintained(pins, "containerd", first))
            return


@rule(
    "docker_api",
    severity=WARNING,
    why="Docker 29.0 to 29.2 refuse clients below API 1.44: older Compose, SDKs, community.docker and monitoring say client version is too old.",
    fix="Take docker 29.3 or later, which accept 1.40 again.",
    source=engines.API_144[2],
)
def docker_accepts_clients(pins: PinSet) -> Iterator[Found]:
    """Docker accepts the clients that are around"""
    since, until, source = engines.API_144
    docker = pins.parts.get("docker")
    if docker and not docker.before(since) and docker.before(until):
        severity = NOTE if pins.is_distributions("docker") else WARNING
        reason = f"docker {docker} refuses clients below API 1.44 (29.0 to 29.2 do); {until} accepts 1.40"
        yield Found(reason, "docker.version", source, severity, newer("docker.version", engines.KNOWN["docker"], until))


@rule(
    "engine_cgroup",
    severity=REFUSAL,
    why="Engines before docker 20.10, containerd 1.4 and runc 1.0 do not start containers under cgroup 2.",
    fix="Take a maintained engine.",
    source="runc docs/cgroup-v2.md; moby 20.10 release notes",
)
def engine_knows_cgroup_2(pins: PinSet) -> Iterator[Found]:
    """The engine and its parts know the pool's cgroup version"""
    for name, part in pins.parts.items():
        first = engines.CGROUP_2_SINCE.get(name)
        if pins.cgroup == 2 and first and part.before(first):
            reason = f"{name} {part} does not know cgroup 2: {first} is the first"
            yield Found(reason, pins.part_place(name), changes=_maintained(pins, name, _first_after(name, part)))
