# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Facts: what a bundle says, in the field's terms. Each is parsed when it is first asked for; None means not known.

A stated value takes the place of the parsed fact of the same name, so the names of facts are the table of stated names, and a rule never
knows which of the two it was.
"""

from __future__ import annotations

import json
from typing import Any, Callable, Generic, Mapping, TypeVar, overload

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import docker, linux, nvidia
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.bundle import Bundle

T = TypeVar("T")


class fact(Generic[T]):  # noqa: N801 - used like `property`
    """A lazily parsed attribute. Text that no parser understands is not known, never an error: tools change their wording."""

    def __init__(self, parse: Callable[[Any], T]) -> None:
        self.parse = parse
        self.name = parse.__name__
        self.__doc__ = parse.__doc__

    @overload
    def __get__(self, facts: None, owner: type) -> fact[T]: ...
    @overload
    def __get__(self, facts: Facts, owner: type) -> T | None: ...
    def __get__(self, facts: Facts | None, owner: type) -> fact[T] | T | None:
        if facts is None:
            return self
        value = facts.bundle.stated[self.name] if self.name in facts.bundle.stated else self._parsed(facts)
        facts.__dict__[self.name] = value
        return value

    def _parsed(self, facts: Facts) -> T | None:
        try:
            return self.parse(facts)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            return None


class Facts:
    """The facts of one bundle. `bundle` gives the raw text where a rule quotes it; `runs` are the GPU container runs, as evidence has them."""

    def __init__(self, evidence: Mapping[str, Any]) -> None:
        self.bundle = Bundle(evidence)
        self.runs = self.bundle.runs

    # Hardware and kernel

    @fact
    def os(self) -> dict[str, str] | None:
        """os-release, by key."""
        return linux.key_values(self.need("os_release"))

    @fact
    def kernel_release(self) -> str:
        """The running kernel."""
        return (self.bundle.text("kernel_release") or self.need("uname_r")).strip()

    @fact
    def pci_devices(self) -> tuple[linux.PciDevice, ...]:
        """Every PCI device."""
        return linux.pci_devices(self.need("lspci_nnk"))

    @fact
    def pci_gpus(self) -> tuple[linux.PciDevice, ...]:
        """NVIDIA's VGA (0300) and 3D (0302) controllers."""
        devices: tuple[linux.PciDevice, ...] = self.known(self.pci_devices)
        return tuple(device for device in devices if device.identifier.startswith("10de:") and device.kind in ("0300", "0302"))

    @fact
    def modules(self) -> frozenset[str]:
        """The loaded kernel modules; a kernel without loadable modules has no list, and none is loaded."""
        return frozenset() if self.bundle.absent("lsmod") else linux.modules(self.need("lsmod"))

    @fact
    def kernel_log(self) -> tuple[str, ...]:
        """The lines of the kernel's log."""
        return tuple(self.need("dmesg").splitlines())

    @fact
    def packages(self) -> dict[str, linux.Package]:
        """dpkg's packages by name, also those that are only held or half removed."""
        return linux.packages(self.need("dpkg_l"))

    @fact
    def dkms_modules(self) -> tuple[linux.DkmsModule, ...]:
        """What DKMS has registered and built; nothing where dkms is not installed."""
        return () if self.bundle.absent("dkms_status") else linux.dkms(self.need("dkms_status"))

    @fact
    def module_on_disk(self) -> dict[str, str]:
        """modinfo of the nvidia module that the running kernel would load; empty when it finds none."""
        if self.bundle.rc("modinfo_nvidia"):
            return {} if "not found" in (self.bundle.output("modinfo_nvidia") or "") else self.known(None)
        return linux.modinfo(self.need("modinfo_nvidia"))

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
    def nouveau_blocked(self) -> bool:
        """Whether modprobe's configuration or the command line keeps nouveau out."""
        texts = list(self.known(self.bundle.files("modprobe_d")).values())
        return any(linux.blocks(text, "nouveau") for text in texts) or "nouveau" in linux.blocked_on_command_line(self.bundle.text("kernel_cmdline") or "")

    # Driver

    @fact
    def kernel_gpus(self) -> set[tuple[str, str]]:
        """PCI address and UUID of each GPU in the driver's procfs tree."""
        texts = self.known(self.bundle.files("proc_driver_nvidia_gpus"))
        return {(path.split("/")[-2].lower(), linux.colon_values(text)["GPU UUID"]) for path, text in texts.items()}

    @fact
    def loaded_module_version(self) -> str | None:
        """Version of the nvidia module in the kernel."""
        return nvidia.module_version(self.need("proc_driver_nvidia_version"))

    @fact
    def loaded_module_flavour(self) -> str | None:
        """`open` or `proprietary`."""
        return nvidia.module_flavour(self.need("proc_driver_nvidia_version"))

    @fact
    def module_loaded(self) -> bool:
        """Whether the nvidia module is in the kernel."""
        if self.bundle.text("proc_driver_nvidia_version"):
            return True
        if self.bundle.absent("lsmod") or self.bundle.complete("lsmod"):
            return "nvidia" in self.known(self.modules)
        return True if "nvidia" in self.known(self.modules) else self.known(None)

    @fact
    def library_version(self) -> str | None:
        """Version of the driver's user space."""
        return nvidia.library_version(self.known(self.bundle.output("nvidia_smi")))

    @fact
    def gpus(self) -> tuple[nvidia.Gpu, ...]:
        """The GPUs that the driver serves."""
        return nvidia.gpus(self.need("nvidia_smi_query")) if self.bundle.rc("nvidia_smi_query") == 0 else self.known(None)

    @fact
    def mig_profiles(self) -> tuple[tuple[str, ...], ...]:
        """For each GPU, the profiles of its MIG devices."""
        return nvidia.mig_profiles(self.need("nvidia_smi_list")) if self.bundle.rc("nvidia_smi_list") == 0 else self.known(None)

    @fact
    def cuda_probe(self) -> dict[str, Any] | None:
        """The answer of the CUDA probe on the host."""
        for line in reversed(self.need("cuda_probe").splitlines()):
            if line.startswith("{"):
                answer = json.loads(line)
                return answer if isinstance(answer, dict) and str(answer.get("schema", "")).startswith("goldnode.cuda_probe/") else None
        return None

    def service(self, name: str) -> dict[str, str] | None:
        """`systemctl show` of a service; the one word of `systemctl is-active` becomes ActiveState."""
        text = (self.bundle.text(name) or "").strip()
        if not text:
            return None
        return linux.key_values(text) if "=" in text else {"ActiveState": text.splitlines()[-1]}

    # Device nodes

    @fact
    def device_nodes(self) -> dict[str, linux.DeviceNode]:
        """NVIDIA's nodes below /dev, by path."""
        return {} if self.bundle.absent("ls_dev_nvidia") else linux.device_nodes(self.need("ls_dev_nvidia"))

    @fact
    def majors(self) -> dict[str, int]:
        """The character majors that the kernel's drivers have registered."""
        return linux.character_majors(self.need("proc_devices"))

    # Container toolkit

    @fact
    def toolkit_version(self) -> str | None:
        """Version of nvidia-ctk."""
        return nvidia.tool_version(self.need("nvidia_ctk_version"))

    @fact
    def cdi_specs(self) -> tuple[nvidia.CdiSpec, ...]:
        """NVIDIA's CDI specs, of whatever file; not known where a file is only an excerpt that does not say what it is for."""
        specs = [nvidia.cdi_spec(path, text) for path, text in self.known(self.bundle.files("cdi_specs")).items()]
        if not all(spec.kind for spec in specs):
            return self.known(None)
        return tuple(spec for spec in specs if spec.kind.startswith("nvidia.com/"))

    # Engine and policy

    @fact
    def docker_versions(self) -> dict[str, str]:
        """Component of the daemon that answers -> version."""
        return docker.server_versions(self.need("docker_version"))

    @fact
    def docker_info(self) -> dict[str, Any] | None:
        """What the daemon says it runs with; not known when it does not answer."""
        info = docker.info(self.need("docker_info"))
        return info if info and info.get("ServerVersion", "?") != "" else None

    @fact
    def docker_config(self) -> dict[str, Any] | None:
        """daemon.json; empty when there is none."""
        return {} if self.bundle.absent("docker_daemon_json") else docker.as_json(self.need("docker_daemon_json") or "{}")

    @fact
    def docker_started(self) -> float | None:
        """When the daemon was started, seconds since the epoch."""
        return linux.systemd_time(self.known(self.service("docker_service"))["ActiveEnterTimestamp"])

    @fact
    def docker_security_options(self) -> tuple[str, ...]:
        """`name=apparmor`, `name=selinux`, …"""
        text = self.bundle.text("docker_security_options")
        return tuple(text.split()) if text else tuple(self.known(self.docker_info)["SecurityOptions"])

    @fact
    def cgroup_version(self) -> int | None:
        """2 for the unified hierarchy, 1 for the legacy or hybrid one."""
        return {"cgroup2fs": 2, "tmpfs": 1}.get(self.need("cgroup_fstype").strip())

    def need(self, name: str) -> str:
        """A probe's text; raises where there is none, which makes the fact that asks for it unknown."""
        return self.known(self.bundle.text(name))

    @staticmethod
    def known(value: T | None) -> T:
        """The value; raises where it is not known."""
        if value is None:
            raise ValueError("not known")
        return value
