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
  - Merges the wanted options into the file, mapping by mapping; every other key stays.
  - Has C(dockerd --validate) read the result before it is in place, writes by rename, restarts the daemon and asks it for its version.
  - Where the daemon does not come up, the former file is put back, the daemon started with it, and the daemon's own words are the error.
  - A run that was killed between writing and restarting is finished by the next one; a daemon that does not answer is restarted.
options:
  options:
    description: What the file must hold; a list replaces a list.
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
server_version:
  description: Upstream version of the daemon that answers; null where none runs.
  returned: success
  type: str
  sample: 26.1.5
"""

import os
import tempfile
import time
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.goldnode.gpu.plugins.module_utils import daemon_config
from ansible_collections.goldnode.gpu.plugins.module_utils.node_files import text_of
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.docker import upstream
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError

UNITS = ("docker.service", "docker.socket")


def validate(module: AnsibleModule, path: Path, text: str) -> None:
    with tempfile.NamedTemporaryFile("w", dir=module.tmpdir, suffix=".json") as stream:
        stream.write(text)
        stream.flush()
        rc, stdout, stderr = module.run_command(["dockerd", "--validate", "--config-file", stream.name])
    if rc != 0:
        raise RefusedError(f"dockerd refuses {path} as it would be written: {daemon_config.deciding_line(stderr + stdout)}; nothing was changed")


def replace(path: Path, text: str) -> None:
    """Writes by rename, mode 0644: a reader sees the former file or the new one."""
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=str(path.parent), prefix=f".{path.name}.")
    with os.fdopen(descriptor, "w") as stream:
        stream.write(text)
        os.fchmod(stream.fileno(), 0o644)
        os.fsync(stream.fileno())
    Path(name).replace(path)


def server_version(module: AnsibleModule) -> str | None:
    """The version that the daemon answers with; None where it does not answer."""
    rc, stdout, _err = module.run_command(["docker", "version", "--format", "{{.Server.Version}}"])
    return upstream(stdout.strip()) if rc == 0 else None


def restart(module: AnsibleModule) -> str | None:
    """Restarts the daemon; what it said where it did not come up."""
    # Restarts within a short time add up to "start of the service was attempted too often"; the count starts anew here.
    module.run_command(["systemctl", "reset-failed", *UNITS])
    since = int(time.time())
    rc, _out, error = module.run_command(["systemctl", "restart", "docker.service"])
    if rc == 0 and server_version(module):
        return None
    journal = module.run_command(["journalctl", "--unit=docker.service", f"--since=@{since}", "--output=cat", "--no-pager"])[1]
    return daemon_config.deciding_line(journal or error)


def take(module: AnsibleModule, path: Path, intent: Path, text: str, former: str) -> None:
    """Writes and restarts; `intent` keeps the former text until the daemon has proven the new one."""
    if not intent.exists():
        replace(intent, former)
    replace(path, text)
    complaint = restart(module)
    if complaint:
        restore(path, text_of(intent))
        second = restart(module)
        state = f"nor does it come up with the former file: {second}" if second else "the former file is back and the daemon runs with it"
        intent.unlink()
        raise RefusedError(f"Docker does not come up with the new {path}: {complaint}; {state}")
    intent.unlink()


def restore(path: Path, former: str) -> None:
    if former:
        replace(path, former)
    else:
        path.unlink()


def present(module: AnsibleModule, path: Path, options: dict, running: bool) -> dict:
    intent, former = path.with_name(f"{path.name}.goldnode-former"), text_of(path)
    text = daemon_config.merged_text(former, options, str(path))
    changed = text != former or (running and (intent.exists() or not server_version(module)))
    if changed:
        validate(module, path, text)
    if changed and not module.check_mode:
        take(module, path, intent, text, former) if running else replace(path, text)
    diff = {"before_header": str(path), "after_header": str(path), "before": former, "after": text}
    return {"changed": changed, "server_version": server_version(module) if running else None, "diff": diff}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "options": {"type": "dict", "required": True},
            "path": {"type": "path", "default": "/etc/docker/daemon.json"},
            "running": {"type": "bool", "default": True},
        },
        supports_check_mode=True,
    )
    try:
        result = present(module, Path(module.params["path"]), module.params["options"], module.params["running"])
    except RefusedError as reason:
        module.fail_json(msg=str(reason))
    module.exit_json(**result)


if __name__ == "__main__":
    main()
