"""Puts CDI edits into an OCI configuration, as the container runtime of the toolkit does before it calls runc."""

import os
import stat
from pathlib import Path

import toolkit


def environment(config):
    """The process's environment as a mapping."""
    return dict(word.split("=", 1) for word in config["process"].get("env", []) if "=" in word)


def requested(config):
    """The GPUs that NVIDIA_VISIBLE_DEVICES asks for; nothing where it is unset or void."""
    value = environment(config).get("NVIDIA_VISIBLE_DEVICES", "void")
    return [] if value in ("", "void") else [name.removeprefix(f"{toolkit.KIND}=") for name in value.split(",")]


def edits_of(specification, names):
    """All edits for some devices of a specification: those for all, then each device's own."""
    known = {device["name"]: device["containerEdits"] for device in specification["devices"]}
    missing = [f"{toolkit.KIND}={name}" for name in names if name not in known]
    if missing:
        raise toolkit.ToolkitError(f"failed to inject CDI devices: unresolvable CDI devices {', '.join(missing)}")
    return [specification["containerEdits"], *(known[name] for name in names)]


def device_of(path):
    """An OCI device and the cgroup rule that allows it."""
    node = Path(path).stat()
    numbers = {"type": "c", "major": os.major(node.st_rdev), "minor": os.minor(node.st_rdev)}
    return {"path": path, **numbers, "fileMode": stat.S_IMODE(node.st_mode), "uid": node.st_uid, "gid": node.st_gid}, {
        "allow": True,
        "access": "rwm",
        **numbers,
    }


def add_device(config, path):
    device, rule = device_of(path)
    linux = config["linux"]
    linux.setdefault("devices", [])
    if path not in [known["path"] for known in linux["devices"]]:
        linux["devices"].append(device)
        linux.setdefault("resources", {}).setdefault("devices", []).append(rule)


def add_mount(config, mount):
    options = [word for word in mount["options"] if word != "rbind"]
    config["mounts"].append({"destination": mount["containerPath"], "source": mount["hostPath"], "type": "bind", "options": ["rbind", *options]})


def add_hook(config, hook):
    config.setdefault("hooks", {}).setdefault("createContainer", []).append({"path": hook["path"], "args": hook["args"]})


def apply(config, edits):
    """Change an OCI configuration in place."""
    for each in edits:
        config["process"].setdefault("env", []).extend(each.get("env", []))
        for node in each.get("deviceNodes", []):
            add_device(config, node["path"])
        for mount in each.get("mounts", []):
            add_mount(config, mount)
        for hook in each.get("hooks", []):
            add_hook(config, hook)


def root_of(config, bundle):
    """The container's root file system as an absolute path."""
    return str(Path(bundle, config["root"]["path"]))
