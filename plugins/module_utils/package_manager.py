# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What installs packages, as the modules call it: one method per question or change, by apt with dpkg or by dnf 4 with rpm.

dnf is asked for its plan through its Python bindings, since what it prints is a table for people; whatever changes something is a command.
dnf installs the very files that were compared with the lock, with every repository off: nothing else can come along.
"""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from ansible_collections.goldnode.gpu.plugins.module_utils.kernel_module import deciding_line
from ansible_collections.goldnode.gpu.plugins.module_utils.knowledge.package_families import PACKAGE_GLOBS
from ansible_collections.goldnode.gpu.plugins.module_utils.node_files import text_of, write
from ansible_collections.goldnode.gpu.plugins.module_utils.package_lock import Package, duplicates, merged, preferences_text
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import apt, dnf, dpkg, rpm
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError

ENVIRONMENT = {"LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive", "NEEDRESTART_SUSPEND": "1"}
ARCHIVES = Path("/var/cache/goldnode/archives")
# Configuration files that a person changed stay as they are; a lock that another apt holds is waited for.
OPTIONS = ("-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold", "-o", "DPkg::Lock::Timeout=300")
INSTALL = ("--yes", "--no-install-recommends", "--allow-downgrades", "--allow-change-held-packages", "-o", f"Dir::Cache::Archives={ARCHIVES}")
LOCKS = Path("/etc/dnf/plugins/versionlock.list")
CONFIGURATION = Path("/etc/dnf/dnf.conf")
# The excludes in dnf.conf are against everybody else; a kernel that is installed never pushes out the one to fall back to.
OPTIONS_DNF = ("--setopt=disable_excludes=main", "--setopt=installonly_limit=0")
# Before a change the list has the former lock's entries.
OWN_WAY = (*OPTIONS_DNF, "--disableplugin=versionlock")


class PackageManager(ABC):
    """One node's package manager. Versions are as the lock has them, keys are `name:architecture`."""

    def __init__(self, run_command: Callable[..., tuple[int, str, str]]) -> None:
        self._run_command = run_command

    @abstractmethod
    def installed(self, packages: Sequence[Package]) -> dict[str, dpkg.Installed]:
        """What is installed, by key; of the `packages` at least."""

    @abstractmethod
    def index(self, packages: Sequence[Package]) -> dict[str, list[str]]:
        """The versions that the repositories have, by name."""

    @abstractmethod
    def refresh_index(self) -> None:
        """Reads the repositories again."""

    @abstractmethod
    def simulate(self, packages: Sequence[Package]) -> tuple[apt.Step, ...]:
        """What the transaction would do; nothing is changed."""

    @abstractmethod
    def download(self, packages: Sequence[Package], moved: Sequence[Package]) -> None:
        """Fetches every artefact of the transaction to ARCHIVES."""

    @abstractmethod
    def artefact(self, package: Package) -> Path:
        """Where `download` puts the package's file."""

    @abstractmethod
    def finish_interrupted(self, packages: Sequence[Package]) -> None:
        """Repairs what a killed run left half done."""

    @abstractmethod
    def install(self, packages: Sequence[Package]) -> None:
        """Runs the transaction and holds the packages."""

    @abstractmethod
    def hold(self, packages: Sequence[Package]) -> None:
        """Holds the packages at their versions."""

    @abstractmethod
    def guards(self, layer: str, packages: Sequence[Package]) -> dict[Path, str]:
        """Files, with their content, that keep other versions and the rest of the family out."""


class Apt(PackageManager):
    """apt and dpkg of this node; every failure is a RefusedError with their own words."""

    def _run(self, *argv: str, cwd: Path | None = None) -> str:
        rc, stdout, stderr = self._run_command(list(argv), environ_update=ENVIRONMENT, cwd=cwd and str(cwd))
        if rc != 0:
            log = apt.consulted_log(stdout)
            reason = f"; {log} says: {deciding_line(text_of(Path(log)))}" if log else ""
            raise RefusedError(f"{argv[0]} {argv[1]} failed: {apt.error_text(stderr + stdout)}{reason}")
        return stdout

    def installed(self, _packages: Sequence[Package]) -> dict[str, dpkg.Installed]:
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

    def artefact(self, package: Package) -> Path:
        """Where `download` puts the package's file."""
        return ARCHIVES / package.archive

    def finish_interrupted(self, _packages: Sequence[Package]) -> None:
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

    def guards(self, layer: str, packages: Sequence[Package]) -> dict[Path, str]:
        """apt's preferences of the layer."""
        return {Path(f"/etc/apt/preferences.d/goldnode-{layer}"): preferences_text(layer, packages)}


