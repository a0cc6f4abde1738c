#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The one writer of Docker's daemon.json."""

from __future__ import annotations

DOCUMENTATION = r"""
module: docker_daemon_config
short_description: Merge options into Docker's daemon.json and prove that the daemon comes up with them
version_added: "0.1.0"
description:
  - Merges the wanted options into the file, mapping by mapping; every other key stays. An option that is null is taken out.
  - Refuses an option that the daemon's unit also gives as a flag, since dockerd does not start with both.
  - Has C(dockerd --validate) (Docker 23.0 and later) read the result before it is in place, writes by rename, and has the daemon take it, by
    a reload where that is enough, else by a restart.
  - A restart stops all containers, unless the running daemon has C(live-restore) on. It is refused while containers with a GPU run.
  - Where the daemon does not come up, the former file is put back, the daemon started with it, and the daemon's own words are the error.
  - A run that was killed between writing and restarting is finished by the next one; a daemon that does not answer is restarted.
options:
  options:
    description: What the file must hold; a list replaces a list, null takes a key out.
    type: dict
    required: true
  path:
    description: The file that the daemon reads.
    type: path
    default: /etc/docker/daemon.json
  running:
    description: Whether a daemon runs here that must take the change now; false in the root file system of an image that is being built.
    type: bool
    default: true
  restart:
    description: Whether the daemon restarts anyway, as when its packages are about to be moved. With check mode it asks only whether it may.
    type: bool
    default: false
  restart_allowed:
    description: Whether the daemon may be restarted although containers with a GPU run and would be stopped.
    type: bool
    default: false
  environment:
    description: Variables that the running daemon must have been started with; it is restarted where it was not.
    type: dict
    default: {}
  versions:
    description: >-
      Upstream versions that must answer afterwards, by component as C(docker version) names them: C(Engine), C(containerd), C(runc). Null asks nothing.
    type: dict
    default: {}
  cgroup:
    description: The version of control groups that the daemon must have found.
    type: int
    choices: [1, 2]
attributes:
  check_mode:
    support: full
    description: Merges and validates; writes nothing and restarts nothing.
  diff_mode:
    support: full
    description: Shows the file before and after.
  platform:
    support: full
    description: Linux with systemd and Docker.
    platforms: linux
author:
  - The goldnode founders (@goldnode)
"""

EXAMPLES = r"""
- name: Register NVIDIA's runtime, keep runc the default
  goldnode.gpu.docker_daemon_config:
    options:
      default-runtime: runc
      runtimes:
        nvidia:
          path: nvidia-container-runtime
          args: []
"""

RETURN = r"""
versions:
  description: Versions that the daemon answers with, by component; empty where none runs.
  returned: success
  type: dict
  sample: {Engine: 26.1.5, containerd: 1.7.24, runc: 1.1.15}
cgroup:
  description: Version and driver of control groups that the daemon found; empty where none runs.
  returned: success
  type: dict
  sample: {version: "2", driver: systemd}
"""

import json
import time
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.goldnode.gpu.plugins.module_utils import daemon_config, engine_files
from ansible_collections.goldnode.gpu.plugins.module_utils.daemon import Daemon
from ansible_collections.goldnode.gpu.plugins.module_utils.node_files import text_of, write
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.docker import server_versions, upstream
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.versions import at_least
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError


class Docker(Daemon):
    unit, companions = "docker.service", ("docker.socket",)

    def versions(self) -> dict[str, str]:
        return {name: upstream(version) for name, version in server_versions(self.output("docker", "version", "--format", "{{json .}}")).items()}

    def answers(self) -> bool:
        return bool(self.versions())

    def info(self) -> dict[str, Any]:
        return json.loads(self.output("docker", "info", "--format", "{{json .}}") or "{}")

    def flags(self) -> list[str]:
        files = [Path(line.split(" (")[0]) for line in self.property("EnvironmentFiles").splitlines()]
        return daemon_config.flags(self.property("ExecStart"), daemon_config.environment("\n".join(map(text_of, files))))

    def require_idle_gpus(self) -> None:
        """Refuses where a restart would stop containers that have a GPU."""
        running = [] if self.info().get("LiveRestoreEnabled") else self.output("docker", "ps", "--quiet", "--no-trunc").split()
        having = daemon_config.gpu_containers(json.loads(self.output("docker", "inspect", *running) or "[]")) if running else []
        if having and not self.module.params["restart_allowed"]:
            raise RefusedError(
                f"Docker must be restarted, which stops the running containers that have a GPU ({', '.join(having)}); nothing was changed: "
                "stop them, turn live-restore on, or allow it with docker_restart_allowed"
            )

    def reload(self) -> str | None:
        """Has it read daemon.json again; what it said where it did not take it."""
        since = int(time.time())
        self.output("systemctl", "reload", self.unit)
        answers, journal = self.answers(), self.journal(since)
        return daemon_config.reload_error(journal) if answers else daemon_config.deciding_line(journal)


