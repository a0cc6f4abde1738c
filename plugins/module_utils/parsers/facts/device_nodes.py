# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The device nodes below /dev and the majors that the kernel gave out."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import linux
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import Base, fact

ALL_NODES = "/dev/nvidia*"

ABSENT = re.compile(r"(?:absent|missing|not (?:there|found|present|created)|does not exist|no such)\b", re.I)


class DeviceNodeFacts(Base):
    """The device nodes below /dev and the majors that the kernel gave out."""

    @fact
    def device_nodes(self) -> dict[str, linux.DeviceNode]:
        """NVIDIA's nodes below /dev, by path; the folders of the capability nodes (nvidia-caps, nvidia-caps-imex-channels) are none."""
        if self.bundle.absent("ls_dev_nvidia") or ALL_NODES in self.known(self.missing_device_nodes):
            return {}
        nodes = linux.device_nodes(self.known(self.bundle.output("ls_dev_nvidia"))) or self.known(None)
        return {path: node for path, node in nodes.items() if not (node.kind == "d" and path.startswith("/dev/nvidia-caps"))}

    @fact
    def missing_device_nodes(self) -> frozenset[str]:
        """The nodes of which ls says that they are not there."""
        return linux.missing_device_nodes(self.bundle.output("ls_dev_nvidia") or "")

    @fact
    def stated_missing_nodes(self) -> frozenset[str]:
        """The nodes of which somebody states that they are missing: a list of them, or `dev_nvidia_uvm: absent after boot`."""
        stated = self.bundle.stated
        listed = re.findall(r"/dev/nvidia[\w-]*", str(stated.get("missing_device_nodes") or ""))
        gone = [name for name, value in stated.items() if name.startswith("dev_nvidia") and ABSENT.match(str(value).strip())]
        return frozenset([*listed, *("/dev/" + name[4:].replace("_", "-") for name in gone)])

    @fact
    def mig_capabilities(self) -> dict[str, int]:
        """The MIG instances that the driver has, each with the minor of its capability node."""
        return linux.mig_capabilities(self.known(self.bundle.files("proc_driver_nvidia_capabilities")))

    @fact
    def capability_nodes(self) -> frozenset[int]:
        """The minors of the nodes below /dev/nvidia-caps."""
        if self._without_capability_nodes():
            return frozenset()
        found = re.findall(r"nvidia-cap(\d+)", self.need("ls_dev_nvidia_caps"))
        return frozenset(map(int, found if self.bundle.complete("ls_dev_nvidia_caps") else self.known(found or None)))

    @fact
    def missing_capability_nodes(self) -> tuple[str, ...]:
        """The nodes of the driver's MIG instances that are not there."""
        missing = set(self.known(self.mig_capabilities).values()) - self.known(self.capability_nodes)
        whole = self.bundle.complete("ls_dev_nvidia_caps") or self._without_capability_nodes()
        return self.known(tuple(f"/dev/nvidia-caps/nvidia-cap{minor}" for minor in sorted(missing)) if whole or not missing else None)

    def _without_capability_nodes(self) -> bool:
        text = self.bundle.output("ls_dev_nvidia_caps") or ""
        return self.bundle.absent("ls_dev_nvidia_caps") or bool(re.search(r"cannot access \S{0,3}/dev/nvidia-caps\S* No such file", text))

    @fact
    def container_device_nodes(self) -> dict[str, linux.DeviceNode]:
        """The nodes that a container listed, by path: those of the host, bind-mounted or made alike."""
        listed = (linux.device_nodes(str(run.get("stdout") or "")) for run in self.runs if run.get("payload") == "ls_dev")
        return {path: node for nodes in listed for path, node in nodes.items()}

    @fact
    def majors(self) -> dict[str, int]:
        """The character majors that the kernel's drivers have registered."""
        return linux.character_majors(self.need("proc_devices"))

    @fact
    def user_groups(self) -> frozenset[str]:
        """The groups of the user who asks, by name and number: `id`, `id -Gn`, `groups`."""
        return frozenset(re.findall(r"[\w.-]+", self.need("id_groups")))

    @fact
    def device_node_options(self) -> dict[str, str]:
        """The module options by which nodes get another owner or mode: NVreg_DeviceFile…, NVreg_ModifyDeviceFiles."""
        texts = self.known(self.bundle.files("modprobe_d")).values()
        lines = [line for text in texts for line in text.splitlines() if re.match(r"\s*options\s+nvidia", line)]
        return dict(pair for line in lines for pair in re.findall(r"(NVreg_\w*DeviceFile\w*)=(\S+)", line))
