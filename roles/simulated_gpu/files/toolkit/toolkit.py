"""What the container toolkit's programs share: finding the driver's files and devices, and CDI specifications.

Form of a specification: CDI SPEC.md and what nvidia-ctk writes. Simpler than the real thing: of the driver's files
only those that the stand-in packages have; no graphics, no IMEX, no cuda-compat, no firmware socket.
"""

import datetime
import json
import re
import sys
from pathlib import Path

import nvml
import tomllib

VERSION = "@version@"
CDI_VERSION = "@cdi@"
KIND = "nvidia.com/gpu"
SPEC_FOLDERS = ("/etc/cdi", "/var/run/cdi")
CONFIG = Path("/etc/nvidia-container-runtime/config.toml")
LIBRARY_FOLDER = "/usr/lib/x86_64-linux-gnu"
# The kernel module is the same one inside and outside of a container, and so is what it answers. Its answers are
# files here, so they go along with the driver's files.
DRIVER_ANSWERS = "/run/goldnode-lab/proc/driver/nvidia"
CONTROL_NODES = ("/dev/nvidiactl", "/dev/nvidia-modeset", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
LIBRARIES = {"compute": ["libcuda.so"], "utility": ["libnvidia-ml.so"]}
FILES = {"compute": [], "utility": ["/usr/bin/nvidia-smi", "/usr/share/nvidia-ml/nvml.py"]}
CAPABILITIES = ("compute", "utility")


class ToolkitError(Exception):
    """Why something cannot be done, in the tool's own words."""


def now():
    return f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%dT%H:%M:%SZ}"


def log(level, text):
    """One line as the toolkit logs it."""
    print(f'time="{now()}" level={level} msg={json.dumps(text)}', file=sys.stderr)


def config():
    """config.toml, or nothing where it is not there."""
    try:
        return tomllib.loads(CONFIG.read_text()) if CONFIG.exists() else {}
    except tomllib.TOMLDecodeError as error:
        raise SystemExit(f"unable to load config file {CONFIG}: {error}") from error


def setting(*keys, otherwise):
    """One value of config.toml."""
    value = config()
    for key in keys:
        value = value.get(key, {})
    return value or otherwise


# -- the driver on this node --------------------------------------------------------------------------------------


def driver():
    """An initialised NVML; ToolkitError in go-nvml's words where there is none."""
    try:
        return nvml.Nvml()
    except OSError as error:
        raise ToolkitError("failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND") from error
    except nvml.NvmlError as error:
        name = {9: "Driver Not Loaded", 18: "Driver/library version mismatch"}.get(error.code, str(error))
        raise ToolkitError(f"failed to initialize NVML: {name}") from error


def driver_files(version, capabilities=CAPABILITIES):
    """The files of the driver's user space that a container gets; only those that are there."""
    wanted = [f"{LIBRARY_FOLDER}/{library}.{version}" for name in capabilities for library in LIBRARIES[name]]
    wanted += [path for name in capabilities for path in FILES[name]]
    return [path for path in wanted if Path(path).exists()]


def capability_nodes(device, one):
    """The two nodes that open one MIG device: of its GPU instance and of its compute instance."""
    folder = f"{DRIVER_ANSWERS}/capabilities/gpu{device.minor}/mig/gi{one.gpu_instance}"
    files = [f"{folder}/access", f"{folder}/ci{one.compute_instance}/access"]
    minors = [re.search(r"DeviceFileMinor: (\d+)", Path(path).read_text())[1] for path in files]
    return [f"/dev/nvidia-caps/nvidia-cap{minor}" for minor in minors]


def device_nodes(library):
    """Name -> device nodes, by index and by UUID; MIG devices in place of a GPU that is cut into them."""
    found = {}
    for index, device in enumerate(library.devices()):
        own = [f"/dev/nvidia{device.minor}"]
        slices = device.slices()
        for number, one in enumerate(slices):
            found[f"{index}:{number}"] = found[one.uuid] = own + capability_nodes(device, one)
        if not slices:
            found[str(index)] = found[device.uuid] = own
    return found


def all_nodes(named):
    """Each node once, in order."""
    return list(dict.fromkeys(path for paths in named.values() for path in paths))


