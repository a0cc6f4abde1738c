# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The one file that touches a node: reads its state into an evidence bundle and judges nothing (docs/evidence.md).

Alone: `ssh node python3 - < plugins/module_utils/probe.py > node.evidence.json`. Standard library, Python 3.6 and later.
"""

import argparse
import base64
import contextlib
import hashlib
import json
import os
import re
import resource
import stat
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple

Form = Dict[str, Any]

VERSION = "1"
LIMIT_BYTES = 1 << 19  # of one output; the rest is cut and marked
LIMIT_S = 15.0
CUDA_LIMIT_S = 60.0
CANARY_LABEL = "goldnode.canary"
MANIFEST = "/etc/goldnode/manifest.json"
CONFIGURATION_RECORD = "/etc/goldnode/configuration.json"
INSTALLED_CUDA_PROBE = "/usr/lib/goldnode/cuda_probe.py"
# plugin_utils.payload replaces this line with the packed source, so that a piped probe needs nothing on the node.
CUDA_PROBE_SOURCE = None

# An odd locale or time zone must not change a text that parsers read; sbin is not on every user's path.
ENVIRONMENT = dict(os.environ, LC_ALL="C", TZ="UTC", PATH=os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/local/sbin:/usr/sbin:/sbin")

REDACTED = "\u00abredacted\u00bb"
TELLING_NAME = r"[\w.-]{0,64}(?:pass(?:word|wd|phrase)?|pwd|secret(?:[_-]?key)?|token|(?:api|access|private)[_-]?key|credentials?|(?:\b|_)auth(?!ors?\b))\w*"
# After the name: libpam-passwd:amd64 is a package.
SEPARATOR = r"[ \t]{0,64}[=:](?!(?:all|amd64|any|arm64|i386)(?:\s|$))"
# Up to the last @ of the word, since a password may hold @ and /; what follows a digest's @ is no host.
UP_TO_HOST = r"[^\s\"]{0,1024}@(?!sha\d+:)"
SECRETS = (
    # what needs no name to be known as a secret: tokens of forges, registries, clouds and model hubs, JSON web tokens
    (
        re.compile(
            r"(?<![\w-])(?:gh[oprsu]_\w{16,}|github_pat_\w{20,}|glpat-[\w-]{16,}|dckr_pat_[\w-]{16,}|hf_\w{16,}|nvapi-[\w-]{16,}|xox[abprs]-[\w-]{10,}"
            r"|A[KS]IA[A-Z0-9]{16}|sk-(?:proj|ant)-[\w-]{16,}|npm_\w{20,}|AIza[\w-]{30,}|ya29\.[\w.-]{10,}|glrt-[\w-]{16,}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*)"
        ),
        REDACTED,
    ),
    # Kubernetes: an environment variable's name and value, a kubeconfig's key, a registry's credentials
    (
        re.compile(
            r"(?i)(\bname[\"']?\s*:\s*[\"']?" + TELLING_NAME + r"[\"']?\s*,?\s*[\"']?value[\"']?\s*:\s*)"
            r"([\"']?)(?:(?<=[\"'])[^\"'\n]+|[^\s\"',}]+)\2"
        ),
        r"\1\2" + REDACTED + r"\2",
    ),
    (re.compile(r"(?i)((?:client-key-data|dockerconfigjson|dockercfg)\\*[\"']?\s*:\s*\\*[\"']?)[\w+/=-]{8,}"), r"\1" + REDACTED),
    # user:password@, token@ in a URL, as JSON writes its slashes too
    (re.compile(r"(:\\*/\\*/)(?:[^\s/@:\"]{0,256}:" + UP_TO_HOST + r"|(?:[^\s/@\"]{0,1024}@)+)"), r"\1" + REDACTED + "@"),
    # user:password@host without a scheme; crashkernel=auto:256M@16M is none
    (re.compile(r"(?<![\w.+%-])(?!mailto:)[\w.+%-]{1,64}:(?!\\*/)" + UP_TO_HOST + r"(?=[A-Za-z\[]|\d+\.\d+\.\d)"), REDACTED + "@"),
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\Z)", re.S), REDACTED),
    (re.compile(r"(?i)(\bbearer\s+|authorization\\*[\"']?\s*[:=]\s*\\*[\"']?\w+\s+)[\w+/=.~-]{8,}"), r"\1" + REDACTED),
    # "name": "value", also cut short; the same in a JSON text within a JSON text; "name": 12345678
    (re.compile(r"(?im)([\"']" + TELLING_NAME + r"[\"']\s*:\s*)([\"'])(?:\\.|(?!\2).)+(?:\2|$)"), r"\1\2" + REDACTED + r"\2"),
    # in which a run of backslashes is taken in one way only: two ways for each would be two to the power of their number
    (
        re.compile(r"(?im)((?<!\\)\\+[\"']" + TELLING_NAME + r"\\+[\"']\s*:\s*)(\\+[\"'])(?:(?!\2)(?:\\+[^\\\n]|[^\\\n]))+(?:\2|\\*$)"),
        r"\1\2" + REDACTED + r"\2",
    ),
    (re.compile(r"(?i)((?<!\\)\\*[\"'])(" + TELLING_NAME + r")\1(\s*:\s*)(?!(?:true|false|null)\b)[^\s\"'\\,{}\[\]]+"), r"\1\2\1\3\1" + REDACTED + r"\1"),
    # name: all the line, unless it is quoted
    (re.compile(r"(?im)^((?:export[ \t]+|[ \t-]*)" + TELLING_NAME + SEPARATOR + r"[ \t]{0,64})(?![\s\"'{\[]*$|[\s\"']).+$"), r"\1" + REDACTED),
    # name=value, name: value, --name value
    (
        re.compile(
            r"(?im)((?<!\w)" + TELLING_NAME + SEPARATOR + r"\s{0,64}|--" + TELLING_NAME + r"\s{1,64})(?![\s\"'{\[]*$)"
            r"(?:(\\*[\"'])(?:(?!\2)(?:\\.|[^\\\n]))*(?:\2|$)|(?:\\.|[^\s\"'\\])(?:\\.|[^\s\"\\])*)"
        ),
        r"\1\2" + REDACTED + r"\2",
    ),
)


def redact(value: Any) -> Any:
    """The value with every secret in its texts cut out, whatever its shape."""
    if isinstance(value, str):
        for pattern, replacement in SECRETS:
            value = pattern.sub(replacement, value)
        return value
    if isinstance(value, dict):
        return {key: redact(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [redact(item) for item in value]
    return value


def decode(data: bytes) -> Tuple[str, bool]:
    """Bytes cut to the limit, as text, and whether something was left out."""
    return data[:LIMIT_BYTES].decode("utf-8", "replace"), len(data) > LIMIT_BYTES


def limit_output() -> None:
    """In the child: no output file grows far beyond what is kept, so that a runaway tool cannot fill the disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT_BYTES * 8, LIMIT_BYTES * 8))


