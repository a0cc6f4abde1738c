#!/usr/bin/python
# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""containerd's configuration where it is the engine itself."""

from __future__ import annotations

DOCUMENTATION = r"""
module: containerd_config
short_description: Configure containerd with NVIDIA's runtime and prove that it comes up
version_added: "0.1.0"
description:
  - Writes C(config.toml) whole, at a config version that containerd and the container toolkit both read, and has C(nvidia-ctk) make the drop-in
    C(conf.d/99-nvidia.toml) from that very file, so that the drop-in is never of a newer version than the root. Other files in C(conf.d) stay.
    A toolkit before 1.18 knows no drop-in; its runtime is in C(config.toml) then.
  - Everything is made in a scratch folder first and read there by containerd (C(config dump)); only what it reads is put in place.
  - Restarts containerd after a change, which leaves running containers alone. Where it does not come up, the former files are put back,
    containerd is started with them, and its own words are the error. A run that was killed in between is finished by the next one.
options:
  engine:
    description: Upstream version of containerd.
    type: str
    required: true
  runc:
    description: Upstream version of runc that must be installed; null asks nothing.
    type: str
  toolkit:
    description: Version of the container toolkit; null where the pool has none.
    type: str
  cgroup:
    description: Version of control groups; with 2 runc leaves them to systemd.
    type: int
    choices: [1, 2]
    required: true
  options:
    description: Further settings of config.toml as nested tables; null takes a setting out.
    type: dict
    default: {}
  environment:
    description: Variables that the running containerd must have been started with; it is restarted where it was not.
    type: dict
    default: {}
  running:
    description: Whether containerd runs here and must take the change now; false in the root file system of an image that is being built.
    type: bool
    default: true
attributes:
  check_mode:
    support: full
    description: Makes the files in the scratch folder and has them read; changes nothing.
  diff_mode:
    support: full
    description: Shows both files before and after.
  platform:
    support: full
    description: Linux with systemd and containerd.
    platforms: linux
author:
  - The goldnode founders (@goldnode)
"""

EXAMPLES = r"""
- name: Configure containerd
  goldnode.gpu.containerd_config:
    engine: 2.3.5
    runc: 1.4.3
    toolkit: 1.20.0
    cgroup: 2
"""

RETURN = r"""
versions:
  description: Versions that answer, by component.
  returned: success
  type: dict
  sample: {containerd: 2.3.5, runc: 1.4.3}
"""

from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.goldnode.gpu.plugins.module_utils import containerd_config, daemon_config, engine_files
from ansible_collections.goldnode.gpu.plugins.module_utils.daemon import Daemon
from ansible_collections.goldnode.gpu.plugins.module_utils.node_files import text_of, write
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.containerd import server_version
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.docker import upstream
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.versions import at_least
from ansible_collections.goldnode.gpu.plugins.module_utils.refusal import RefusedError

ROOT, DROP_IN = Path("/etc/containerd/config.toml"), Path(containerd_config.DROP_INS) / "99-nvidia.toml"


class Containerd(Daemon):
    unit = "containerd.service"

    def versions(self) -> dict[str, str]:
        """Of the daemon that answers, and of the runc that it starts."""
        found = {"containerd": server_version(self.output("ctr", "version")), "runc": upstream(self.output("runc", "--version").replace("runc version ", ""))}
        return {name: version for name, version in found.items() if version}

    def answers(self) -> bool:
        return "containerd" in self.versions()


def wanted_texts(module: AnsibleModule, scratch: Path) -> dict[Path, str]:
    """Both files as they shall be, and read by containerd in the scratch folder."""
    asked, folder = module.params, scratch / "conf.d"
    root = containerd_config.root_text(asked["engine"], asked["toolkit"], asked["cgroup"] == 2, asked["options"])
    others = {str(path): text_of(path) for path in DROP_IN.parent.glob("*.toml") if path != DROP_IN}
    newer = containerd_config.newer_drop_ins(containerd_config.config_version(asked["engine"], asked["toolkit"]), others)
    if newer:
        raise RefusedError(f"{newer}; nothing was changed")
    for path, text in others.items():
        write(folder / Path(path).name, text)
    write(scratch / "config.toml", root.replace(containerd_config.DROP_INS, str(folder)))
    if asked["toolkit"]:
        add_runtime(module, scratch / "config.toml", folder / DROP_IN.name)
    validate(module, scratch / "config.toml")
    has_drop_in = (folder / DROP_IN.name).exists()
    taken = root if has_drop_in or not asked["toolkit"] else text_of(scratch / "config.toml").replace(str(folder), containerd_config.DROP_INS)
    return {ROOT: taken, DROP_IN: text_of(folder / DROP_IN.name)}


def add_runtime(module: AnsibleModule, root: Path, drop_in: Path) -> None:
    """The runtime nvidia by NVIDIA's own tool; from the file, since `config dump` has the version of containerd and not of the file (aicr#1688)."""
    where = [f"--drop-in-config={drop_in}", "--config-source=file"] if at_least(module.params["toolkit"], containerd_config.DROP_IN_SINCE) else []
    options = ["--runtime=containerd", f"--config={root}", "--nvidia-runtime-path=/usr/bin/nvidia-container-runtime"]
    rc, _out, stderr = module.run_command(["nvidia-ctk", "runtime", "configure", *options, *where])
    if rc != 0:
        raise RefusedError(f"nvidia-ctk does not add its runtime to containerd's configuration: {daemon_config.deciding_line(stderr)}; nothing was changed")


def validate(module: AnsibleModule, root: Path) -> None:
    rc, dump, stderr = module.run_command(["containerd", f"--config={root}", "config", "dump"])
    wrong = daemon_config.deciding_line(stderr) if rc != 0 else containerd_config.objection(dump, text_of(root), bool(module.params["toolkit"]))
    if wrong:
        raise RefusedError(f"containerd does not take {ROOT} with its drop-ins as they would be written: {wrong}; nothing was changed")


def configure(module: AnsibleModule, daemon: Containerd) -> dict:
    texts = wanted_texts(module, Path(module.tmpdir) / "containerd")
    running = module.params["running"]
    differs = any(text_of(path) != text for path, text in texts.items())
    changed = differs or (running and (engine_files.unfinished(texts) or not daemon.answers() or daemon.lacks(module.params["environment"])))
    diff = [{"before_header": str(path), "after_header": str(path), "before": text_of(path), "after": text} for path, text in texts.items()]
    if changed and not module.check_mode:
        engine_files.take(texts, "containerd", daemon.restart if running else lambda: None)
    return {"changed": changed, "diff": diff}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "engine": {"type": "str", "required": True},
            "runc": {"type": "str"},
            "toolkit": {"type": "str"},
            "cgroup": {"type": "int", "choices": [1, 2], "required": True},
            "options": {"type": "dict", "default": {}},
            "environment": {"type": "dict", "default": {}},
            "running": {"type": "bool", "default": True},
        },
        supports_check_mode=True,
    )
    daemon = Containerd(module)
    try:
        result = configure(module, daemon)
        versions = daemon.versions() if module.params["running"] else {}
        other = daemon_config.other_versions({"containerd": module.params["engine"], "runc": module.params["runc"]}, versions)
        if other and module.params["running"] and not module.check_mode:
            raise RefusedError(
                f"{'; '.join(other)}: an older daemon still runs, or another program comes first on the PATH (systemctl status containerd.service)"
            )
    except RefusedError as reason:
        module.fail_json(msg=str(reason))
    module.exit_json(**result, versions=versions)


if __name__ == "__main__":
    main()
