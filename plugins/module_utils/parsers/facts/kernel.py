# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The running kernel, its modules, headers, packages and next boot."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import apt_history, linux, module_build, module_load, rpm
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import Message, fact
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.hardware import HardwareFacts

# Probes in which the loading of modules is told, beside what tools said.
LOADING = ("dmesg", "journal", "modprobe_nvidia")
# modinfo of kmod, of module-init-tools and of busybox; "modinfo: command not found" says nothing about modules.
_NO_MODULE = re.compile(r"\bmodule '?nvidia'? not found|could not find module '?nvidia", re.I)


class KernelFacts(HardwareFacts):
    """The running kernel, its modules, headers, packages and next boot."""

    @fact
    def os(self) -> dict[str, str] | None:
        """os-release, by key."""
        return linux.key_values(self.need("os_release"))

    @fact
    def kernel_release(self) -> str:
        """The running kernel: its release, or `uname -a`."""
        text = (self.bundle.text("kernel_release") or self.need("uname_r")).strip()
        return text.split()[2] if text.startswith("Linux ") else text.split()[0]

    @fact
    def modules(self) -> frozenset[str]:
        """The loaded kernel modules; a kernel without loadable modules has no list, and none is loaded. An empty list beside a driver that runs is none."""
        if self.bundle.absent("lsmod"):
            return frozenset()
        found = linux.modules(self.need("lsmod"))
        return found if found or not self.bundle.text("proc_driver_nvidia_version") else self.known(None)

    @fact
    def modules_not_loaded(self) -> frozenset[str]:
        """Modules of which the evidence says that they are not loaded."""
        return frozenset(("nvidia", "nvidia_uvm", "nouveau")) - self.known(self.modules) if self.bundle.complete("lsmod") else frozenset()

    def is_not_loaded(self, module: str) -> bool:
        """Whether the evidence says that a module is not loaded; a stated list is text."""
        stated = self.modules_not_loaded or ()
        return module in (re.split(r"[\s,;]+", stated.replace("-", "_")) if isinstance(stated, str) else [str(name).replace("-", "_") for name in stated])

    @fact
    def packages(self) -> dict[str, linux.Package]:
        """dpkg's packages by name, also those that are only held or half removed."""
        return linux.packages(self.need("dpkg_l"))

    @fact
    def rpms(self) -> tuple[rpm.Rpm, ...]:
        """The installed rpm packages."""
        return rpm.packages(self.need("rpm_qa"))

    @fact
    def module_packages(self) -> dict[str, str]:
        """Installed packages of built NVIDIA modules: name -> the kernel that they are for."""
        names = [line.strip() for line in (self.bundle.text("rpm_qa") or "").splitlines()]
        names += [name for name, package in (self.packages or {}).items() if package.installed]
        return {name: kernel for name in names if (kernel := rpm.built_for(name))}

    @fact
    def apt_transactions(self) -> tuple[apt_history.Transaction, ...]:
        """What apt did on the node, the oldest first; nothing where it keeps no log."""
        if self.bundle.absent("apt_history") or self.bundle.rc("apt_history"):
            return ()
        return apt_history.transactions(self.need("apt_history"))

    @fact
    def configured_files(self) -> dict[str, str]:
        """Every file that provisioning recorded or that came beside one -> `same`, `edited`, `removed` or `added` since."""
        if self.bundle.absent("configuration"):
            return self.known(None)
        pairs = {path: text.split() for path, text in self.known(self.bundle.files("configuration")).items()}
        return {path: _since(then, now) for path, (then, now) in pairs.items()}

    @fact
    def dkms_modules(self) -> tuple[linux.DkmsModule, ...]:
        """What DKMS has registered and built; nothing where dkms is not installed."""
        return () if self.bundle.absent("dkms_status") else linux.dkms(self.need("dkms_status"))

    @fact
    def module_builds(self) -> tuple[module_build.Build, ...]:
        """The builds of NVIDIA's module that the evidence logs, those for another kernel than the running one left out."""
        logs = [self.bundle.text("dkms_build_log") or "", *(self.bundle.files("dkms_build_log") or {}).values()]
        told = [message.text for message in self.messages or () if message.source in ("pod_log", "app_log", "pod_events")]
        texts = [text for text in logs if module_build.is_log(text) and not module_build.is_of_another(text)]
        builds = [module_build.build(text) for text in (*texts, *(text for text in told if module_build.is_build(text)))]
        release = self.kernel_release
        return tuple(build for build in builds if not release or module_build.is_for(build, release))

    @fact
    def load_messages(self) -> tuple[Message, ...]:
        """The lines in which the kernel or a tool on the host says how the loading of NVIDIA's modules went."""
        texts = [(name, self.bundle.output(name) or "") for name in LOADING]
        texts += [(message.source, message.text) for message in self.messages or () if not message.source.startswith("run ")]
        return tuple(Message(name, line) for name, text in texts for line in module_load.lines(text))

    @fact
    def module_on_disk(self) -> dict[str, str]:
        """modinfo of the nvidia module that the running kernel would load; empty when it finds none."""
        found = linux.modinfo(self.bundle.text("modinfo_nvidia") or "")
        if "vermagic" in found:
            return found
        return {} if _NO_MODULE.search(self.bundle.output("modinfo_nvidia") or "") else self.known(None)

    @fact
    def boot_kernels(self) -> frozenset[str]:
        """Releases with an image in /boot."""
        return frozenset() if self.bundle.absent("boot_kernels") else linux.kernel_images(self.need("boot_kernels"))

    @fact
    def header_kernels(self) -> frozenset[str]:
        """Releases with a build directory to build modules against."""
        return frozenset() if self.bundle.absent("linux_headers") else linux.header_kernels(self.need("linux_headers"))

    @fact
    def default_boot_kernel(self) -> str | None:
        """The release that the next boot starts."""
        return linux.default_kernel(self.need("default_boot_kernel"), self.bundle.text("grubenv"))

    @fact
    def secure_boot(self) -> bool | None:
        """Whether Secure Boot is on: mokutil's answer, or what the kernel or an installer said."""
        texts = [self.bundle.output("mokutil_sb_state") or "", *(message.text for message in self.load_messages or ())]
        said = [match["state"].lower() for text in texts if (match := module_load.SECURE_BOOT.search(text))]
        return said[0] == "enabled" if said else None

    @fact
    def nouveau_blocked(self) -> bool:
        """Whether modprobe's configuration or the command line keeps nouveau out."""
        texts = list(self.known(self.bundle.files("modprobe_d")).values())
        return any(linux.blocks(text, "nouveau") for text in texts) or "nouveau" in linux.blocked_on_command_line(self.bundle.text("kernel_cmdline") or "")

    @fact
    def nvidia_blocked(self) -> str:
        """What keeps the nvidia module from being loaded: the place; empty where nothing does."""
        if "nvidia" in linux.blocked_on_command_line(self.bundle.text("kernel_cmdline") or ""):
            return "the kernel command line"
        texts = self.known(self.bundle.files("modprobe_d"))
        return next((path for path, text in texts.items() if linux.blocks(text, "nvidia") or re.search(r"^[ \t]*alias\s+nvidia\s+off", text, re.M)), "")


def _since(then: str, now: str) -> str:
    if then == now:
        return "same"
    return {"absent": "added"}.get(then) or {"absent": "removed"}.get(now) or "edited"
