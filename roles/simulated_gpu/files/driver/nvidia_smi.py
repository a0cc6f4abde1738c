"""A stand-in for nvidia-smi: table, -L, -q, -q -x, --query-gpu, -mig, --gpu-reset and mig, from what NVML says.

Texts and exit codes: nvidia-smi's manual page, the MIG user guide and outputs in public reports. Simpler than the real thing: no topo,
nvlink or dmon; no processes; a MIG device has no line of its own in the table; a GPU instance always has one compute instance, of its size;
a placement is the highest that is free. In use is a GPU whose device node a process of this node has open.
"""

import datetime
import json
import os
import subprocess
import sys
from pathlib import Path
from xml.sax.saxutils import escape

sys.path.insert(0, "/usr/share/nvidia-ml")
import nvml

NO_LIBRARY = """NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. \
Please make sure that the NVIDIA Display Driver is properly installed and present in your system.
Please also try adding directory that contains libnvidia-ml.so to your system PATH."""
NO_DRIVER = """NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. \
Make sure that the latest NVIDIA driver is installed and running.
"""
UNKNOWN_ERROR = "[Unknown Error]"
DRIVER_NOT_LOADED, LIBRARY_MISMATCH, INVALID_ARGUMENT, NO_DEVICES = 9, 18, 2, 6


class SmiError(Exception):
    """A message for stdout and an exit code."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def initialised():
    """NVML, or nvidia-smi's own words why not."""
    try:
        return nvml.Nvml()
    except OSError as error:
        raise SmiError(12, NO_LIBRARY) from error
    except nvml.NvmlError as error:
        if error.code == DRIVER_NOT_LOADED:
            raise SmiError(9, NO_DRIVER) from error
        version = f"\nNVML library version: {'.'.join(nvml.library_version().split('.')[:2])}" if error.code == LIBRARY_MISMATCH else ""
        raise SmiError(error.code if error.code < 255 else 255, f"Failed to initialize NVML: {error}{version}") from error


def devices_of(library):
    """All GPUs; one that cannot be asked ends the program, as a lost one does."""
    found = []
    for index in range(library.count):
        try:
            found.append(library.device(index))
        except nvml.NvmlError as error:
            raise SmiError(255, f"Unable to determine the device handle for GPU{error.device.address.upper()}: {error}") from error
    if not found:
        raise SmiError(NO_DEVICES, "No devices were found")
    return found


def bus_id(device):
    """NVML's form of a PCI address: eight digits of domain, capitals."""
    return f"0000{device.address}".upper()


def mebibytes(device):
    return int(device.field("Memory Bytes", "0")) >> 20


def used(device):
    return int(device.field("Memory Used MiB", "0"))


def fabric_state(device):
    state = device.field("Fabric")
    return "N/A" if state == "Not Needed" else state


def fabric_status(device):
    return {"Completed": "Success"}.get(fabric_state(device), "N/A")


# -- lists and queries --------------------------------------------------------------------------------------------


def listing(devices):
    """`nvidia-smi -L`."""
    for index, device in enumerate(devices):
        yield f"GPU {index}: {device.name} (UUID: {device.uuid})"
        for number, one in enumerate(device.slices()):
            yield f"  MIG {one.profile:<15} Device {number:>2}: (UUID: {one.uuid})"


def spaced(unit):
    return lambda text: text if text == UNKNOWN_ERROR else f"{text} {unit}"


def fact(key, form=str):
    """A query that is one fact of the GPU."""
    return lambda library, index, device: form(device.field(key)) if device.field(key) != "N/A" else "[N/A]"


