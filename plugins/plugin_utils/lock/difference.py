# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What changes from one lock to the next, in words for a reviewer, and what a node needs for it. Pure.

What a change needs is from NVIDIA's driver installation guide (module and user space move together, by a reboot), its MIG guide (a new driver
starts without the instances) and Docker's manual (a new daemon ends its containers unless live-restore is on).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import short
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.document import LAYERS
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.families import DRIVER, ENGINE, KERNEL, TOOLKIT, is_tool
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.versions import upstream

DRAIN, REBOOT, MIG = "drain", "reboot", "MIG layout again"
NEEDS = (DRAIN, REBOOT, MIG)

# What a person calls a pin, by the layer whose packages follow from it.
_PINNED: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    KERNEL: (("kernel", ("kernel", "version")),),
    DRIVER: (
        ("driver", ("nvidia_driver", "version")),
        ("kernel modules of the driver", ("nvidia_driver", "modules")),
        ("build of the driver's modules", ("nvidia_driver", "build")),
        ("fabric manager", ("fabric_manager", "version")),
        ("NVLink subnet manager", ("nvlsm", "version")),
        ("IMEX", ("imex", "version")),
        ("other modules", ("extra_modules",)),
    ),
    TOOLKIT: (("container toolkit", ("container_toolkit", "version")),),
    ENGINE: (
        ("engine", ("container_engine",)),
        ("Docker", ("docker", "version")),
        ("containerd", ("docker", "containerd")),
        ("runc", ("docker", "runc")),
        ("containerd", ("containerd", "version")),
        ("runc", ("containerd", "runc")),
        ("Podman", ("podman", "version")),
    ),
}
_PLATFORM = ("os", "gpus", "mig")
_IDENTITY = {"key_fingerprint": "SIGNED BY ANOTHER KEY", "uris": "address", "suites": "suite", "components": "components", "origin": "origin", "label": "label"}


class Difference(NamedTuple):
    """One change: `about` is a layer, `platform`, `images` or `repositories`; `needs` are some of NEEDS."""

    about: str
    words: str
    needs: tuple[str, ...] = ()


