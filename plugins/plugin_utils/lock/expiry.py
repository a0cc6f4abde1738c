# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which locked packages have left their archive, or are about to, and how to save them.

Debian's and Ubuntu's archives keep the newest version of a package in a suite and drop the others within days; NVIDIA's and Docker's repositories
keep old versions, and so do Red Hat's; AlmaLinux and Rocky move a minor release to their vaults when the next one comes.
Sources: ftp-master.debian.org (dak), help.ubuntu.com; NVIDIA driver installation guide, docs.docker.com (2026).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import short
from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.catalogue import Catalogue, Package
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.families import ORDERS
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lock.versions import Order, nearest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.reports import aligned

THERE, SUPERSEDED, CHANGED, GONE = "there", "superseded", "changed", "gone"
# The worst first.
STATES = (GONE, CHANGED, SUPERSEDED, THERE)
SCHEMA = "goldnode.check_expiry/v1"
# Origin -> its snapshot service, {stamp} as in 20261128T081213Z (snapshot.debian.org, snapshot.ubuntu.com).
SNAPSHOTS = {"Debian": "https://snapshot.debian.org/archive/{archive}/{stamp}", "Ubuntu": "https://snapshot.ubuntu.com/ubuntu/{stamp}"}
# Label -> the archive of its own that Debian keeps it in; all else is in `debian`.
ARCHIVES = {"Debian-Security": "debian-security"}
_KERNEL = re.compile(r"^(linux-[a-z]+(?:-[a-z]+)*?)-(\d[^-]*(?:-\d+)?)(?:-(.+))?$")


class Standing(NamedTuple):
    """One locked package in its archive: `newer` is what superseded it or is there instead, `url` from where it can be saved ("" from nowhere known)."""

    name: str
    version: str
    repository: str
    state: str
    newer: str
    url: str
    sha256: str


def standings(lock: Mapping[str, Any], offered: Iterable[Package]) -> list[Standing]:
    """Each locked package against what the repositories offer now; the worst first, then by name."""
    catalogue = Catalogue(offered)
    repositories = {one["name"]: one for one in lock["repositories"]}
    order = ORDERS[lock["pins"]["os"]["distribution"]]
    found = [_standing(package, repositories[package["repository"]], catalogue, order) for package in lock["packages"]]
    return sorted(found, key=lambda one: (STATES.index(one.state), one.name))


def _standing(locked: Mapping[str, Any], repository: Mapping[str, Any], catalogue: Catalogue, order: Order) -> Standing:
    here = [one for one in catalogue.named(locked["name"]) if one.repository == locked["repository"]]
    same = [one for one in here if one.version == locked["version"]]
    newer = _newer(locked, here, catalogue, order)
    if any(one.sha256 == locked["sha256"] for one in same):
        state, url = (SUPERSEDED if newer else THERE), _join(repository["uris"][0], locked["filename"])
    elif same:
        state, newer, url = CHANGED, f"{locked['version']} with SHA-256 {same[0].sha256[:12]}", snapshot_url(locked, repository)
    else:
        state, newer, url = GONE, newer or _there(locked, here, order), snapshot_url(locked, repository)
    return Standing(locked["name"], locked["version"], locked["repository"], state, newer, url, locked["sha256"])


def _newer(locked: Mapping[str, Any], here: Sequence[Package], catalogue: Catalogue, order: Order) -> str:
    """The version that supersedes a locked one, "" if none does; a kernel's packages are superseded by those of a later release."""
    higher = [one.version for one in here if one.key > order.key(locked["version"])]
    if higher:
        return higher[0]
    kernel = _KERNEL.match(locked["name"])
    if kernel is None:
        return ""
    later = [name for name in catalogue.names() if _is_later_kernel(kernel, name, order)]
    return max((name for name in later if any(one.repository == locked["repository"] for one in catalogue.named(name))), key=order.key, default="")


def _is_later_kernel(kernel: re.Match[str], name: str, order: Order) -> bool:
    other = _KERNEL.match(name)
    return other is not None and (other[1], other[3]) == (kernel[1], kernel[3]) and order.key(other[2]) > order.key(kernel[2])


def _there(locked: Mapping[str, Any], here: Sequence[Package], order: Order) -> str:
    return ", ".join(nearest(locked["version"], [one.version for one in here], order.key)) or "none"


def snapshot_url(locked: Mapping[str, Any], repository: Mapping[str, Any]) -> str:
    """Where an archive's snapshot service keeps the file as of the lock's index."""
    service = SNAPSHOTS.get(repository["origin"])
    stamp = re.sub(r"[-:]", "", repository["date"])
    return _join(service.format(archive=ARCHIVES.get(repository["label"], "debian"), stamp=stamp), locked["filename"]) if service else ""


def _join(base: str, path: str) -> str:
    return f"{base.rstrip('/')}/{path.lstrip('./')}"


def result_of(lock: Mapping[str, Any], found: Sequence[Standing]) -> dict[str, Any]:
    """What check_expiry leaves: `fail` where an artefact is gone or changed, since no node could be made from the lock any more."""
    count = {state: sum(one.state == state for one in found) for state in STATES}
    return {
        "schema": SCHEMA,
        "outcome": "fail" if count[GONE] or count[CHANGED] else "pass",
        "pool": lock["pool"],
        "lock_digest": lock["digest"],
        "count": count,
        "packages": [one._asdict() for one in found],
    }


def page(result: Mapping[str, Any], found: Sequence[Standing]) -> list[str]:
    """What is at risk as a table, and one closing line that says how to save it."""
    risky = [one for one in found if one.state != THERE]
    rows = [("package", "locked", "state", "there now", "repository"), *((one.name, one.version, one.state, one.newer, one.repository) for one in risky)]
    said = ", ".join(f"{count} {state}" for state, count in result["count"].items())
    saving = f"ansible-playbook goldnode.gpu.mirror_packages -e pool={result['pool']} -e mirror=<folder> -e signing_key=<file>"
    save = f". Save what can still be fetched: {saving}" if any(one.url for one in risky) else ""
    table = [*aligned(rows), ""] if risky else []
    return [f"pool {result['pool']} · lock {short(result['lock_digest'])}", "", *table, f"{result['outcome']}: of {len(found)} packages {said}{save}"]


def write_result(lock: Mapping[str, Any], found: Sequence[Standing], place: Path) -> tuple[dict[str, Any], list[str]]:
    """Leaves result.json and page.txt in `place`; the result and the page's lines."""
    result = result_of(lock, found)
    lines = page(result, found)
    write_text(place / "page.txt", "\n".join(lines) + "\n")
    write_text(place / "result.json", json.dumps(result, indent=1) + "\n")
    return result, lines