QUERIES = {
    "timestamp": lambda library, index, device: f"{datetime.datetime.now():%Y/%m/%d %H:%M:%S.000}",
    "driver_version": lambda library, index, device: library.driver_version,
    "count": lambda library, index, device: str(library.count),
    "index": lambda library, index, device: str(index),
    "name": lambda library, index, device: device.name,
    "uuid": lambda library, index, device: device.uuid,
    "serial": lambda library, index, device: "[N/A]",
    "pci.bus_id": lambda library, index, device: bus_id(device),
    "vbios_version": fact("Video BIOS"),
    "compute_cap": fact("Compute Capability"),
    "compute_mode": lambda library, index, device: "Default",
    "persistence_mode": fact("Persistence Mode"),
    "memory.total": lambda library, index, device: f"{mebibytes(device)} MiB",
    "memory.used": lambda library, index, device: f"{used(device)} MiB",
    "memory.free": lambda library, index, device: f"{mebibytes(device) - used(device)} MiB",
    "utilization.gpu": lambda library, index, device: "0 %",
    "utilization.memory": lambda library, index, device: "0 %",
    "temperature.gpu": fact("Temperature"),
    "power.draw": fact("Power Draw", spaced("W")),
    "power.limit": fact("Power Limit", spaced("W")),
    "enforced.power.limit": fact("Power Limit", spaced("W")),
    "ecc.mode.current": fact("ECC Mode"),
    "ecc.mode.pending": fact("ECC Mode"),
    "ecc.errors.corrected.volatile.total": fact("ECC Corrected Volatile"),
    "ecc.errors.uncorrected.volatile.total": fact("ECC Uncorrected Volatile"),
    "remapped_rows.uncorrectable": fact("Remapped Uncorrectable"),
    "remapped_rows.pending": fact("Remapped Pending"),
    "remapped_rows.failure": fact("Remapped Failure"),
    "pcie.link.gen.current": fact("Link Generation"),
    "pcie.link.gen.max": fact("Link Generation"),
    "pcie.link.width.current": fact("Link Width"),
    "pcie.link.width.max": fact("Link Width"),
    "mig.mode.current": fact("MIG Mode"),
    "mig.mode.pending": lambda library, index, device: pending_of(device) if pending_of(device) != "N/A" else "[N/A]",
    "fabric.state": lambda library, index, device: fabric_state(device),
    "fabric.status": lambda library, index, device: fabric_status(device),
}
ALIASES = {"gpu_name": "name", "gpu_uuid": "uuid", "gpu_bus_id": "pci.bus_id", "gpu_serial": "serial"}
UNITS = {"memory": "MiB", "power": "W", "enforced": "W", "utilization": "%"}


def query(library, devices, fields, options):
    """`--query-gpu=… --format=csv[,noheader][,nounits]`."""
    for name in fields:
        if ALIASES.get(name, name) not in QUERIES:
            raise SmiError(INVALID_ARGUMENT, f'Field "{name}" is not a valid field to query.\n')
    if "noheader" not in options:
        yield ", ".join(heading(name) for name in fields)
    for index, device in enumerate(devices):
        values = [QUERIES[ALIASES.get(name, name)](library, index, device) for name in fields]
        yield ", ".join(without_unit(value) if "nounits" in options else value for value in values)


def heading(name):
    unit = UNITS.get(name.split(".")[0])
    return f"{name} [{unit}]" if unit else name


def without_unit(value):
    number, _, unit = value.partition(" ")
    return number if unit in UNITS.values() else value


# -- MIG ----------------------------------------------------------------------------------------------------------


def pending_of(device):
    return device.field("MIG Pending", device.field("MIG Mode"))


def framed(title, headings, rows):
    """A table of `nvidia-smi mig`."""
    width = max(len(line) for line in (title, *headings, *rows)) + 1
    yield f"+{'-' * (width + 1)}+"
    yield from (f"| {line:<{width}}|" for line in (title, *headings))
    yield f"|{'=' * (width + 1)}|"
    for row in rows:
        yield f"| {row:<{width}}|"
        yield f"+{'-' * (width + 1)}+"


def in_mig_mode(devices):
    """The GPUs with MIG mode, as (index, device); the tool's words where there is none."""
    chosen = [(index, device) for index, device in devices if device.field("MIG Mode") == "Enabled"]
    if not chosen:
        raise SmiError(NO_DEVICES, "No MIG-enabled devices found.")
    return chosen


def instances(devices):
    """`nvidia-smi mig -lgi`."""
    known = {one["name"]: one["id"] for _index, device in devices for one in profiles_of(device)}
    rows = [
        f"{index:>3}  MIG {one['profile']:<15} {known.get(one['profile'], 0):>4} {one['gpu_instance']:>8} {one['start']:>8}:{one['size']}"
        for index, device in in_mig_mode(devices)
        for one in made(device)
    ]
    if not rows:
        raise SmiError(NO_DEVICES, "No GPU instances found: Not Found")
    return framed("GPU instances:", ("GPU   Name             Profile  Instance  Placement", "                           ID       ID      Start:Size"), rows)