def differences(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[Difference]:
    """All that a node, or the trust in what it gets, would notice; empty for equal content."""
    found = [*_platform(new, old)]
    for layer in LAYERS:
        found += _layer(layer, new, old)
    return [*found, *_images(new, old), *_repositories(new, old)]


def needs_of(found: Sequence[Difference]) -> list[str]:
    """What the changes need together, in the order in which it is done."""
    return [need for need in NEEDS if any(need in one.needs for one in found)]


def summary(lock: Mapping[str, Any], former: Mapping[str, Any] | None) -> list[str]:
    """Lines for a person: all that a first lock holds, else what it changes and what that needs."""
    if former is None:
        return [line for layer in LAYERS for line in _layer_lines(layer, lock)]
    if former == lock:
        return ["nothing changed"]
    return lines(differences(lock, former)) or ["pins.yml was written otherwise, with the same result"]


def lines(found: Sequence[Difference]) -> list[str]:
    """One line for each difference, and one for what they need."""
    if not found:
        return []
    return [*(f"{one.about:<17}  {one.words}" for one in found), f"{'needs':<17}  {', '.join(needs_of(found)) or 'no drain and no reboot'}"]


def _layer_lines(layer: str, lock: Mapping[str, Any]) -> list[str]:
    return [f"{layer:<17}  {one['name']:<44} {one['version']:<36} {one['repository']}" for one in lock["packages"] if one["layer"] == layer]


def _platform(new: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[Difference]:
    for key in _PLATFORM:
        after, before = new["pins"].get(key), old["pins"].get(key)
        if after != before:
            yield Difference("platform", f"{key}: {_shown(before)} -> {_shown(after)}", (DRAIN, REBOOT))


def _layer(layer: str, new: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[Difference]:
    after, before = _packages(layer, new), _packages(layer, old)
    moves = [(title, _at(old, path), _at(new, path)) for title, path in _PINNED[layer] if _at(old, path) != _at(new, path)]
    explained = {name for name in after.keys() | before.keys() if _is_explained(layer, before.get(name), after.get(name), moves)}
    count = len(explained & after.keys())
    needs = _needs(layer, new)
    for index, (title, was, now) in enumerate(moves):
        packages = f" ({count} package{'s' * (count != 1)})" if index == 0 and count else ""
        yield Difference(layer, f"{title} {_shown(was)} -> {_shown(now)}{packages}", needs)
    for name in sorted((after.keys() | before.keys()) - explained):
        words = _package_words(name, before.get(name), after.get(name))
        if words:
            yield Difference(layer, words, () if is_tool(name) else needs)


def _needs(layer: str, lock: Mapping[str, Any]) -> tuple[str, ...]:
    if layer == TOOLKIT:
        return ()
    again = (MIG,) if layer == DRIVER and lock["pins"].get("mig") else ()
    return (DRAIN,) if layer == ENGINE else (DRAIN, REBOOT, *again)


def _is_explained(layer: str, was: Mapping[str, Any] | None, now: Mapping[str, Any] | None, moves: Sequence[tuple[str, Any, Any]]) -> bool:
    """Whether a package only follows a pin: a kernel's packages carry its release in their names, or RPM's in their versions; the others the pinned version."""
    if layer == KERNEL:
        # there is one kernel pin
        return any(was is None or now is None or (_is_release(was, before) and _is_release(now, after)) for _, before, after in moves)
    versions = {was and _version(was), now and _version(now)}
    return any({before, after} == versions for _, before, after in moves)


def _is_release(package: Mapping[str, Any], release: str) -> bool:
    return release.startswith(package["version"])


def _version(package: Mapping[str, Any]) -> str:
    return upstream(package["version"])


def _package_words(name: str, was: Mapping[str, Any] | None, now: Mapping[str, Any] | None) -> str | None:
    if was is None or now is None:
        one = was or now or {}
        return f"{name} {one['version']} {'is no longer part' if now is None else 'is new'}"
    if was["version"] != now["version"]:
        return f"{name} {was['version']} -> {now['version']}"
    if was["sha256"] != now["sha256"]:
        return f"{name} {now['version']}: OTHER CONTENT under the same version (SHA-256 {was['sha256'][:12]} -> {now['sha256'][:12]}); ask who rebuilt it"
    if was["repository"] != now["repository"]:
        return f"{name} {now['version']}: the same file, now from repository {now['repository']} instead of {was['repository']}"
    return None


def _images(new: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[Difference]:
    after, before = _by_image(new), _by_image(old)
    for use, name in sorted(after.keys() | before.keys()):
        was, now = before.get((use, name)), after.get((use, name))
        if was != now:
            yield Difference("images", f"{use} image {name} {short(was) if was else 'none'} -> {short(now) if now else 'none'}")


def _by_image(lock: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """(use, name) -> digest; the name has its tag where a lock has several images of one name."""
    names = [(one["use"], _image_name(one["reference"])) for one in lock["images"]]
    tagged = [(one["use"], one["reference"].partition("@")[0]) for one in lock["images"]]
    return {(name if names.count(name) == 1 else tag): one["digest"] for name, tag, one in zip(names, tagged, lock["images"])}


def _image_name(reference: str) -> str:
    head, slash, last = reference.partition("@")[0].rpartition("/")
    return f"{head}{slash}{last.partition(':')[0]}"


def _repositories(new: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[Difference]:
    after, before = ({one["name"]: one for one in lock["repositories"]} for lock in (new, old))
    for name in sorted(after.keys() | before.keys()):
        was, now = before.get(name), after.get(name)
        if was is None or now is None:
            yield Difference("repositories", f"{name} {'is no longer used' if now is None else 'is new: ' + now['uris'][0]}")
        else:
            yield from (Difference("repositories", f"{name}: {words}") for words in _repository_words(was, now))


def _repository_words(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for key, title in _IDENTITY.items():
        if was[key] != now[key]:
            yield f"{title}: {_shown(was[key])} -> {_shown(now[key])}"
    if was["snapshot"] != now["snapshot"]:
        yield f"index of {was['date'][:10]} -> {now['date'][:10]}"


def _packages(layer: str, lock: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {one["name"]: one for one in lock["packages"] if one["layer"] == layer}


def _at(lock: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = lock["pins"]
    for key in path:
        value = (value or {}).get(key)
    return value


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{value[key]}" for key in value)
    if isinstance(value, list):
        return " + ".join(_shown(one) for one in value) or "none"
    return "none" if value is None else str(value)
