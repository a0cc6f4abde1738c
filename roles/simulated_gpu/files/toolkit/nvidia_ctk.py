"""A stand-in for nvidia-ctk: runtime configure (Docker, containerd by drop-in), cdi generate, cdi list, config."""

import argparse
import json
import os
import re
import sys
from pathlib import Path

import tomllib

sys.path.insert(0, "/usr/share/libnvidia-container")
import toolkit


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    new.write_text(text)
    new.replace(path)


def daemon_json(text, arguments):
    """The daemon's configuration with the runtime in it. `features` is replaced, not merged, as the real one does (1.20.0)."""
    try:
        content = json.loads(text or "{}")
    except json.JSONDecodeError as error:
        character = text[error.pos : error.pos + 1]
        raise toolkit.ToolkitError(f"unable to load config for runtime docker: invalid character '{character}' {error.msg}") from error
    content.setdefault("runtimes", {})["nvidia"] = {"args": [], "path": "nvidia-container-runtime"}
    if arguments.set_as_default:
        content["default-runtime"] = "nvidia"
    if arguments.cdi_enabled:
        content["features"] = {"cdi": True}
    return json.dumps(content, indent=4, sort_keys=True)


def containerd_drop_in(text):
    """The root's CRI plugin with the runtime in it, of the root's version and with the settings of its runc, as the real one has it.

    The whole plugin: containerd 1 replaces a plugin's settings by those of the last file (NVIDIA/nvidia-container-toolkit pull 1311).
    """
    root = tomllib.loads(text)
    version = root.get("version", 2)
    name = {2: "io.containerd.grpc.v1.cri", 3: "io.containerd.cri.v1.runtime"}.get(version)
    if name is None:
        raise toolkit.ToolkitError(f"unable to load config for runtime containerd: unsupported config version: {version}")
    plugin = root.get("plugins", {}).get(name, {})
    runtimes = plugin.setdefault("containerd", {}).setdefault("runtimes", {})
    runc = runtimes.get("runc", {})
    runtimes["nvidia"] = {**runc, "options": {**runc.get("options", {}), "BinaryName": "/usr/bin/nvidia-container-runtime"}}
    return f"version = {version}\n" + "".join(f"{line}\n" for line in table(plugin, ["plugins", name]))


def table(values, path):
    """A table and those below it as TOML; every key in quotes."""
    yield "[" + ".".join(map(json.dumps, path)) + "]"
    yield from (f"{json.dumps(key)} = {json.dumps(value)}" for key, value in values.items() if not isinstance(value, dict))
    for key, value in values.items():
        if isinstance(value, dict):
            yield from table(value, [*path, key])


def configure_docker(arguments):
    path = arguments.config or Path("/etc/docker/daemon.json")
    write(path, daemon_json(path.read_text() if path.exists() else "", arguments))
    return path, path


def configure_containerd(arguments):
    path = arguments.config or Path("/etc/containerd/config.toml")
    write(arguments.drop_in_config, containerd_drop_in(path.read_text() if path.exists() else ""))
    return path, arguments.drop_in_config


def configure_runtime(arguments):
    configure = {"docker": configure_docker, "containerd": configure_containerd}.get(arguments.runtime)
    if configure is None:
        raise toolkit.ToolkitError(f"unrecognized runtime '{arguments.runtime}'")
    source, written = configure(arguments)
    toolkit.log("info", f"Loading config from {source}")
    toolkit.log("info", f"Wrote updated config to {written}")
    toolkit.log("info", f"It is recommended that {arguments.runtime} daemon be restarted.")


def generate(arguments):
    try:
        content = toolkit.specification()
    except toolkit.ToolkitError as error:
        toolkit.log("warning", "Failed to locate some driver files")
        raise toolkit.ToolkitError(f"failed to generate CDI spec: failed to create device CDI specs: {error}") from error
    text = json.dumps(content) + "\n" if arguments.format == "json" else f"---\n{toolkit.as_yaml(content)}"
    if arguments.output is None:
        sys.stdout.write(text)
        return
    write(arguments.output, text)
    arguments.output.chmod(0o644)
    toolkit.log("info", f"Generated CDI spec with version {toolkit.CDI_VERSION}")


def list_devices(_arguments):
    names = [name for specification in toolkit.specifications() for name in toolkit.names_of(specification)]
    toolkit.log("info", f"Found {len(names)} CDI devices")
    for name in names:
        print(name)


def set_value(text, assignment):
    """`section.key=value` in TOML text: replaces the line, commented out or not."""
    name, _, value = assignment.partition("=")
    section, _, key = name.rpartition(".")
    value = value if re.fullmatch(r"true|false|\d+", value) else json.dumps(value)
    head, bracket, rest = text.partition(f"[{section}]\n") if section else ("", "", text)
    body, line = re.subn(rf"^#?{re.escape(key)} = .*$", f"{key} = {value}", rest, count=1, flags=re.MULTILINE)
    if (section and not bracket) or not line:
        raise toolkit.ToolkitError(f"invalid config option '{name}'")
    return head + bracket + body


def config(arguments):
    text = arguments.config_file.read_text()
    for assignment in arguments.set or []:
        text = set_value(text, assignment)
    if arguments.in_place:
        write(arguments.config_file, text)
    else:
        sys.stdout.write(text)


def arguments_of(words):
    parser = argparse.ArgumentParser(prog="nvidia-ctk")
    parser.add_argument("--version", "-v", action="version", version=f"NVIDIA Container Toolkit CLI version {toolkit.VERSION}")
    which = parser.add_subparsers(required=True)
    one = which.add_parser("runtime").add_subparsers(required=True).add_parser("configure")
    one.add_argument("--runtime", default="docker")
    one.add_argument("--config", type=Path)
    one.add_argument("--drop-in-config", type=Path, default=Path("/etc/containerd/conf.d/99-nvidia.toml"))
    one.add_argument("--config-source", choices=["file"], default="file")
    one.add_argument("--nvidia-runtime-path")
    one.add_argument("--set-as-default", action="store_true")
    one.add_argument("--cdi.enabled", dest="cdi_enabled", action="store_true")
    one.set_defaults(run=configure_runtime)
    cdi = which.add_parser("cdi").add_subparsers(required=True)
    one = cdi.add_parser("generate")
    one.add_argument("--output", type=Path)
    one.add_argument("--format", choices=["yaml", "json"], default="yaml")
    one.set_defaults(run=generate)
    cdi.add_parser("list").set_defaults(run=list_devices)
    one = which.add_parser("config")
    one.add_argument("default", nargs="?", choices=["default"])
    one.add_argument("--config-file", type=Path, default=toolkit.CONFIG)
    one.add_argument("--set", action="append")
    one.add_argument("--in-place", "-i", action="store_true")
    one.set_defaults(run=config)
    return parser.parse_args(words)


if __name__ == "__main__":
    os.umask(0o022)
    chosen = arguments_of(sys.argv[1:])
    try:
        chosen.run(chosen)
    except (toolkit.ToolkitError, OSError) as problem:
        toolkit.log("error", str(problem))
        sys.exit(1)