class Dnf(PackageManager):
    """dnf 4 and rpm of this node (RHEL 8 to 10 and rebuilds, Amazon Linux 2023); every failure is a RefusedError with their own words."""

    def _run(self, *argv: str) -> str:
        rc, stdout, stderr = self._run_command(list(argv), environ_update={"LC_ALL": "C"})
        if rc != 0:
            raise RefusedError(f"{argv[0]} {argv[1]} failed: {dnf.error_text(stdout + stderr)}")
        return stdout

    def installed(self, packages: Sequence[Package]) -> dict[str, dpkg.Installed]:
        """What rpm knows of the packages, and whether versionlock's list has them."""
        return merged(packages, self._versions(), text_of(LOCKS).splitlines())

    def _versions(self) -> dict[str, list[str]]:
        return rpm.parse_versions(self._run("rpm", "--query", "--all", f"--queryformat={rpm.FORMAT}"))

    def index(self, packages: Sequence[Package]) -> dict[str, list[str]]:
        """The versions that the repositories have, by name."""
        names = [package.name for package in packages]
        return dnf.parse_available(self._run("dnf", "repoquery", *OWN_WAY, "--quiet", "--assumeyes", "--queryformat=%{name} %{evr}", *names))

    def refresh_index(self) -> None:
        """Reads the repositories again."""
        self._run("dnf", "makecache", "--assumeyes")

    def simulate(self, packages: Sequence[Package]) -> tuple[apt.Step, ...]:
        """What dnf would do; nothing is changed. No plugin is loaded, so versionlock's older entries do not count."""
        try:
            bindings = import_module("dnf")
        except ImportError:
            raise RefusedError("this Python has no module dnf; set ansible_python_interpreter to the system's own, /usr/bin/python3") from None
        with bindings.Base() as base:
            base.conf.substitutions.update_from_etc(base.conf.installroot)
            base.conf.read()
            base.conf.disable_excludes, base.conf.installonly_limit, base.conf.assumeyes = ["main"], 0, True
            try:
                base.read_all_repos()
                base.fill_sack()
                for package in packages:
                    base.install(package.nevra)
                base.resolve()
            except bindings.exceptions.Error as error:
                raise RefusedError(f"dnf refuses the transaction, nothing was changed: {'; '.join(str(error).split(chr(10)))}") from None
            old = {package.name: package.evr for package in base.transaction.remove_set}
            new = {package.name: package.evr for package in base.transaction.install_set}
        return tuple(apt.Step(name, old.get(name), new.get(name)) for name in sorted(old.keys() | new.keys()))

    def download(self, packages: Sequence[Package], _moved: Sequence[Package]) -> None:
        """Fetches every file of the transaction to ARCHIVES, and nothing else is there."""
        shutil.rmtree(ARCHIVES, ignore_errors=True)
        ARCHIVES.mkdir(parents=True)
        self._run("dnf", "install", *OWN_WAY, "--assumeyes", "--downloadonly", f"--downloaddir={ARCHIVES}", *[package.nevra for package in packages])

    def artefact(self, package: Package) -> Path:
        """Where `download` puts the package's file; a repository may call the file as it likes, createrepo's name is the package's own."""
        return ARCHIVES / f"{package.nvra}.rpm"

    def finish_interrupted(self, packages: Sequence[Package]) -> None:
        """Ends an upgrade that a kill left half done: where the locked version is in rpm's database, the other that it replaces goes."""
        for name in duplicates(packages, self._versions()):
            self._run("rpm", "--erase", "--nodeps", "--noscripts", name)

    def install(self, packages: Sequence[Package]) -> None:
        """Runs the transaction that was simulated, out of the files in ARCHIVES alone, under the new locks."""
        self.hold(packages)
        files = [str(path) for path in sorted(ARCHIVES.glob("*.rpm"))]
        self._run("dnf", "install", *OPTIONS_DNF, "--assumeyes", "--disablerepo=*", "--setopt=localpkg_gpgcheck=1", *files)
        shutil.rmtree(ARCHIVES)

    def hold(self, packages: Sequence[Package]) -> None:
        """Writes the packages to versionlock's list; refuses where the plugin that reads it is missing."""
        self._run("dnf", "versionlock", "list", "--quiet")
        entries = [rpm.lock_entry(package.name, package.version, package.architecture) for package in packages]
        write(LOCKS, rpm.with_entries(text_of(LOCKS), entries))

    def guards(self, layer: str, _packages: Sequence[Package]) -> dict[Path, str]:
        """dnf.conf, in which the whole family is excluded: also what no lock names yet, of another branch for instance."""
        return {CONFIGURATION: dnf.with_excludes(text_of(CONFIGURATION), PACKAGE_GLOBS[layer])}


MANAGERS: dict[str, type[PackageManager]] = {"apt": Apt, "dnf": Dnf}
