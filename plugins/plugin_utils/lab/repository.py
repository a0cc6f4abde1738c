# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Signed apt repositories below `<state>/repository/<label>`, made of whole `.deb` files."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_of, file_digest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.files import write_text
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab import keys
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.commands import LabError, run
from ansible_collections.goldnode.gpu.plugins.plugin_utils.lab.identity import Lab
from debian.debfile import DebFile

ORIGIN = "goldnode-lab"
COMPONENT = "main"
REVISION = "+goldnode.lab1"
KERNEL_PACKAGE = re.compile(r"linux-(?:image|headers|kbuild)-(\d[^\s,)-]*)")


def repository_dir(lab: Lab, label: str) -> Path:
    return lab.state / "repository" / label


def publish(lab: Lab, label: str, suite: str, debs: Sequence[Path]) -> bool:
    """Make the repository offer exactly `debs`. What clients see changes with the last rename, of InRelease."""
    top = repository_dir(lab, label)
    content = digest_of([suite, sorted((deb.name, file_digest(deb)) for deb in debs)])
    stamp = top / ".content"
    if stamp.is_file() and stamp.read_text() == f"{content}\n":
        return False
    stamp.unlink(missing_ok=True)
    _fill_pool(top / "pool", debs)
    index = top / "dists" / suite / COMPONENT / "binary-amd64"
    write_text(index / "Packages", run(["dpkg-scanpackages", "--multiversion", "pool", "/dev/null"], cwd=top))
    run(["gzip", "--no-name", "--keep", "--force", index / "Packages"])
    _write_release(lab, top / "dists" / suite, label, suite)
    return write_text(stamp, f"{content}\n")


def _fill_pool(pool: Path, debs: Sequence[Path]) -> None:
    pool.mkdir(parents=True, exist_ok=True)
    offered = {deb.name for deb in debs}
    for deb in debs:
        shutil.copyfile(deb, pool / deb.name)
    for stale in pool.glob("*.deb"):
        if stale.name not in offered:
            stale.unlink()


def _write_release(lab: Lab, dist: Path, label: str, suite: str) -> None:
    fields = {"Origin": ORIGIN, "Label": label, "Suite": suite, "Codename": suite, "Components": COMPONENT, "Architectures": "amd64"}
    options = [word for name, value in fields.items() for word in ("-o", f"APT::FTPArchive::Release::{name}={value}")]
    (dist / "Release").unlink(missing_ok=True)
    write_text(dist / "Release", run(["apt-ftparchive", *options, "release", dist]))
    keys.sign_release(lab, dist / "Release")


def later_revision(version: str) -> str:
    """The same upstream version in a later revision of the lab: only what follows the last hyphen changes."""
    if "-" not in version:
        raise LabError(f"version {version} has no Debian revision (no hyphen), so the lab cannot offer a later one of it.")
    return version + REVISION


def repack(deb: Path, into: Path) -> Path:
    """The same package in a later revision, made once; exact dependencies on siblings of the old version follow."""
    name, old = name_and_version(deb)
    new = later_revision(old)
    final = into / deb.name.replace(old.partition(":")[2] or old, new.partition(":")[2] or new)
    if final.exists():
        return final
    tree = into / f".{name}"
    shutil.rmtree(tree, ignore_errors=True)
    run(["dpkg-deb", "--raw-extract", deb, tree])
    control = tree / "DEBIAN/control"
    control.write_text(control.read_text().replace(f"Version: {old}\n", f"Version: {new}\n").replace(f"(= {old})", f"(= {new})"))
    fresh = tree.with_suffix(".new")
    run(["dpkg-deb", "--root-owner-group", "-Zzstd", "-z1", "--build", tree, fresh])
    shutil.rmtree(tree)
    return fresh.rename(final)


def name_and_version(deb: Path) -> tuple[str, str]:
    control = DebFile(str(deb)).debcontrol()
    return control["Package"], control["Version"]


def kernels_of(package: str, depends: str) -> set[str]:
    """Kernels that a package is part of or leads to, without flavour: 6.12.107+deb13 of linux-headers-6.12.107+deb13-common."""
    return set(KERNEL_PACKAGE.findall(f"{package} {depends}"))


def with_kernels(debs: Sequence[Path], offered: Sequence[str]) -> list[Path]:
    """All packages but those of kernels that are not offered."""
    kernels = {deb: _kernels(deb) for deb in debs}
    there = set().union(*kernels.values())
    wanted = {release.rpartition("-")[0]: release for release in offered}
    unknown = sorted(release for kernel, release in wanted.items() if kernel not in there)
    if unknown:
        raise LabError(f"offered_kernels names {', '.join(unknown)}; the lab has packages for {', '.join(sorted(there)) or 'none'}. Name some of these.")
    return [deb for deb in debs if kernels[deb] <= set(wanted)]


def _kernels(deb: Path) -> set[str]:
    control = DebFile(str(deb)).debcontrol()
    return kernels_of(control["Package"], control.get("Depends", ""))


def later(lab: Lab, debs: Sequence[Path], names: Sequence[str]) -> list[Path]:
    """Later lab revisions of the packages of that name, made once."""
    into = lab.state / "later_packages"
    into.mkdir(parents=True, exist_ok=True)
    found = [deb for deb in debs if deb.name.partition("_")[0] in names]
    return [repack(deb, into) for deb in found]
