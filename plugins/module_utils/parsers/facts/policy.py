# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Control groups, security modules and what they forbid."""

from __future__ import annotations

import re

from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import apparmor, lxc, selinux
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.base import fact
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.container_toolkit import ContainerToolkitFacts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts.device_nodes import DeviceNodeFacts

_AUDITED = ("audit_avc", "dmesg", "journal")
_NESTED = re.compile(r"\b(?:lxc|lxd|incus|proxmox|nested|nspawn)\b|-pve\b|/var/lib/(?:lxc|lxd|incus)/", re.I)
_ROOTLESS = re.compile(r"/run/user/\d+|\.local/share/(?:docker|containers)|\brootless\b", re.I)
# What makes systemd or runc write a running container's device rules again (NVIDIA/nvidia-docker #1730, #515; kubernetes/kubernetes #77073).
_DEVICE_RESET = re.compile(
    r"daemon-re(?:load|exec)|systemctl\s+(?:--\S+\s+)*(?:re)?(?:enable|disable|preset|mask|unmask|set-property|link)\b"
    r"|\b(?:docker|podman|nerdctl|runc|crun|crictl)\s+(?:container\s+)?update\b|cpu[-_ ]?manager[\w-]*\W+static|static\s+cpu\s+(?:manager\s+)?policy"
    r"|unattended[-_ ]upgrade|needrestart",
    re.I,
)
# A package's scripts reload systemd when they install a unit.
_PACKAGES_CHANGED = re.compile(r"\b(?:apt(?:-get)?|dnf|yum|zypper)\s+(?:-\S+\s+)*(?:dist-|full-)?(?:upgrade|update|install)\b", re.I)
_HAD_IT_BEFORE = re.compile(
    r"already running|still running|long[- ]running|(?:after|for) (?:a|some|several|few|couple|\d+|days|hours|a while)|keeps? running"
    r"|worked (?:at first|before|until)|at (?:first|the start|start)|suddenly|(?:after|until) (?:restart|re-?creat)|randomly|eventually|loses?\b|lost\b",
    re.I,
)


class PolicyFacts(ContainerToolkitFacts, DeviceNodeFacts):
    """Control groups, security modules and what they forbid."""

    @fact
    def docker_security_options(self) -> tuple[str, ...]:
        """`name=apparmor`, `name=selinux`, …"""
        text = self.bundle.text("docker_security_options")
        return tuple(text.split()) if text else tuple(self.known(self.docker_info)["SecurityOptions"])

    @fact
    def cgroup_version(self) -> int | None:
        """2 for the unified hierarchy, 1 for the legacy or hybrid one: as mounted, else as Docker says."""
        mounted = {"cgroup2fs": 2, "tmpfs": 1}.get((self.bundle.text("cgroup_fstype") or "").strip())
        return mounted or int(self.known(self.docker_info)["CgroupVersion"])

    @fact
    def cgroup_driver(self) -> str:
        """`systemd` or `cgroupfs`, as Docker says it."""
        return str(self.known(self.docker_info)["CgroupDriver"])

    @fact
    def no_cgroups(self) -> bool:
        """Whether the toolkit is told to leave device cgroups alone; its default is not to."""
        self.known(self.toolkit_settings)
        told = self.toolkit_setting("nvidia-container-cli", "no-cgroups")
        return told if isinstance(told, bool) else self.known(False if self.bundle.complete("toolkit_config") else None)

    @fact
    def rootless(self) -> bool:
        """Whether the engine runs without root; not known where nothing says so either way."""
        users = {str(run.get("user")) for run in self.runs if run.get("user")}
        if any("rootless" in user for user in users) or any("rootless" in option for option in self.docker_security_options or ()):
            return True
        if _ROOTLESS.search(" ".join([self.bundle.text("docker_host") or "", self.bundle.text("docker_context") or "", *self._words()])):
            return True
        return self.known(False if users & {"root"} or self.docker_security_options is not None else None)

    @fact
    def nested(self) -> bool:
        """Whether this node is itself a container (LXC, LXD, Proxmox CT); not known where nothing says so."""
        platform = " ".join(str(self.bundle.stated.get(key, "")) for key in ("platform", "distro", "container_os"))
        return True if self.bundle.text("lxc_config") or _NESTED.search(" ".join([platform, *self._words()])) else self.known(None)

    @fact
    def device_reset(self) -> str | None:
        """What made the running containers' device rules be written again, in the words of the evidence."""
        done = "\n".join([self.bundle.text("recent_commands") or "", *self._notes()])
        stated = [f"{key}: {value}" for key, value in self.bundle.stated.items() if isinstance(value, str)]
        found = _DEVICE_RESET.search("\n".join([done, self.bundle.text("kubelet_log") or "", *stated])) or _PACKAGES_CHANGED.search(done)
        return found.group(0) if found else None

    @fact
    def device_access_was_lost(self) -> bool:
        """Whether a container had its devices before: its lists say so, somebody who watched it, or a fresh one in which the same program works."""
        running = [run for run in self.runs if re.search(r"\bexec\b", str(run.get("command") or ""))]
        fresh = [run for run in self.runs if run not in running and run.get("rc") == 0]
        if fresh and any(run.get("rc") and run.get("payload") in {one.get("payload") for one in fresh} for run in running):
            return True
        before, now = (str(self.bundle.stated.get(f"container_devices_list_{when}") or "") for when in ("at_start", "when_failing"))
        return bool(before and now and before != now) or bool(_HAD_IT_BEFORE.search("\n".join(self._notes())))

    @fact
    def selinux_mode(self) -> str | None:
        """`enforcing`, `permissive` or `disabled`, also where the tools of SELinux are not there."""
        return "disabled" if self.bundle.absent("getenforce") else selinux.mode(self.need("getenforce"))

    @fact
    def selinux_booleans(self) -> dict[str, bool]:
        """Name -> on."""
        return selinux.booleans(self.need("getsebool"))

    @fact
    def selinux_denials(self) -> tuple[selinux.Denial, ...]:
        """What SELinux has denied, as far as the logs of the bundle say."""
        return selinux.denials("\n".join(self.known(self._audit())))

    @fact
    def apparmor_denials(self) -> tuple[apparmor.Denial, ...]:
        """What AppArmor has denied, as far as the logs of the bundle say."""
        return apparmor.denials("\n".join(self.known(self._audit())))

    @fact
    def lxc_devices(self) -> lxc.Devices:
        """Which devices the LXC container's configuration lets it open."""
        return lxc.devices(self.need("lxc_config"))

    @fact
    def profiling_for_admins_only(self) -> bool:
        """The driver's RmProfilingAdminOnly."""
        return "RmProfilingAdminOnly: 1" in self.need("proc_driver_nvidia_params")

    def _audit(self) -> list[str] | None:
        return [text for name in _AUDITED if (text := self.bundle.text(name))] or None

    def _notes(self) -> list[str]:
        """What somebody noted about the runs."""
        return [str(run["note"]) for run in self.runs if run.get("note")]

    def _words(self) -> list[str]:
        """Commands and errors of the runs: paths in them tell how an engine runs."""
        return [str(run[key]) for run in self.runs for key in ("command", "stderr") if run.get(key)]
