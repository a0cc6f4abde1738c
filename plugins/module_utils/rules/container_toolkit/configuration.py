# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Container toolkit: /etc/nvidia-container-runtime/config.toml, by what it does to containers."""

from __future__ import annotations

from ansible_collections.goldnode.gpu.plugins.module_utils.model import CONTAINER_TOOLKIT
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers import toml
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.facts import Facts
from ansible_collections.goldnode.gpu.plugins.module_utils.parsers.wanted import Wanted
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.container_toolkit.packages import NONE_HERE, without_toolkit
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.quotes import quote
from ansible_collections.goldnode.gpu.plugins.module_utils.rules.registry import Outcome, failed, not_applicable, passed, rule, unknown

FILE = "/etc/nvidia-container-runtime/config.toml"
# libnvidia-container nvc_ldcache.c: the configured ldconfig is not there, cannot be executed, or ended with an error.
LDCACHE = (
    r"ldcache error: (?P<open>open failed: (?P<path>/\S+?): no such file)|could not start (?P<start>/?\S+): (?P<why>[^\n]+)"
    r"|ldcache error: (?P<failed>process (?P<program>/\S+) (?:failed|terminated)[^\n:]*)|(?P<unsafe>running in secure mode without host ldconfig)"
)
# cmd/nvidia-container-runtime-hook: the mode in config.toml forbids what Docker's --gpus does.
NO_HOOK = r"invoking the NVIDIA Container Runtime Hook directly"
CSV = r"(?:Using requested|Auto-detected) mode (?:as )?'csv'"
UNREADABLE = r"(?:error|failed|unable)[^\n]{0,40}(?:load|read|open|pars)[^\n]{0,60}(?:config\.toml|TOML)[^\n]*|Near line \d+ \(last key parsed[^\n]*"
NO_RUNC = r"no runtime binary found from candidate list[^\n]*"
NO_ENVIRONMENT = r"insufficient privileges to read device list from NVIDIA_VISIBLE_DEVICES"
NO_DRIVER_LIBRARY = r"load library failed: (?P<what>libnvidia-ml\.so\S*|libcuda\.so\S*?):? cannot open"
HOW = "nvidia-ctk config default prints a file to begin from; what is changed holds for the next container, no daemon is restarted."


@rule(
    "container_toolkit.config_is_readable",
    layer=CONTAINER_TOOLKIT,
    probes=("toolkit_config",),
    symptom="Every GPU container fails: 'unable to load config', 'error parsing TOML', 'Near line 12 (last key parsed …): bare keys cannot contain …'.",
    cause=f"{FILE} is no valid TOML, or holds a value that the toolkit does not take.",
    fix=f"Correct the line that is named in {FILE}; {HOW}",
    verify="nvidia-ctk config prints the file without an error.",
    source="NVIDIA/nvidia-container-toolkit api/config/v1/toml.go",
)
def config_is_readable(facts: Facts, wanted: Wanted) -> Outcome:
    """config.toml can be read"""
    if without_toolkit(facts, wanted):
        return not_applicable(NONE_HERE)
    said = facts.engine_said(UNREADABLE)
    line = toml.faulty_line(facts.bundle.text("toolkit_config") or "") if facts.bundle.complete("toolkit_config") else None
    if said or line:
        words = quote(said) if said else f"the line `{line}` is no TOML"
        return failed("a file that the toolkit reads", words, cause=f"The container toolkit cannot read its configuration {FILE}: {words}.")
    return passed(FILE) if facts.toolkit_settings is not None else unknown()


@rule(
    "container_toolkit.ldconfig_runs",
    layer=CONTAINER_TOOLKIT,
    probes=("toolkit_config", "nvidia_container_cli_log"),
    symptom=(
        "'ldcache error: open failed: /sbin/ldconfig.real', 'process /sbin/ldconfig failed with error code', or the container starts and finds no "
        "libnvidia-ml.so or "
        "libcuda.so until ldconfig is run inside."
    ),
    cause=f"The hook cannot run the ldconfig that {FILE} names, so that the container's ld.so.cache lacks the driver's libraries.",
    fix=(
        f'Set nvidia-container-cli.ldconfig in {FILE} to the host\'s program: "@/sbin/ldconfig" (Debian, RHEL, SUSE, Arch), "@/sbin/ldconfig.real" '
        "(Ubuntu, where "
        '/sbin/ldconfig is a script); without @ ("/sbin/ldconfig") the one in the container is run; then upgrade libnvidia-container.'
    ),
    verify="ldconfig -p in a GPU container lists libcuda.so.1.",
    source="NVIDIA/nvidia-docker #587, #914, #1163, #1616; NVIDIA/libnvidia-container #177",
)
def ldconfig_runs(facts: Facts, wanted: Wanted) -> Outcome:
    """The hook can run ldconfig for the container"""
    if without_toolkit(facts, wanted):
        return not_applicable(NONE_HERE)
    configured = facts.toolkit_setting("nvidia-container-cli", "ldconfig")
    said = facts.engine_said(LDCACHE)
    if said:
        return _ldconfig_fails(quote(said), said[1].groupdict(), configured)
    wrong = _not_of_this_distribution(facts, str(configured or ""))
    if wrong:
        return failed("this distribution's ldconfig", str(configured), cause=wrong)
    return passed(str(configured or "the default")) if facts.toolkit_settings is not None else unknown()


