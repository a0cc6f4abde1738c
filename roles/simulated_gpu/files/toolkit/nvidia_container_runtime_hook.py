"""A stand-in for the prestart hook that dockerd adds for `--gpus`: reads what was asked for, calls nvidia-container-cli."""

import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, "/usr/share/libnvidia-container")
import injection
import toolkit

CDI_REFUSED = (
    "invoking the NVIDIA Container Runtime Hook directly (e.g. specifying the docker --gpus flag) is not supported. "
    "Please use the NVIDIA Container Runtime (e.g. specify the --runtime=nvidia flag) instead."
)


def mode():
    """config.toml's mode; `auto` means the legacy one here, where nothing else can be meant."""
    chosen = toolkit.setting("nvidia-container-runtime", "mode", otherwise="auto")
    print("Auto-detected mode as 'legacy'" if chosen == "auto" else f"Using requested mode '{chosen}'", file=sys.stderr)
    return chosen


def capabilities(environment):
    """NVIDIA_DRIVER_CAPABILITIES as options of nvidia-container-cli; what the stand-in driver has no files for is left out."""
    given = environment.get("NVIDIA_DRIVER_CAPABILITIES", "") or "utility,compute"
    names = toolkit.CAPABILITIES if given == "all" else given.split(",")
    return [f"--{name}" for name in toolkit.CAPABILITIES if name in names]


def prestart():
    state = json.load(sys.stdin)
    config = json.loads(Path(state["bundle"], "config.json").read_text())
    devices = injection.requested(config)
    if not devices or devices == ["none"]:
        return 0
    if mode() == "cdi":
        print(CDI_REFUSED, file=sys.stderr)
        return 1
    ldconfig = toolkit.setting("nvidia-container-cli", "ldconfig", otherwise="@/sbin/ldconfig")
    no_cgroups = ["--no-cgroups"] if toolkit.setting("nvidia-container-cli", "no-cgroups", otherwise=False) else []
    options = [f"--ldconfig={ldconfig}", *no_cgroups, f"--device={','.join(devices)}", *capabilities(injection.environment(config)), f"--pid={state['pid']}"]
    argv = ["nvidia-container-cli", "--load-kmods", "configure", *options, injection.root_of(config, state["bundle"])]
    return subprocess.run(argv, env={**os.environ, "OCI_BUNDLE": state["bundle"]}, check=False).returncode


if __name__ == "__main__":
    # poststart and poststop have nothing to do, as in the real one.
    sys.exit(prestart() if sys.argv[1:] == ["prestart"] else 0)
