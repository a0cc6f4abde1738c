# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Builds all stand-in packages into one folder, once for each content of their sources."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.goldnode.gpu.plugins.plugin_utils.digest import digest_of, file_digest
from ansible_collections.goldnode.gpu.plugins.plugin_utils.simulated_gpu import catalogue, deb

STAMP = "sources.digest"


def compiler_version() -> str:
    """Another compiler may give other bytes, so it is one of the sources."""
    try:
        return subprocess.run(["gcc", "-dumpfullversion", "-dumpmachine"], capture_output=True, text=True, check=True).stdout
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        raise deb.BuildError("gcc is not installed on this machine or does not run: install it (make setup) and run again") from error


def sources_digest(sources: Path) -> str:
    """One digest over every source file, this builder and the compiler."""
    builder = sorted(Path(__file__).parent.glob("*.py"))
    files = sorted(path for path in sources.rglob("*") if path.is_file() and path.parent.name != "__pycache__")
    names = {str(path.relative_to(sources)): file_digest(path) for path in files}
    return digest_of({"sources": names, "builder": [file_digest(path) for path in builder], "compiler": compiler_version()})


def read_catalogue(sources: Path) -> dict[str, Any]:
    """The parsed `catalogue.yml`."""
    content: dict[str, Any] = yaml.safe_load((sources / "catalogue.yml").read_text())
    return content


def up_to_date(target: Path, digest: str) -> bool:
    """Was `target` built from exactly these sources? The stamp is written last."""
    stamp = target / STAMP
    return stamp.exists() and stamp.read_text().strip() == digest


def build_all(sources: Path, target: Path, digest: str) -> list[str]:
    """Build every package beside `target`, then put the new folder in its place. Returns paths relative to it."""
    content = read_catalogue(sources)
    target.parent.mkdir(parents=True, exist_ok=True)
    for left_over in target.parent.glob(f".{target.name}.*"):
        shutil.rmtree(left_over)
    new = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        new.chmod(0o755)
        with tempfile.TemporaryDirectory() as scratch:
            built = [deb.build(package, sources, Path(scratch), new, content["build_time"]) for package in catalogue.packages(content)]
        (new / STAMP).write_text(f"{digest}\n")
        shutil.rmtree(target, ignore_errors=True)
        new.rename(target)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return sorted(str(path.relative_to(new)) for path in built)


def present(sources: Path, target: Path, check: bool = False) -> bool:
    """Make `target` hold the packages of these sources; True where that changed something."""
    digest = sources_digest(sources)
    if up_to_date(target, digest):
        return False
    if not check:
        build_all(sources, target, digest)
    return True


def listed(target: Path) -> list[str]:
    """The packages below `target`, relative to it, sorted."""
    return sorted(str(path.relative_to(target)) for path in target.rglob("*.deb"))