# -- CDI ----------------------------------------------------------------------------------------------------------


def hook(name, *arguments):
    return {"hookName": "createContainer", "path": "/usr/bin/nvidia-cdi-hook", "args": ["nvidia-cdi-hook", name, *arguments]}


def mount(path):
    return {"hostPath": path, "containerPath": path, "options": ["ro", "nosuid", "nodev", "rbind", "rprivate"]}


def edits_for_all(version):
    """What every container with a GPU gets, whichever GPU."""
    return {
        "env": ["NVIDIA_VISIBLE_DEVICES=void"],
        "deviceNodes": [{"path": path} for path in CONTROL_NODES if Path(path).exists()],
        "mounts": [mount(path) for path in [*driver_files(version), DRIVER_ANSWERS]],
        "hooks": [hook("update-ldcache", "--folder", LIBRARY_FOLDER)],
    }


def specification():
    """The CDI specification of this node as it is now."""
    library = driver()
    named = device_nodes(library)
    if not named:
        raise ToolkitError("failed to generate CDI spec: no NVIDIA devices found")
    named["all"] = all_nodes(named)
    return {
        "cdiVersion": CDI_VERSION,
        "kind": KIND,
        "devices": [{"name": name, "containerEdits": {"deviceNodes": [{"path": path} for path in paths]}} for name, paths in named.items()],
        "containerEdits": edits_for_all(library.driver_version),
    }


def as_yaml(value, indent=0):
    """YAML of mappings, lists and strings; every scalar in JSON's quotes where it could be read as something else."""
    pad = " " * indent
    if isinstance(value, dict):
        return "".join(f"{pad}{key}:" + as_yaml_child(item, indent + 2) for key, item in sorted(value.items()))
    return "".join(f"{pad}- {as_yaml(item, indent + 2).lstrip() if isinstance(item, (dict, list)) else scalar(item) + chr(10)}" for item in value)


def as_yaml_child(item, indent):
    return f"\n{as_yaml(item, indent)}" if isinstance(item, (dict, list)) else f" {scalar(item)}\n"


def scalar(text):
    return text if re.fullmatch(r"[A-Za-z/][\w./=-]*", text) and text.lower() not in ("true", "false", "yes", "no", "on", "off", "null") else json.dumps(text)


def specifications():
    """The CDI specifications on disk, parsed. One that this reader does not understand is left out with a warning."""
    for path in sorted(path for folder in SPEC_FOLDERS for path in Path(folder).glob("*") if path.suffix in (".yaml", ".yml", ".json")):
        try:
            yield read_specification(path)
        except (ValueError, IndexError) as error:
            log("warning", f"failed to read {path}: {error}")


def names_of(specification):
    """Its qualified device names."""
    return [f"{specification['kind']}={device['name']}" for device in specification["devices"]]


def read_specification(path):
    """A specification file: JSON, or YAML of the form that `as_yaml` writes."""
    text = Path(path).read_text()
    if text.lstrip().startswith("{"):
        return json.loads(text)
    lines = [(len(line) - len(line.lstrip()), line.strip()) for line in text.splitlines() if line.strip() not in ("", "---")]
    return read_block(lines)


def read_block(lines):
    """Lines of one indentation, with deeper ones below them, as a mapping or a list. Empties `lines` as far as it reads."""
    indent, first = lines[0]
    value = [] if first.startswith("- ") else {}
    while lines and lines[0][0] == indent and lines[0][1].startswith("- ") == isinstance(value, list):
        line = lines.pop(0)[1]
        if isinstance(value, list):
            value.append(read_item(line[2:], indent + 2, lines))
        else:
            key, _, rest = line.partition(":")
            value[key] = read_scalar(rest.strip()) if rest.strip() else read_block(lines)
    return value


def read_item(text, indent, lines):
    """One entry of a list: a scalar, or a mapping whose first key stands behind the dash."""
    if re.match(r"\w+:( |$)", text):
        lines.insert(0, (indent, text))
        return read_block(lines)
    return read_scalar(text)


def read_scalar(text):
    return json.loads(text) if text.startswith('"') else text