def execute(argv: Sequence[str], limit_s: float, stdin: bytes = b"", prepare: Optional[Callable[[], None]] = limit_output) -> Form:
    """Run one program: its output form, or `{error}` when it cannot start or is killed at its limit; `prepare` runs in the child."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        start = time.time()
        child = subprocess.Popen(argv, stdin=given, stdout=out, stderr=err, env=ENVIRONMENT, start_new_session=True, preexec_fn=prepare)
        try:
            child.wait(limit_s)
        except subprocess.TimeoutExpired:
            kill_group(child)
            return {"error": "killed after %g s: %s" % (limit_s, " ".join(argv)[:200])}
        out.seek(0)
        err.seek(0)
        stdout, cut_out = decode(out.read(LIMIT_BYTES + 1))
        stderr, cut_err = decode(err.read(LIMIT_BYTES + 1))
    cut = cut_out or cut_err
    return {"stdout": stdout, "stderr": stderr, "rc": child.returncode, "seconds": round(time.time() - start, 3), "complete": not cut, "truncated": cut}


def kill_group(child: "subprocess.Popen[bytes]") -> None:
    """SIGKILL to the child's session; a process in uninterruptible sleep (a hung driver) is not waited for."""
    os.killpg(child.pid, 9)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(2)


class Node:
    """Where to look: the roots, which a lab or a captured tree moves, the running kernel, the nonce, and the CUDA probe's source."""

    def __init__(self, options: argparse.Namespace, cuda_probe_source: Optional[str]) -> None:
        self.procfs, self.sysfs, self.kernel_log = options.procfs, options.sysfs, options.kernel_log
        self.nonce, self.cuda_probe_source = options.nonce, cuda_probe_source
        self.kernel = (read_text(self.path("{procfs}/sys/kernel/osrelease")) or "").strip()

    def path(self, template: str) -> str:
        """A path below the roots."""
        return template.format(procfs=self.procfs, sysfs=self.sysfs)

    def matching(self, patterns: Iterable[str]) -> List[Path]:
        """The paths that match, sorted."""
        return sorted(path for pattern in patterns for path in Path("/").glob(self.path(pattern).lstrip("/")))

    def roots(self) -> Form:
        """Where was looked, for the judge: a root that is not the kernel's own caps the rung."""
        return {"procfs": self.procfs, "sysfs": self.sysfs, "kernel_log": self.kernel_log}