def _ldconfig_fails(line: str, said: dict[str, str | None], configured: object) -> Outcome:
    path = said["path"] or said["start"] or said["program"] or "ldconfig"
    if said["open"]:
        why = f"{path} is not on this host"
    elif said["start"]:
        why = f"the host's {path} could not be started ({said['why']})"
    else:
        why = f"{path} ended with an error"
    setting = f'ldconfig = "{configured}"' if configured else "the ldconfig setting"
    return failed(
        "ldconfig runs for the container",
        line,
        cause=f"The hook could not update the container's ld.so.cache: {why}, as {setting} in config.toml has it; the injected driver libraries are not found.",
    )


def _not_of_this_distribution(facts: Facts, configured: str) -> str | None:
    """ldconfig.real exists on Ubuntu and what derives from it alone."""
    system = facts.os or {}
    family = f"{system.get('ID', '')} {system.get('ID_LIKE', '')}".split()
    if not family or not configured.endswith("/ldconfig.real") or "ubuntu" in family or "debian" in family:
        return None
    return (
        f"ldconfig = \"{configured}\" in config.toml is Ubuntu's path; this host is {system.get('ID')}, which has /sbin/ldconfig: the container's "
        "ld.so.cache is not updated."
    )


@rule(
    "container_toolkit.mode_serves_request",
    layer=CONTAINER_TOOLKIT,
    probes=("toolkit_config", "nvidia_ctk_version"),
    symptom=(
        "'invoking the NVIDIA Container Runtime Hook directly (e.g. specifying the docker --gpus flag) is not supported', or mode csv on a host "
        "that is no Jetson."
    ),
    cause=f"nvidia-container-runtime.mode in {FILE} does not serve what is asked for: mode cdi refuses docker --gpus, mode csv is for Tegra alone.",
    fix=(
        "nvidia-ctk config --in-place --set nvidia-container-runtime.mode=auto; or ask as mode cdi wants it: docker run --runtime=nvidia -e "
        "NVIDIA_VISIBLE_DEVICES=all, "
        "or --device nvidia.com/gpu=all"
    ),
    verify="The same command starts, and the hook's log says which mode was taken.",
    source="NVIDIA/nvidia-container-toolkit cmd/nvidia-container-runtime-hook; dstackai/dstack #2306",
)
def mode_serves_request(facts: Facts, wanted: Wanted) -> Outcome:
    """The runtime's mode serves what is asked for"""
    if without_toolkit(facts, wanted):
        return not_applicable(NONE_HERE)
    mode, refused = facts.toolkit_setting("nvidia-container-runtime", "mode"), facts.engine_said(NO_HOOK)
    if refused:
        cause = (
            f'The toolkit\'s configured mode is "{mode or "cdi"}" (nvidia-container-runtime.mode in config.toml), in which its hook refuses docker run --gpus.'
        )
        return failed("a mode that serves --gpus", quote(refused), cause=cause)
    architecture = (facts.bundle.text("uname_m") or "").strip()
    if architecture == "x86_64" and (mode == "csv" or facts.engine_said(CSV)):
        cause = (
            "nvidia-container-runtime runs in mode csv, which injects what the CSV files of a Jetson (Tegra) list; this host is x86_64, so nothing is injected."
        )
        return failed("mode auto", "mode csv on x86_64", cause=cause)
    return passed(f"mode {mode or 'auto'}") if facts.toolkit_settings is not None else unknown()