def validate(module: AnsibleModule, path: Path, text: str) -> None:
    """Has dockerd read the text, where this dockerd can; an older one says it when it starts."""
    version = module.run_command(["dockerd", "--version"])[1]
    if not at_least(version, daemon_config.VALIDATES_SINCE):
        return
    candidate = Path(module.tmpdir) / "daemon.json"
    write(candidate, text)
    rc, stdout, stderr = module.run_command(["dockerd", "--validate", "--config-file", str(candidate)])
    if rc != 0:
        raise RefusedError(f"dockerd refuses {path} as it would be written: {daemon_config.deciding_line(stderr + stdout)}; nothing was changed")


def configure(module: AnsibleModule, daemon: Docker, path: Path) -> dict[str, Any]:
    asked, former = module.params, text_of(path)
    text = daemon_config.merged_text(former, asked["options"], str(path)) if asked["options"] else former
    answers = asked["running"] and daemon.answers()
    pending = asked["running"] and engine_files.unfinished({path: text})
    restart = asked["running"] and (asked["restart"] or not answers or daemon.lacks(asked["environment"]))
    if text != former or pending:
        refuse_conflicts(daemon, path, text)
        validate(module, path, text)
        restart = restart or not daemon_config.reload_is_enough(engine_files.proven_text(path), text, str(path))
    if restart and answers:
        daemon.require_idle_gpus()
    changed = text != former or pending or restart
    if changed and not module.check_mode:
        engine_files.take({path: text}, "Docker", daemon.restart if restart else daemon.reload) if asked["running"] else write(path, text)
    return {"changed": changed, "diff": {"before_header": str(path), "after_header": str(path), "before": former, "after": text}}


def refuse_conflicts(daemon: Docker, path: Path, text: str) -> None:
    twice = daemon_config.flag_conflicts(daemon.flags(), daemon_config.parsed(text, str(path)))
    if twice:
        raise RefusedError(
            f"docker.service gives {', '.join(twice)} as a flag and {path} would hold it too, with which dockerd does not start; nothing was "
            "changed: take it out of the unit (systemctl cat docker.service) or of the options"
        )


def prove(module: AnsibleModule, daemon: Docker) -> dict[str, Any]:
    """What answers; refuses where it is not what the pins say."""
    versions, info = daemon.versions(), daemon.info()
    cgroup = {"version": str(info.get("CgroupVersion") or ""), "driver": str(info.get("CgroupDriver") or "")}
    other = daemon_config.other_versions(module.params["versions"], versions)
    other += daemon_config.other_cgroup(module.params["cgroup"], cgroup["version"])
    if other and not module.check_mode:
        raise RefusedError(
            f"Docker answers with {'; '.join(other)}: an older daemon still runs, or another one owns the socket (systemctl status docker.service)"
        )
    return {"versions": versions, "cgroup": cgroup}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "options": {"type": "dict", "required": True},
            "path": {"type": "path", "default": "/etc/docker/daemon.json"},
            "running": {"type": "bool", "default": True},
            "restart": {"type": "bool", "default": False},
            "restart_allowed": {"type": "bool", "default": False},
            "environment": {"type": "dict", "default": {}},
            "versions": {"type": "dict", "default": {}},
            "cgroup": {"type": "int", "choices": [1, 2]},
        },
        supports_check_mode=True,
    )
    daemon = Docker(module)
    try:
        result = configure(module, daemon, Path(module.params["path"]))
        proven = prove(module, daemon) if module.params["running"] else {"versions": {}, "cgroup": {}}
    except RefusedError as reason:
        module.fail_json(msg=str(reason))
    module.exit_json(**result, **proven)


if __name__ == "__main__":
    main()
