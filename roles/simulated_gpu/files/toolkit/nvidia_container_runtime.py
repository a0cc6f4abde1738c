"""A stand-in for nvidia-container-runtime: changes the container's configuration at `create`, then is runc.

Modes: `auto` makes a CDI specification at that moment (since 1.18), `cdi` takes the one on disk. Simpler than the
real thing: `legacy` and `csv` are refused, and only the first specification for GPUs on disk is taken.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, "/usr/share/libnvidia-container")
import injection
import toolkit


def option(words, *names):
    """The value of one of runc's options, as `--name value` or `--name=value`."""
    for index, word in enumerate(words):
        if word in names:
            return words[index + 1]
        if word.partition("=")[0] in names:
            return word.partition("=")[2]
    return None


def specification(mode):
    """The CDI specification that this mode uses."""
    if mode == "auto":
        try:
            return toolkit.specification()
        except toolkit.ToolkitError as error:
            raise toolkit.ToolkitError(f'failed to create the automatic CDI modifier: failed to generate CDI spec for mode "auto": {error}') from error
    if mode != "cdi":
        raise toolkit.ToolkitError(f"invalid runtime mode: {mode}")
    for found in toolkit.specifications():
        if found["kind"] == toolkit.KIND:
            return found
    raise toolkit.ToolkitError("failed to inject CDI devices: no specification found")


def report(words, text):
    """Where containerd looks for a runtime's error: the last line of its log."""
    toolkit.log("error", text)
    path = option(words, "--log")
    if path:
        with Path(path).open("a") as log:
            log.write(json.dumps({"level": "error", "msg": text, "time": toolkit.now()}) + "\n")


def change(bundle):
    path = Path(bundle, "config.json")
    config = json.loads(path.read_text())
    names = injection.requested(config)
    mode = toolkit.setting("nvidia-container-runtime", "mode", otherwise="auto")
    if not names or (mode == "auto" and names == ["none"]):
        return
    injection.apply(config, injection.edits_of(specification(mode), names))
    path.write_text(json.dumps(config))


def main(words):
    if "create" in words:
        try:
            change(option(words, "--bundle", "-b") or ".")
        except toolkit.ToolkitError as error:
            report(words, f"failed to create NVIDIA Container Runtime: {error}")
            sys.exit(1)
    if words == ["--version"]:
        print(f"NVIDIA Container Runtime version {toolkit.VERSION}", flush=True)
    os.execvp("runc", ["runc", *words])  # noqa: S606 - becoming runc is its work


if __name__ == "__main__":
    main(sys.argv[1:])