def profiles_of(device):
    """The GPU instance profiles of a GPU."""
    for word in device.field("MIG Profiles", "None").split():
        if word != "None":
            name, number, most, size, memory, starts = word.split("/")
            free = [int(start) for start in starts.split(",")]
            yield {"name": name, "id": int(number), "most": int(most), "size": int(size), "memory": int(memory), "starts": free}


def offered(devices):
    """`nvidia-smi mig -lgip`."""
    rows = [
        f"{index:>3}  MIG {one['name']:<14} {one['id']:>3} {left(device, one):>6}/{one['most']} {one['memory'] / 1024:>11.2f}"
        for index, device in in_mig_mode(devices)
        for one in profiles_of(device)
    ]
    return framed("GPU instance profiles:", ("GPU   Name            ID    Instances   Memory", "                            Free/Total   GiB"), rows)


def made(device):
    """The instances of a GPU as the driver keeps them: also those whose capability nodes this process cannot open."""
    kept = Path("/run/goldnode-lab/instances.json")
    return json.loads(kept.read_text()).get(str(device.minor), []) if kept.exists() else []


def places(one, taken):
    """Where an instance of a profile still fits among (start, size)."""
    return [start for start in one["starts"] if all(start + one["size"] <= other or other + size <= start for other, size in taken)]


def left(device, one):
    """How many more of a profile fit."""
    taken = [(other["start"], other["size"]) for other in made(device)]
    same = sum(other["profile"] == one["name"] for other in made(device))
    count = 0
    while same + count < one["most"] and places(one, taken):
        taken.append((places(one, taken)[-1], one["size"]))
        count += 1
    return count


def with_instance(present, one):
    """The instances and one more of a profile, at the highest place that is free; None where none is."""
    free = places(one, [(other["start"], other["size"]) for other in present])
    if not free or sum(other["profile"] == one["name"] for other in present) >= one["most"]:
        return None
    used = {other["gpu_instance"] for other in present}
    number = next(number for number in range(15) if number not in used and (number or one["size"] == 8))
    new = {"gpu_instance": number, "compute_instance": 0, "profile": one["name"], "memory_mib": one["memory"], "start": free[-1], "size": one["size"]}
    return [*present, new]


def tell_driver(device, present, mode=None, pending=None):
    """Hands the driver what it should keep of a GPU."""
    if os.geteuid() != 0:
        raise SmiError(4, "Insufficient Permissions")
    told = {"minor": device.minor, "mode": mode or device.field("MIG Mode"), "pending": pending or pending_of(device), "instances": present}
    subprocess.run(["/usr/sbin/goldnode-lab-load", "--mig", json.dumps(told)], check=True)


def in_use(device):
    """Whether a process has the GPU's node open."""
    node = f"/dev/nvidia{device.minor}"
    return any(target(path) == node for path in Path("/proc").glob("[0-9]*/fd/*"))