Collector = Callable[[Node], Form]


def opened(path: Any) -> Any:
    """A regular file for reading; a pipe or a device, which may never answer, is refused."""
    stream = os.fdopen(os.open(str(path), os.O_RDONLY | os.O_NONBLOCK), "rb")
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise OSError("%s is not a regular file" % path)
    return stream


def read_text(path: Any) -> Optional[str]:
    """A small file's text, or None."""
    try:
        with opened(path) as stream:
            return decode(stream.read(LIMIT_BYTES))[0]
    except OSError:
        return None


def read_form(path: str) -> Form:
    """A file's form: content and when it was last changed."""
    try:
        with opened(path) as stream:
            text, cut = decode(stream.read(LIMIT_BYTES + 1))
            return {"content": text, "complete": not cut, "truncated": cut, "mtime": os.fstat(stream.fileno()).st_mtime}
    except (FileNotFoundError, NotADirectoryError):
        return {"absent": True}


def file(template: str) -> Collector:
    return lambda node: read_form(node.path(template))


def files(*patterns: str) -> Collector:
    """Every file that matches: path -> text; absent when none does."""

    def collect(node: Node) -> Form:
        return {str(path): read_text(path) or "" for path in node.matching(patterns) if path.is_file()} or {"absent": True}

    return collect


def command(*argv: str, limit_s: float = LIMIT_S) -> Collector:
    """A program; `absent` when it is not installed."""

    def collect(node: Node) -> Form:
        try:
            return execute([item.replace("{kernel}", node.kernel) for item in argv], limit_s)
        except FileNotFoundError:
            return {"absent": True}

    return collect


