# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The container toolkit, its configuration and its CDI specs."""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import cdi, docker, nvidia, toml
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import fact
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.engine import EngineFacts

# The toolkit's packages, as Debian, RPM, Arch and openSUSE name them.
PACKAGE = re.compile(
    r"\b(libnvidia-container(?:1|-tools)?|nvidia-container-toolkit(?:-base)?|nvidia-container-runtime|nvidia-docker2)(?::\w+)?(?:/\S+)?[ \t|-]+(\d[\w.+~:-]*)"
)
# What config.toml sets (NVIDIA/nvidia-container-toolkit api/config/v1); an excerpt may show a table's keys without its heading.
SETTINGS = frozenset(
    [
        "accept-nvidia-visible-devices-as-volume-mounts",
        "accept-nvidia-visible-devices-envvar-when-unprivileged",
        "disable-require",
        "swarm-resource",
        "supported-driver-capabilities",
        "features",
        "nvidia-container-cli",
        "nvidia-container-runtime",
        "nvidia-container-runtime-hook",
        "nvidia-ctk",
        "root",
        "path",
        "environment",
        "debug",
        "ldcache",
        "ldconfig",
        "load-kmods",
        "no-cgroups",
        "no-pivot",
        "user",
        "log-level",
        "mode",
        "modes",
        "runtimes",
    ]
)
LISTINGS = ("dpkg_l", "rpm_qa", "pacman_q", "apt_list")
# What a package manager says about a package that is not there.
NOT_INSTALLED = r"(?:no packages? found matching|package) '?nvidia-container-toolkit(?:'| is not installed|\s|$)|^un\s+nvidia-container-toolkit\s"


class ContainerToolkitFacts(EngineFacts):
    """The container toolkit, its configuration and its CDI specs."""

    @fact
    def toolkit_packages(self) -> dict[str, str]:
        """The toolkit's installed packages, by name -> version, whichever package manager listed them."""
        found: dict[str, str] = {name: package.version for name, package in (self.packages or {}).items() if package.installed and PACKAGE.match(f"{name} 0")}
        for listing in LISTINGS[1:]:
            found.update(PACKAGE.findall(self.bundle.text(listing) or ""))
        return self.known(found or None)

    @fact
    def toolkit_version(self) -> str | None:
        """Version of the toolkit: nvidia-ctk's own, its packages', nvidia-container-cli's or a stated one."""
        for probe in ("nvidia_ctk_version", "nvidia_container_cli_version"):
            if version := nvidia.tool_version(self.bundle.text(probe) or ""):
                return version
        packages = self.toolkit_packages or {}
        stated = self.bundle.stated.get("container_toolkit_version")
        first = next(
            (
                docker.upstream(packages[name])
                for name in ("nvidia-container-toolkit", "nvidia-container-toolkit-base", "libnvidia-container1")
                if name in packages
            ),
            None,
        )
        return first or (str(stated) if stated else None)

    @fact
    def toolkit_absent(self) -> bool | None:
        """Whether it was looked for and is not there; not known where nobody looked."""
        if self.toolkit_version or self.toolkit_packages:
            return False
        said = "\n".join(filter(None, (self.bundle.output(listing) for listing in LISTINGS)))
        if any(self.bundle.absent(probe) for probe in ("nvidia_ctk_version", "nvidia_container_cli_version")) or re.search(NOT_INSTALLED, said, re.M):
            return True
        if "command not found" in (self.bundle.output("nvidia_ctk_version") or ""):
            return True
        return True if any(self.bundle.complete(listing) and self.bundle.text(listing) for listing in LISTINGS) else None

    @fact
    def toolkit_settings(self) -> toml.Settings:
        """config.toml, path -> value; what is commented out is not there. A whole file that sets nothing leaves the defaults."""
        found = toml.settings(self.need("toolkit_config"))
        known = any(SETTINGS.intersection(path) for path in found)
        return found if known or (not found and self.bundle.complete("toolkit_config")) else self.known(None)

    def toolkit_setting(self, table: str, key: str) -> Any:
        """One value of config.toml; None where it is not set or the file was not seen."""
        return toml.setting(self.toolkit_settings or {}, *table.split("."), key)

    @fact
    def cdi_files(self) -> tuple[cdi.CdiSpec, ...]:
        """Each file with a CDI spec of NVIDIA's, also excerpts that do not say what they are for: good for what they name, not for what they lack."""
        specs = tuple(cdi.cdi_spec(path, text) for path, text in self.known(self.bundle.files("cdi_specs")).items())
        if any(spec.names_nothing for spec in specs):
            return self.known(None)
        return cdi.effective(tuple(spec for spec in specs if not spec.kind or "nvidia.com/" in spec.kind))

    @fact
    def cdi_specs(self) -> tuple[cdi.CdiSpec, ...]:
        """NVIDIA's CDI specs that count, of whatever file; not known where a file is only an excerpt that does not say what it is for."""
        specs: tuple[cdi.CdiSpec, ...] = self.known(self.cdi_files)
        return self.known(None) if any(not spec.kind for spec in specs) else tuple(spec for spec in specs if spec.kind.startswith("nvidia.com/"))

    @fact
    def cdi_listed(self) -> tuple[str, ...]:
        """The devices that `nvidia-ctk cdi list` names."""
        words = (line.split()[-1] for line in self.need("cdi_list").splitlines() if len(line.split()) == 1 or line.split()[:1] == ["cdi:"])
        return tuple(word for word in words if re.search(r"nvidia\.com/[^=\s]+=.", word))

    @fact
    def host_driver_version(self) -> str | None:
        """The driver's version on the host: of the loaded module, of its user space, as stated, or in the names of its libraries."""
        stated = self.bundle.stated.get("driver_version")
        named = self.host_library_versions or re.findall(r"\.so\." + nvidia.VERSION, str(self.bundle.stated.get("ls_driver_libs", "")))
        return self.loaded_module_version or self.library_version or (str(stated) if stated else None) or (named[0] if len(named) == 1 else None)
