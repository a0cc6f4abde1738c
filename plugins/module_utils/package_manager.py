# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""apt and dpkg as the modules call them: one method per question or change."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.module_utils.kernel_module import deciding_line
from ansible_collections.goldnode.gpu.plugins.module_utils.node_files import text_of
from ansible_collections.goldnode.gpu.plugins.module_utils.package_lock import Package
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import apt, dpkg
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError

ENVIRONMENT = {"LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive", "NEEDRESTART_SUSPEND": "1"}
ARCHIVES = Path("/var/cache/goldnode/archives")
# Configuration files that a person changed stay as they are; a lock that another apt holds is waited for.
OPTIONS = ("-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold", "-o", "DPkg::Lock::Timeout=300")
INSTALL = ("--yes", "--no-install-recommends", "--allow-downgrades", "--allow-change-held-packages", "-o", f"Dir::Cache::Archives={ARCHIVES}")


class PackageManager:
    """apt and dpkg of this node; every failure is a RefusedError with their own words."""

    def __init__(self, run_command: Callable[..., tuple[int, str, str]]) -> None:
        self._run_command = run_command

    def _run(self, *argv: str, cwd: Path | None = None) -> str:
        rc, stdout, stderr = self._run_command(list(argv), environ_update=ENVIRONMENT, cwd=cwd and str(cwd))
        if rc != 0:
            log = apt.consulted_log(stdout)
            reason = f"; {log} says: {deciding_line(text_of(Path(log)))}" if log else ""
            raise RefusedError(f"{argv[0]} {argv[1]} failed: {apt.error_text(stderr + stdout)}{reason}")
        return stdout

    def installed(self) -> dict[str, dpkg.Installed]:
        """What dpkg knows, by `name:architecture`."""
        return dpkg.parse_installed(self._run("dpkg-query", "--show", f"--showformat={dpkg.FORMAT}"))

    def index(self, packages: Sequence[Package]) -> dict[str, list[str]]:
        """The versions that the repositories have, by name."""
        return apt.parse_madison(self._run("apt-cache", "madison", *[package.name for package in packages]))

    def refresh_index(self) -> None:
        """Reads the repositories again."""
        # Without --error-on=any a signature that fails is only a warning, and the old index stays (seen with apt 3.0).
        self._run("apt-get", "update", "--error-on=any", *OPTIONS)

    def simulate(self, packages: Sequence[Package]) -> tuple[apt.Step, ...]:
        """What apt would do; nothing is changed."""
        return apt.parse_simulation(self._run("apt-get", "install", "--simulate", *INSTALL, *[package.argument for package in packages]))

    def download(self, packages: Sequence[Package], moved: Sequence[Package]) -> None:
        """Fetches every artefact of the transaction to ARCHIVES: those of the lock by name, their dependencies as apt resolves them."""
        (ARCHIVES / "partial").mkdir(parents=True, exist_ok=True)
        self._run("apt-get", "download", *OPTIONS, *[package.argument for package in moved], cwd=ARCHIVES)
        self._run("apt-get", "install", "--download-only", *OPTIONS, *INSTALL, *[package.argument for package in packages])

    def finish_interrupted(self) -> None:
        """Configures what a killed run left unpacked, or apt refuses to start; what lacks its siblings yet is apt's to finish."""
        self._run_command(["dpkg", "--configure", "--pending", "--force-confdef", "--force-confold"], environ_update=ENVIRONMENT)

    def install(self, packages: Sequence[Package]) -> None:
        """Runs the transaction that was simulated; apt itself refuses if it would now remove something.

        What arrived is held also where a package's own script fails, a DKMS build for instance: changing a held package clears its hold.
        """
        try:
            self._run("apt-get", "install", "--no-remove", *OPTIONS, *INSTALL, *[package.argument for package in packages])
        finally:
            self.hold(packages)
        shutil.rmtree(ARCHIVES)

    def hold(self, packages: Sequence[Package]) -> None:
        """Holds the packages."""
        self._run("apt-mark", "hold", *[package.name for package in packages])
