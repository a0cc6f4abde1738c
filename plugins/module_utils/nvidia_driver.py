# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""NVIDIA's kernel module on this node: one method per question or change."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ansible_collections.goldnode.gpu.plugins.module_utils import driver_fit, kernel_module, node_files, secure_boot
from ansible_collections.goldnode.gpu.plugins.module_utils.driver_services import MONITORS, holders, holders_sentence, paused
from ansible_collections.goldnode.gpu.plugins.module_utils.kernel_module import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import linux
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError


class Driver:
    """The module's tools, for one kernel and version. `params` are those of the module nvidia_module; a refusal is a RefusedError."""

    def __init__(self, run_command: Callable[..., tuple[int, str, str]], params: Mapping[str, Any]) -> None:
        self.run_command, self.params = run_command, params
        self.wanted = Wanted(self.params["version"], self.params["kernel"], self.params["modules"], serial_in(self.params["certificate"]))
        self.procfs = node_files.procfs_of(self.params["probe_args"])

    def run(self, *argv: str) -> str:
        """What a program prints, whatever its end; the proof looks at the result."""
        _rc, stdout, stderr = self.run_command(list(argv))
        return stdout + stderr

    def modinfo(self) -> dict[str, str]:
        """The module on disk. Empty where there is none."""
        return linux.modinfo(self.modinfo_text())

    def modinfo_text(self) -> str:
        """Debian's file has a name of its own."""
        for name in kernel_module.FILE_NAMES:
            rc, stdout, _err = self.run_command(["modinfo", "--set-version", self.wanted.kernel, name])
            if rc == 0:
                return stdout
        return ""

    def flaw(self) -> str | None:
        return kernel_module.flaw(self.modinfo(), self.wanted)

    def build(self) -> None:
        said = self.run("dkms", "autoinstall", "--kernelver", self.wanted.kernel)
        name = kernel_module.dkms_name(self.run("dkms", "status"), self.wanted.version)
        # autoinstall leaves alone what is there, though it be unsigned or of the other kind; dkms builds nothing twice (3.0, 3.2)
        if self.flaw() and self.modinfo() and name:
            for action in ("unbuild", "install"):
                said += self.run("dkms", action, f"{name}/{self.wanted.version}", "-k", self.wanted.kernel)
        if self.flaw():
            logs = [node_files.text_of(path) for path in sorted(Path("/var/lib/dkms").glob(f"*nvidia*/{self.wanted.version}*/build/make.log"))]
            raise RefusedError(self.missing(kernel_module.deciding_line("\n".join([*logs, said]))))

    def refuse_unknown_options(self) -> None:
        """Refuses options that the module does not have."""
        there = kernel_module.parameters(self.modinfo_text())
        unknown = driver_fit.unknown_options(there, self.params["options"])
        if unknown:
            raise RefusedError(f"the module {self.wanted.version} has no option {', '.join(unknown)} (modinfo --parameters nvidia lists them)")

    def missing(self, reason: str) -> str:
        step = "pin a driver that supports this kernel, or a kernel that it supports" if self.unbuilt() else "mend that and run it again"
        return f"there is no proven NVIDIA module {self.wanted.version} for kernel {self.wanted.kernel} ({self.flaw()}): {reason}; {step}"

    def unbuilt(self) -> bool:
        """Whether there is no module of the version for the kernel, whoever signed it."""
        return kernel_module.flaw(self.modinfo(), self.wanted._replace(serial=None)) is not None

    def settled(self) -> bool:
        """Whether the pinned module is loaded, with its options in effect."""
        flavour = node_files.loaded_flavour(self.procfs)
        same = node_files.loaded_driver(self.procfs) == self.wanted.version and self.wanted.modules in (None, flavour)
        return same and not self.ineffective()

    def ineffective(self) -> dict[str, str]:
        return driver_fit.ineffective_options(node_files.text_of(self.procfs / "driver/nvidia/params"), self.params["options"])

    def load(self) -> str:
        """Loads the pinned module; another one goes first, unless something uses it: then who does is returned."""
        held = self.holders()
        if held:
            return held
        with paused(self.run_command, self.daemons):
            for name in kernel_module.loaded_names(node_files.text_of(self.procfs / "modules")):
                self.run("modprobe", "--remove", name)
            # nvidia-modprobe also makes the device nodes; Ubuntu's server packages only recommend it.
            if not node_files.loaded_driver(self.procfs):
                self.run(*(["nvidia-modprobe"] if shutil.which("nvidia-modprobe") else ["modprobe", "nvidia"]))
        return ""

    @property
    def daemons(self) -> list[str]:
        return [*self.params["services"], *MONITORS]

    def holders(self) -> str:
        """Who uses the loaded module, beside the daemons that may be stopped."""
        return holders_sentence(holders(but=self.daemons)) if node_files.loaded_driver(self.procfs) else ""

    def refuse_untrusted(self) -> None:
        """Under Secure Boot neither a load nor a reboot brings a module whose signer the kernel does not trust."""
        certificate = self.params["certificate"] or ""
        enrolled = bool(certificate) and self.params["secure_boot"] and self.is_enrolled(certificate)
        reason = kernel_module.distrust(self.modinfo(), self.params["secure_boot"], self.wanted.serial, enrolled, self.params["distribution"], certificate)
        if reason:
            raise RefusedError(f"module {self.wanted.version} is built for kernel {self.wanted.kernel} and was not loaded: {reason}")

    def is_enrolled(self, certificate: str) -> bool:
        if not shutil.which("mokutil"):
            raise RefusedError("Secure Boot is on and mokutil is not installed, which alone tells whether a certificate is enrolled: install mokutil")
        return secure_boot.is_enrolled(self.run("mokutil", "--test-key", certificate))


def serial_in(certificate: str | None) -> str | None:
    """The serial number of the certificate in a file; RefusedError where that is no DER certificate. A certificate not yet there proves nothing."""
    path = Path(certificate) if certificate else None
    if path is None or not path.exists():
        return None
    try:
        return secure_boot.serial_of(path.read_bytes())
    except ValueError as error:
        raise RefusedError(f"{path} is {error}, as mokutil and the kernel need it: openssl x509 -in <certificate> -outform DER -out <file>") from error