@rule(
    "container_toolkit.driver_root",
    layer=CONTAINER_TOOLKIT,
    probes=("toolkit_config",),
    symptom=(
        "'nvidia-container-cli.real: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file', on a host "
        "whose nvidia-smi works."
    ),
    cause=(
        "The toolkit looks for the driver below a root that holds none: /run/nvidia/driver of the GPU operator while the driver is on the host, "
        "or not there yet."
    ),
    fix=(
        "Driver on the host: install the operator with driver.enabled=false (the toolkit's root is / then), or unset nvidia-container-cli.root in "
        "config.toml. Driver by the "
        "operator: wait for or repair the driver daemonset (kubectl -n gpu-operator get pods), and let the toolkit pod start anew after it."
    ),
    verify="chroot <root> nvidia-smi -L works, or ls <root>/usr/lib*/libnvidia-ml.so.1 exists.",
    source="NVIDIA/gpu-operator #511, #531",
)
def driver_root(facts: Facts, wanted: Wanted) -> Outcome:
    """The toolkit looks for the driver where it is"""
    if without_toolkit(facts, wanted):
        return not_applicable(NONE_HERE)
    root, said = facts.toolkit_setting("nvidia-container-cli", "root"), facts.engine_said(NO_DRIVER_LIBRARY)
    by_operator = facts.engine_said(r"nvidia-container-cli\.real|/usr/local/nvidia/toolkit/")
    if said and (by_operator or root not in (None, "", "/")):
        where = root or "/run/nvidia/driver"
        empty = " (an empty directory)" if "driver" in str(facts.bundle.stated.get("ls_run_nvidia", "")) else ""
        cause = (
            f"The container toolkit looks for {said[1]['what']} below the driver root {where}{empty}, where the GPU operator's driver container "
            "would put it, and no driver is "
            "there: the driver is installed on the host, or the driver daemonset has not come up."
        )
        return failed("a driver below the toolkit's root", quote(said), cause=cause)
    return passed(str(root or "/")) if facts.toolkit_settings is not None else unknown()


@rule(
    "container_toolkit.low_level_runtime",
    layer=CONTAINER_TOOLKIT,
    probes=("toolkit_config",),
    symptom="'error locating runtime: no runtime binary found from candidate list [runc crun]'.",
    cause="nvidia-container-runtime finds none of the low-level runtimes of its list on its PATH.",
    fix=f'List the engine\'s own runtime with its full path in {FILE}: nvidia-container-runtime.runtimes = ["/usr/bin/runc", "crun"]; or install runc.',
    verify="The program that is listed exists: ls -l /usr/bin/runc; and the container starts.",
    source="NVIDIA/nvidia-container-toolkit internal/oci/runtime_low_level.go; NVIDIA/nvidia-docker #1668",
)
def low_level_runtime(facts: Facts, wanted: Wanted) -> Outcome:
    """NVIDIA's runtime finds runc or crun"""
    if without_toolkit(facts, wanted):
        return not_applicable(NONE_HERE)
    said, listed = facts.engine_said(NO_RUNC), facts.toolkit_setting("nvidia-container-runtime", "runtimes")
    if said:
        cause = f"nvidia-container-runtime finds no low-level runtime (runc, crun) on its PATH: {quote(said)}."
        return failed("runc or crun on the PATH", quote(said), cause=cause)
    return passed(", ".join(listed or ["runc", "crun"])) if facts.toolkit_settings is not None else unknown()


@rule(
    "container_toolkit.environment_accepted",
    layer=CONTAINER_TOOLKIT,
    probes=("toolkit_config",),
    symptom="'insufficient privileges to read device list from NVIDIA_VISIBLE_DEVICES envvar' in containers that are not privileged.",
    cause="accept-nvidia-visible-devices-envvar-when-unprivileged is false: only privileged containers may ask by environment variable.",
    fix=(
        "Ask by --gpus, by CDI (--device nvidia.com/gpu=all) or by the device plugin with DEVICE_LIST_STRATEGY=volume-mounts; or set the option "
        "in config.toml to true."
    ),
    verify="The same container starts without --privileged.",
    source="NVIDIA/nvidia-container-toolkit cmd/nvidia-container-runtime-hook/container_config.go",
)
def environment_accepted(facts: Facts, wanted: Wanted) -> Outcome:
    """Containers may ask for GPUs in the way that they do"""
    if without_toolkit(facts, wanted):
        return not_applicable(NONE_HERE)
    said = facts.engine_said(NO_ENVIRONMENT)
    return failed("the variable is accepted", quote(said)) if said else passed() if facts.toolkit_settings is not None else unknown()