def tail(path: str) -> Collector:
    """The end of a log that grows."""
    return command("tail", "-c", str(LIMIT_BYTES // 4), path)


def configuration(node: Node) -> Form:
    """Path -> digest that provisioning recorded (else the image's manifest), and digest now. Files that came into a recorded `….d` folder count too."""
    record = json.loads(read_text(CONFIGURATION_RECORD) or "{}").get("files") or json.loads(read_text(MANIFEST) or "{}").get("configuration") or {}
    folders = {path.parent for path in map(Path, record) if path.parent.name.endswith(".d")}
    came = {str(path): "absent" for folder in folders if folder.is_dir() for path in folder.iterdir() if path.is_file() and not path.is_symlink()}
    return {path: "%s %s" % (then, digest_of(path)) for path, then in sorted({**came, **record}.items())} or {"absent": True}


def digest_of(path: str) -> str:
    try:
        with opened(path) as stream:
            return "sha256:" + hashlib.sha256(stream.read()).hexdigest()
    except OSError:
        return "absent"


def listing(*patterns: str) -> Collector:
    """`ls -ln` of what matches the patterns; absent when nothing does."""

    def collect(node: Node) -> Form:
        paths = node.matching(patterns)
        return command("ls", "-lnd", *map(str, paths))(node) if paths else {"absent": True}

    return collect


def service(name: str) -> Collector:
    return command("systemctl", "show", "-p", "LoadState,ActiveState,SubState,Result,UnitFileState,ActiveEnterTimestamp", name)


def pci_devices(node: Node) -> Form:
    """All PCI devices out of sysfs in the form of `lspci -Dnnk` without names: pciutils need not be installed and a moved sysfs is honoured."""
    lines = []
    for device in node.matching(["{sysfs}/bus/pci/devices/*"]):
        kind, vendor, model = ((read_text(device / name) or "").strip().replace("0x", "") for name in ("class", "vendor", "device"))
        lines.append("%s [%s]: [%s:%s]" % (device.name, kind[:4], vendor, model))
        driver = device / "driver"
        if driver.is_symlink():
            lines.append("\tKernel driver in use: " + driver.resolve().name)
    return {"content": "\n".join(lines) + "\n", "complete": Path(node.path("{sysfs}/bus/pci/devices")).is_dir(), "truncated": False}


def kernel_log(node: Node) -> Form:
    """The kernel's log since boot; complete only if its first lines are those of the boot."""
    form = read_form(node.kernel_log) if node.kernel_log else command("dmesg")(node)
    text = form.get("content") or form.get("stdout") or ""
    form["complete"] = bool(form.get("complete")) and "Linux version" in text[:4000]
    return form


def cuda_probe(node: Node) -> Form:
    """The CUDA probe on the host, by this same Python."""
    if not node.cuda_probe_source:
        return {"error": "no CUDA probe came with this probe and there is none at " + INSTALLED_CUDA_PROBE}
    # No limit on files: it holds for a memfd too, which the driver's library may make large. The CUDA probe prints one line.
    return execute([sys.executable, "-", "--nonce", node.nonce or "00"], CUDA_LIMIT_S, node.cuda_probe_source.encode("utf-8"), prepare=None)


QUERY = "index,name,uuid,pci.bus_id,driver_version,memory.total,persistence_mode,mig.mode.current"
SMI_LIMIT_S = 40.0  # without persistence each call initialises every GPU: seconds on an eight-way node
ALL = "hardware kernel driver device_nodes engine container_toolkit policy container cuda orchestrator"

# name, the layers whose rules read it, how it is collected
PROBES: Tuple[Tuple[str, str, Collector], ...] = (
    ("os_release", ALL, file("/etc/os-release")),
    ("kernel_release", ALL, file("{procfs}/sys/kernel/osrelease")),
    ("uname_m", ALL, command("uname", "-m")),
    ("kernel_cmdline", "kernel policy", file("{procfs}/cmdline")),
    ("uptime", ALL, file("{procfs}/uptime")),
    ("goldnode_manifest", ALL, file(MANIFEST)),
    ("configuration", "engine container_toolkit", configuration),
    ("lspci_nnk", "hardware kernel driver device_nodes", pci_devices),
    ("dmesg", "hardware kernel driver policy", kernel_log),
    ("lsmod", "kernel driver device_nodes", file("{procfs}/modules")),
    ("modinfo_nvidia", "kernel driver", command("modinfo", "-k", "{kernel}", "nvidia")),
    ("modprobe_d", "kernel driver policy", files("/etc/modprobe.d/*.conf", "/run/modprobe.d/*.conf", "/usr/lib/modprobe.d/*.conf")),
    ("dkms_status", "kernel driver", command("dkms", "status")),
    ("dkms_build_log", "kernel", files("/var/lib/dkms/nvidia*/*/build/make.log")),
    ("mokutil_sb_state", "kernel", command("mokutil", "--sb-state")),
    (
        "dpkg_l",
        "kernel driver engine container_toolkit",
        command("dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${Package} ${Version} ${Architecture}\\n"),
    ),
    ("apt_history", "kernel driver engine container_toolkit", tail("/var/log/apt/history.log")),
    ("rpm_qa", "kernel driver engine container_toolkit", command("rpm", "-qa")),
    ("boot_kernels", "kernel", listing("/boot/vmlinuz-*")),
    ("linux_headers", "kernel", listing("/lib/modules/*/build")),
    ("default_boot_kernel", "kernel", file("/boot/grub/grub.cfg")),
    ("grubenv", "kernel", file("/boot/grub/grubenv")),
    ("reboot_required", "kernel", file("/var/run/reboot-required")),
    ("proc_driver_nvidia_version", "driver device_nodes container_toolkit", file("{procfs}/driver/nvidia/version")),
    ("proc_driver_nvidia_params", "driver policy", file("{procfs}/driver/nvidia/params")),
    ("proc_driver_nvidia_gpus", "hardware driver device_nodes", files("{procfs}/driver/nvidia/gpus/*/information")),
    (
        "proc_driver_nvidia_capabilities",
        "driver device_nodes",
        files("{procfs}/driver/nvidia/capabilities/gpu*/mig/gi*/access", "{procfs}/driver/nvidia/capabilities/gpu*/mig/gi*/ci*/access"),
    ),
    ("nvidia_smi", "hardware driver engine container_toolkit cuda", command("nvidia-smi", limit_s=SMI_LIMIT_S)),
    ("nvidia_smi_list", "hardware driver device_nodes container_toolkit container cuda orchestrator", command("nvidia-smi", "-L", limit_s=SMI_LIMIT_S)),
    ("nvidia_smi_query", "hardware driver", command("nvidia-smi", "--query-gpu=" + QUERY, "--format=csv", limit_s=SMI_LIMIT_S)),
    ("nvidia_smi_q", "hardware driver", command("nvidia-smi", "-q", limit_s=SMI_LIMIT_S)),
    (
        "ls_driver_libs",
        "driver",
        listing("/usr/lib*/libcuda.so.*.*", "/usr/lib*/libnvidia-ml.so.*.*", "/usr/lib/*/libcuda.so.*.*", "/usr/lib/*/libnvidia-ml.so.*.*"),
    ),
    (
        "journal",
        "driver policy",
        command("journalctl", "-b", "--no-pager", "-n", "200", "-t", "nv-fabricmanager", "-t", "nvidia-gridd", "-t", "nvidia-vgpu-mgr"),
    ),
    ("l4t_version", "container cuda", file("/etc/nv_tegra_release")),
    ("fabricmanager_service", "driver", service("nvidia-fabricmanager")),
    ("persistenced_service", "driver", service("nvidia-persistenced")),
    ("imex_service", "driver", service("nvidia-imex")),
    ("cuda_probe", "hardware driver container cuda", cuda_probe),
    ("ls_dev_nvidia", "driver device_nodes container_toolkit policy container", listing("/dev/nvidia[0-9]*", "/dev/nvidiactl", "/dev/nvidia-*")),
    ("ls_dev_nvidia_caps", "driver device_nodes", listing("/dev/nvidia-caps/*")),
    ("proc_devices", "driver device_nodes container_toolkit policy", file("{procfs}/devices")),
    ("nvidia_ctk_version", "engine container_toolkit policy", command("nvidia-ctk", "--version")),
    ("toolkit_config", "container_toolkit policy orchestrator", file("/etc/nvidia-container-runtime/config.toml")),
    ("cdi_specs", "container_toolkit", files("/etc/cdi/*.json", "/etc/cdi/*.yaml", "/var/run/cdi/*.json", "/var/run/cdi/*.yaml")),
    ("cdi_refresh_service", "container_toolkit", service("nvidia-cdi-refresh")),
    ("docker_version", "engine container_toolkit container cuda", command("docker", "version", "--format", "{{json .}}")),
    ("docker_info", "engine container_toolkit policy container orchestrator", command("docker", "info", "--format", "{{json .}}")),
    ("docker_daemon_json", "engine container_toolkit policy orchestrator", file("/etc/docker/daemon.json")),
    ("docker_service", "engine", service("docker")),
    ("docker_context", "engine", command("docker", "context", "show")),
    ("snap_list", "engine", command("snap", "list", "docker")),
    ("podman_version", "engine container_toolkit", command("podman", "--version")),
    ("containerd_version", "engine container_toolkit", command("containerd", "--version")),
    ("containerd_config", "engine orchestrator", file("/etc/containerd/config.toml")),
    ("runc_version", "engine", command("runc", "--version")),
    ("cgroup_fstype", "policy", command("stat", "-f", "-c", "%T", "/sys/fs/cgroup")),
    ("getenforce", "policy", command("getenforce")),
    ("getsebool", "policy", command("getsebool", "container_use_devices")),
    ("aa_status", "policy", command("aa-status")),
    ("audit_avc", "policy", command("ausearch", "-m", "avc", "-ts", "boot", "--raw")),
)


def look(collect: Callable[..., Any], *arguments: Any) -> Any:
    """One probe's value; what goes wrong is told in it and stops nothing else."""
    try:
        return redact(collect(*arguments))
    except Exception as error:
        return {"error": redact("%s: %s" % (type(error).__name__, error))}


def remove_leftovers(engines: Iterable[str]) -> None:
    """Remove containers that an earlier, killed turn left behind."""
    for engine in engines:
        listed = execute([engine, "ps", "-aq", "--filter", "label=" + CANARY_LABEL], LIMIT_S).get("stdout", "").split()
        if listed:
            execute([engine, "rm", "-f", *listed], LIMIT_S)


def do_run(declared: Form) -> Form:
    """Start one declared GPU container run and kill its container at the limit."""
    argv = declared["argv"]
    started = time.time()
    result = look(execute, argv, declared.get("limit_s", 30))
    if "error" in result:
        look(execute, [argv[0], "rm", "-f", declared["name"]], LIMIT_S)
    told = {key: value for key, value in declared.items() if key not in ("argv", "limit_s")}
    found: Form = redact(dict(told, command=" ".join(argv), started_at=utc(started), **result))
    return found


def do_runs(declared: Sequence[Form]) -> List[Form]:
    """All declared runs, in their order."""
    if not declared:
        return []
    look(remove_leftovers, sorted({run["argv"][0] for run in declared}))
    return [do_run(run) for run in declared]


def utc(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def collect(options: argparse.Namespace, cuda_probe_source: Optional[str]) -> Form:
    """The evidence bundle of this node; only the probes that the rules of `options.layers` read."""
    node = Node(options, cuda_probe_source)
    wanted = set(options.layers or ALL.split())
    return {
        "schema": "goldnode.evidence/v1",
        "probe_version": VERSION,
        "clock": utc(time.time()),
        "boot_id": (read_text("/proc/sys/kernel/random/boot_id") or "").strip() or None,
        "nonce": options.nonce,
        "release": (read_text("/etc/goldnode/release") or "").strip() or None,
        "roots": node.roots(),
        "probes": {name: look(how, node) for name, readers, how in PROBES if wanted.intersection(readers.split())},
        "runs": do_runs(options.runs),
    }


def own_cuda_probe() -> Optional[str]:
    """The CUDA probe's source: packed into this file, or from the image."""
    if CUDA_PROBE_SOURCE is not None:
        return zlib.decompress(base64.b64decode(CUDA_PROBE_SOURCE)).decode("utf-8")
    return read_text(INSTALLED_CUDA_PROBE)


def layers_of(text: str) -> List[str]:
    """The layers of `--layers`."""
    layers = text.split(",")
    unknown = sorted(set(layers) - set(ALL.split()))
    if unknown:
        raise argparse.ArgumentTypeError("no layer %s; there are %s" % (", ".join(unknown), ALL.replace(" ", ", ")))
    return layers


def runs_of(text: str) -> List[Form]:
    """The declared runs of `--runs` (docs/architecture.md)."""
    runs = json.loads(text)
    if not isinstance(runs, list) or not all(isinstance(run, dict) and run.get("argv") and run.get("name") for run in runs):
        raise argparse.ArgumentTypeError("expected a JSON list of runs, each with argv and name")
    return runs


def options_of(arguments: Optional[Sequence[str]] = None) -> argparse.Namespace:
    """The command line, by default this process's own."""
    parser = argparse.ArgumentParser(description="Print this node's evidence bundle as JSON.")
    parser.add_argument("--layers", type=layers_of, help="only what these layers need, comma separated")
    parser.add_argument("--nonce", help="hexadecimal, from the controller; the CUDA kernel's result depends on it")
    parser.add_argument("--procfs", default="/proc")
    parser.add_argument("--sysfs", default="/sys")
    parser.add_argument("--kernel-log", help="a file in place of dmesg")
    parser.add_argument("--runs", type=runs_of, default=[], help="JSON list of GPU container runs to start")
    return parser.parse_args(arguments)


def main() -> int:
    json.dump(collect(options_of(), own_cuda_probe()), sys.stdout)
    sys.stdout.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