def target(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


def create(devices, names):
    """`nvidia-smi mig -cgi a,b -C`: profiles by name or id; what was made before one that does not fit stays."""
    for index, device in in_mig_mode(devices):
        known = {word: one for one in profiles_of(device) for word in (one["name"], str(one["id"]))}
        for name in names:
            present = with_instance(made(device), known[name]) if name in known else None
            if present is None:
                reason = "Insufficient Resources" if name in known else "Invalid Argument"
                raise SmiError(6, f"Unable to create a GPU instance on GPU {index:>2} using profile {name}: {reason}\nFailed to create GPU instances: {reason}")
            tell_driver(device, present)
            number, profile = present[-1]["gpu_instance"], f"MIG {present[-1]['profile']}"
            yield f"Successfully created GPU instance ID {number:>2} on GPU {index:>2} using profile {profile} (ID {known[name]['id']:>2})"
            yield f"Successfully created compute instance ID  0 on GPU {index:>2} GPU instance ID {number:>2} using profile {profile}"


def destroy(devices, what):
    """`nvidia-smi mig -dci` and `-dgi`; the first only says so, since here both go together."""
    for index, device in in_mig_mode(devices):
        present = made(device)
        if not present:
            raise SmiError(NO_DEVICES, f"No {what} instances found: Not Found")
        if in_use(device):
            raise SmiError(19, f"Unable to destroy {what} instance ID {present[0]['gpu_instance']:>2} from GPU {index:>2}: In use by another client")
        if what == "GPU":
            tell_driver(device, [])
        yield from (f"Successfully destroyed {what} instance ID {one['gpu_instance']:>2} from GPU {index:>2}" for one in present)


def switch(devices, mode):
    """`nvidia-smi -mig 0|1`: Ampere takes it by a reset that the driver tries at once, Hopper and later at once."""
    for _index, device in devices:
        if device.field("MIG Mode") == "N/A":
            raise SmiError(3, f"Unable to {'enable' if mode == 'Enabled' else 'disable'} MIG Mode for GPU {bus_id(device)}: Not Supported")
        if device.field("MIG Needs Reset") == "Yes" and in_use(device) and device.field("MIG Mode") != mode:
            tell_driver(device, made(device), pending=mode)
            verb = mode.lower().removesuffix("d")
            yield f"Warning: MIG mode is in pending {verb} state for GPU {bus_id(device)}:In use by another client"
        else:
            tell_driver(device, made(device) if mode == device.field("MIG Mode") else [], mode=mode, pending=mode)
            yield f"{mode} MIG Mode for GPU {bus_id(device)}"
    yield "All done."


def reset(devices):
    """`nvidia-smi --gpu-reset`."""
    for _index, device in devices:
        if in_use(device):
            raise SmiError(19, f"GPU {bus_id(device)} is currently in use by one or more other processes. Please first kill all processes using this GPU.")
        tell_driver(device, [], mode=pending_of(device), pending=pending_of(device))
        yield f"GPU {bus_id(device)} was successfully reset."
    yield "All done."


def mig_lines(words, devices):
    """What the MIG commands print; the GPUs are already chosen."""
    words = [word for word in words if word != "mig"]
    if "-cgi" in words and {"-C", "--default-compute-instance"} & set(words):
        return create(devices, words[words.index("-cgi") + 1].split(","))
    calls = {"-lgi": (instances,), "-lgip": (offered,), "-dci": (destroy, "compute"), "-dgi": (destroy, "GPU")}
    call = next((calls[word] for word in words if word in calls), None)
    if call is None:
        raise SmiError(INVALID_ARGUMENT, "Invalid combination of input arguments. Please run 'nvidia-smi mig -h' for help.")
    return call[0](devices, *call[1:])


# -- the table ----------------------------------------------------------------------------------------------------


def table(library, devices):
    """What plain `nvidia-smi` prints."""
    rule = "+-----------------------------------------+------------------------+----------------------+"
    version = library.driver_version
    yield f"{datetime.datetime.now():%a %b %e %H:%M:%S %Y}       "
    yield "+-----------------------------------------------------------------------------------------+"
    yield f"| NVIDIA-SMI {version:<22} Driver Version: {version:<14} CUDA Version: {library.cuda_version:<8} |"
    yield rule
    yield "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |"
    yield "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |"
    yield "|                                         |                        |               MIG M. |"
    yield "|=========================================+========================+======================|"
    for index, device in enumerate(devices):
        yield from table_rows(index, device)
        yield rule
    yield ""
    yield "+-----------------------------------------------------------------------------------------+"
    yield "| Processes:                                                                              |"
    yield "|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |"
    yield "|        ID   ID                                                               Usage      |"
    yield "|=========================================================================================|"
    yield "|  No running processes found                                                             |"
    yield "+-----------------------------------------------------------------------------------------+"


def shown(value, unit):
    """A whole number with its unit; the table's word for a reading that the GPU refuses."""
    return {"N/A": "N/A", UNKNOWN_ERROR: "ERR!"}.get(value) or f"{float(value):.0f}{unit}"


def table_rows(index, device):
    persistence = "On" if device.field("Persistence Mode") == "Enabled" else "Off"
    errors = device.field("ECC Uncorrected Volatile") if device.field("ECC Mode") == "Enabled" else "Off"
    draw, limit = (shown(device.field(key, "0"), "W") for key in ("Power Draw", "Power Limit"))
    memory = f"{used(device)}MiB / {mebibytes(device):>6}MiB"
    yield f"| {index:>3}  {device.name:<28.28} {persistence:>4}  | {bus_id(device):>18} Off | {errors:>20} |"
    yield f"| N/A  {shown(device.field('Temperature'), 'C'):>4}    P0  {draw:>12} / {limit:>5}   | {memory:>22} | {'0%':>7} {'Default':>12} |"
    yield f"| {'':39} | {'':22} | {device.field('MIG Mode'):>20} |"


# -- the log ------------------------------------------------------------------------------------------------------


def log_of(device):
    """One GPU as (text key, XML tag, value or list of the same)."""
    total, busy = mebibytes(device), used(device)
    return [
        ("Product Name", "product_name", device.name),
        ("Product Architecture", "product_architecture", device.field("Architecture")),
        ("Persistence Mode", "persistence_mode", device.field("Persistence Mode")),
        ("MIG Mode", "mig_mode", [("Current", "current_mig", device.field("MIG Mode")), ("Pending", "pending_mig", pending_of(device))]),
        ("MIG Devices", "mig_devices", [mig_of(number, one) for number, one in enumerate(device.slices())] or "None"),
        ("GPU UUID", "uuid", device.uuid),
        ("Minor Number", "minor_number", str(device.minor)),
        ("VBIOS Version", "vbios_version", device.field("Video BIOS")),
        ("GSP Firmware Version", "gsp_firmware_version", device.field("GPU Firmware")),
        ("PCI", "pci", pci_of(device)),
        ("FB Memory Usage", "fb_memory_usage", [("Total", "total", f"{total} MiB"), ("Used", "used", f"{busy} MiB"), ("Free", "free", f"{total - busy} MiB")]),
        ("Compute Mode", "compute_mode", "Default"),
        ("ECC Mode", "ecc_mode", [("Current", "current_ecc", device.field("ECC Mode")), ("Pending", "pending_ecc", device.field("ECC Mode"))]),
        ("ECC Errors", "ecc_errors", [("Volatile", "volatile", errors_of(device))]),
        ("Remapped Rows", "remapped_rows", remapped_of(device)),
        ("Temperature", "temperature", [("GPU Current Temp", "gpu_temp", f"{device.field('Temperature')} C")]),
        ("GPU Power Readings", "gpu_power_readings", power_of(device)),
        ("Fabric", "fabric", [("State", "state", fabric_state(device)), ("Status", "status", fabric_status(device))]),
        ("Processes", "processes", "None"),
    ]


def mig_of(number, one):
    values = [
        ("Index", "index", str(number)),
        ("GPU Instance ID", "gpu_instance_id", str(one.gpu_instance)),
        ("Compute Instance ID", "compute_instance_id", str(one.compute_instance)),
        ("FB Memory Usage", "fb_memory_usage", [("Total", "total", f"{one.memory >> 20} MiB")]),
    ]
    return ("MIG Device", "mig_device", values)


def pci_of(device):
    generation = [("Max", "max_link_gen", device.field("Link Generation")), ("Current", "current_link_gen", device.field("Link Generation"))]
    width = [("Max", "max_link_width", f"{device.field('Link Width')}x"), ("Current", "current_link_width", f"{device.field('Link Width')}x")]
    return [
        ("Bus", "pci_bus", f"0x{device.address[5:7].upper()}"),
        ("Device", "pci_device", f"0x{device.address[8:10].upper()}"),
        ("Domain", "pci_domain", f"0x{device.address[:4]}"),
        ("Bus Id", "pci_bus_id", bus_id(device)),
        ("GPU Link Info", "pci_gpu_link_info", [("PCIe Generation", "pcie_gen", generation), ("Link Width", "link_widths", width)]),
    ]


def errors_of(device):
    return [
        ("SRAM Correctable", "sram_correctable", device.field("ECC Corrected Volatile")),
        ("SRAM Uncorrectable", "sram_uncorrectable", device.field("ECC Uncorrected Volatile")),
        ("DRAM Correctable", "dram_correctable", "0"),
        ("DRAM Uncorrectable", "dram_uncorrectable", "0"),
    ]


def remapped_of(device):
    return [
        ("Correctable Error", "remapped_row_corr", "0"),
        ("Uncorrectable Error", "remapped_row_unc", device.field("Remapped Uncorrectable")),
        ("Pending", "remapped_row_pending", device.field("Remapped Pending")),
        ("Remapping Failure Occurred", "remapped_row_failure", device.field("Remapped Failure")),
    ]


def power_of(device):
    return [
        ("Power Draw", "instant_power_draw", f"{device.field('Power Draw')} W"),
        ("Current Power Limit", "current_power_limit", f"{device.field('Power Limit')} W"),
    ]


def as_text(items, depth):
    for key, _, value in items:
        if isinstance(value, list):
            yield f"{'    ' * depth}{key}"
            yield from as_text(value, depth + 1)
        else:
            yield f"{'    ' * depth}{key:<{42 - 4 * depth}}: {value}"


def as_xml(items, depth):
    for _, tag, value in items:
        if isinstance(value, list):
            yield f"{chr(9) * depth}<{tag}>"
            yield from as_xml(value, depth + 1)
            yield f"{chr(9) * depth}</{tag}>"
        else:
            yield f"{chr(9) * depth}<{tag}>{escape(value)}</{tag}>"


def head_of(library, devices):
    return [
        ("Timestamp", "timestamp", f"{datetime.datetime.now():%a %b %e %H:%M:%S %Y}"),
        ("Driver Version", "driver_version", library.driver_version),
        ("CUDA Version", "cuda_version", library.cuda_version),
        ("Attached GPUs", "attached_gpus", str(len(devices))),
    ]


def text_log(library, devices):
    """`nvidia-smi -q`."""
    yield "\n==============NVSMI LOG==============\n"
    for key, _, value in head_of(library, devices):
        yield f"{key:<42}: {value}" + ("\n" if key == "CUDA Version" else "")
    for device in devices:
        yield f"GPU {bus_id(device)}"
        yield from as_text(log_of(device), 1)
        yield ""


def xml_log(library, devices):
    """`nvidia-smi -q -x`."""
    yield '<?xml version="1.0" ?>'
    yield '<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">'
    yield "<nvidia_smi_log>"
    yield from as_xml(head_of(library, devices), 1)
    for device in devices:
        yield f'\t<gpu id="{bus_id(device)}">'
        yield from as_xml(log_of(device), 2)
        yield "\t</gpu>"
    yield "</nvidia_smi_log>"


# -- the way in ---------------------------------------------------------------------------------------------------


def lines_of(words):
    """What the given command line prints."""
    asked = next((word.split("=", 1)[1].split(",") for word in words if word.startswith("--query-gpu=")), None)
    options = next((word.split("=", 1)[1].split(",") for word in words if word.startswith("--format=")), [])
    known = {"-L", "--list-gpus", "-q", "--query", "-x", "--xml-format", "mig", "-lgi", "-lgip", "-cgi", "-C", "-dci", "-dgi", "-mig", "-i", "--gpu-reset"}
    values = [words[at + 1] for at, word in enumerate(words[:-1]) if word in ("-cgi", "-mig", "-i")]
    wrong = [word for word in words if word not in known and word not in values and not word.startswith(("--query-gpu=", "--format="))]
    if wrong:
        raise SmiError(INVALID_ARGUMENT, f"Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n\nUnknown: {wrong[0]}")
    library = initialised()
    devices = devices_of(library)
    chosen = [(index, device) for index, device in enumerate(devices) if "-i" not in words or words[words.index("-i") + 1] == str(index)]
    if asked:
        return query(library, devices, asked, options)
    if {"-L", "--list-gpus"} & set(words):
        return listing(devices)
    if "mig" in words:
        return mig_lines(words, chosen)
    if "-mig" in words:
        return switch(chosen, "Enabled" if words[words.index("-mig") + 1] == "1" else "Disabled")
    if "--gpu-reset" in words:
        return reset(chosen)
    if {"-q", "--query"} & set(words):
        return (xml_log if {"-x", "--xml-format"} & set(words) else text_log)(library, devices)
    return table(library, devices)


def main():
    try:
        for line in lines_of(sys.argv[1:]):
            print(line)
    except SmiError as failure:
        print(failure)
        sys.exit(failure.code)


if __name__ == "__main__":
    main()
